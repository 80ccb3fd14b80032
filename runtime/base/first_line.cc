// The first line of what users read of an error of a kernel.
#include "runtime/base/first_line.h"

#include <algorithm>

#include "runtime/base/utf8.h"

namespace ttfd {

std::string CutText(std::string text, size_t most) {
  constexpr std::string_view kCut = "...";
  if (text.size() <= most) return text;
  size_t end = most - kCut.size();
  while (end != 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // UTF-8
  text.resize(end);
  return text.append(kCut);
}

std::string KernelFirstLine(std::string_view name, std::string_view rest, size_t most) {
  constexpr std::string_view kBegin = "kernel '";
  constexpr size_t kLeastName = 8;
  constexpr std::string_view kExtension = ".elf";
  if (name.ends_with(kExtension)) name.remove_suffix(kExtension.size());
  const std::string whole = Printable(name);
  const std::string end = "'" + Printable(rest);
  if (kBegin.size() + whole.size() + end.size() <= most) {
    return std::string(kBegin) + whole + end;
  }
  const size_t left = most - std::min(most, 1 + end.size());
  return CutText("'" + CutText(whole, std::max(left, kLeastName)) + end, most);
}

}  // namespace ttfd
