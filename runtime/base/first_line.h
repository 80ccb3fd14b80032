// The first line of what users read of an error of a kernel: short enough for a terminal, details on lines behind it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ttfd {

inline constexpr size_t kFirstLineBytes = 100;

// "kernel 'NAME'", without its extension, and `rest`, printable, at most `most` bytes. What is longer loses the word
// kernel, then the end of the name but for 8 bytes, then its own end.
std::string KernelFirstLine(std::string_view name, std::string_view rest,
                            size_t most = kFirstLineBytes);

// `text`, its end left out where it has more than `most` bytes.
std::string CutText(std::string text, size_t most);

}  // namespace ttfd
