// Turns a kernel's ELF file into the image that lies in a worker's kernel cache (abi/kernel_image.h).
//
// The file says by its absolute symbol __ttfd_hart which hart (hw::Hart) it was built for.
//
// A kernel runs from wherever a launch puts it, so the loader refuses whatever would break when the
// block moves. How to build one that is accepted: cmake/TtfdKernel.cmake.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/command/program.h"

namespace ttfd {

// Debug information makes kernels large; what is loaded of them is bounded by
// abi::kMaxKernelImageBytes.
inline constexpr uint64_t kMaxKernelElfBytes = 8 << 20;
inline constexpr uint32_t kMaxKernelElfSections = 512;

// `name` is for people: it begins every refusal. INVALID_ARGUMENT says what is wrong and, where
// there is one, names the symbol. Pure and thread-safe.
StatusOr<std::shared_ptr<const KernelImage>> LoadKernel(ByteSpan elf, const std::string& name);

}  // namespace ttfd
