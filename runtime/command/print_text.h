// Text that a kernel printed: the record a hart wrote (abi/print_ring.h) put together with the format string in the
// kernel's image.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/command/program.h"

namespace ttfd {

// Longest text of one print; the rest is cut off, and "..." says so.
inline constexpr uint32_t kMaxPrintTextBytes = 1024;

// `words`: a record from the address of its format string on; `address`: where in L1 the image lies. Any words
// give some text: a kernel can write what it likes into its ring. A newline at the end is dropped. Pure.
std::string PrintText(const KernelImage& image, uint32_t address, std::span<const uint32_t> words);

}  // namespace ttfd
