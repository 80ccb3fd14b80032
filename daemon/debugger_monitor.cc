// Text for debuggers of kernels.
#include "daemon/debugger_monitor.h"

#include <fmt/format.h>

#include "runtime/base/utf8.h"

namespace ttfd {

std::string AnswerMonitor(std::string_view words, const CardProbe& card) {
  if (words != "kernels")
    return "monitor kernels: the kernels on the workers, and where they are\n";
  std::string text;
  for (const ResidentKernel& kernel : card.Kernels()) {
    // A client gave the name, mostly that of its file, and a terminal shows it.
    const std::string name = Printable(kernel.name);
    const std::string_view ending = name.ends_with(".elf") ? "" : ".elf";
    text +=
        fmt::format("{}: {} bytes at {:#x}, workers: {}\n  add-symbol-file {}{} -o {:#x}\n", name,
                    kernel.bytes, kernel.address, kernel.workers, name, ending, kernel.address);
  }
  return text.empty() ? "no kernel was launched since the card was booted\n" : text;
}

}  // namespace ttfd
