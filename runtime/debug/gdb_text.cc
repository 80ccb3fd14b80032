// The two documents.
#include "runtime/debug/gdb_text.h"

namespace ttfd::debug {
namespace {

constexpr const char* kRegisterNames[] = {"zero", "ra", "sp",  "gp",  "tp", "t0", "t1", "t2",
                                          "fp",   "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
                                          "a6",   "a7", "s2",  "s3",  "s4", "s5", "s6", "s7",
                                          "s8",   "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
static_assert(std::size(kRegisterNames) + 1 == DebugTarget::kRegisters);

const char* RegisterType(std::string_view name) {
  return name == "sp" || name == "gp" || name == "tp" || name == "fp" ? "data_ptr" : "int";
}

std::string MakeTargetXml() {
  // Without an operating system GDB lets the target step, instead of guessing where a step ends.
  std::string xml =
      "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\">"
      "<target version=\"1.0\"><architecture>riscv:rv32</architecture><osabi>none</osabi>"
      "<feature name=\"org.gnu.gdb.riscv.cpu\">";
  for (const char* const name : kRegisterNames) {
    xml += fmt::format("<reg name=\"{}\" bitsize=\"32\" type=\"{}\"/>", name, RegisterType(name));
  }
  return xml + "<reg name=\"pc\" bitsize=\"32\" type=\"code_ptr\"/></feature></target>";
}

}  // namespace

std::string_view TargetXml() {
  static const std::string kXml = MakeTargetXml();
  return kXml;
}

std::string ThreadsXml(const DebugTarget& target) {
  std::vector<Thread> threads = target.Threads();
  if (threads.empty()) threads.push_back(1);
  std::string xml = "<?xml version=\"1.0\"?><threads>";
  for (const Thread thread : threads) {
    xml += fmt::format("<thread id=\"{:x}\" name=\"{}\">{}</thread>", thread, target.NameOf(thread),
                       target.StateOf(thread));
  }
  return xml + "</threads>";
}

}  // namespace ttfd::debug
