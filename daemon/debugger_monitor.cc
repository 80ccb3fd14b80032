// Text for whoever debugs kernels.
#include "daemon/debugger_monitor.h"

#include <fmt/format.h>

#include <algorithm>

namespace ttfd {
namespace {

// A client gave the name, and a terminal shows it.
std::string Printable(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return name;
}

}  // namespace

std::string AnswerMonitor(std::string_view words, const Dispatcher& dispatcher) {
  if (words != "kernels")
    return "monitor kernels: the kernels on the workers, and where they are\n";
  std::string text;
  for (const ResidentKernel& kernel : dispatcher.Kernels()) {
    const std::string name = Printable(kernel.name);
    // Clients name it as they like, mostly as its file.
    const std::string_view ending = name.ends_with(".elf") ? "" : ".elf";
    text +=
        fmt::format("{}: {} bytes at {:#x}, workers: {}\n  add-symbol-file {}{} -o {:#x}\n", name,
                    kernel.bytes, kernel.address, kernel.workers, name, ending, kernel.address);
  }
  return text.empty() ? "no kernel was launched since the card was booted\n" : text;
}

}  // namespace ttfd
