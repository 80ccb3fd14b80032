// Trace events as text, one line each. The format is described in docs/simulator.md.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "runtime/sim/trace.h"

namespace ttfd::sim {

// Heading of the columns.
inline constexpr std::string_view kTraceHeading =
    "#    clock tile    who    pc       word      what it is and does\n";

class TraceText {
 public:
  TraceText();

  // Appends the event's line.
  void Append(const TraceEvent& event, fmt::memory_buffer* out);

 private:
  // Instructions disassembled before: a trace is loops.
  struct Known {
    uint32_t pc = 0;
    uint32_t word = 0;
    uint32_t length = 0;  // 0: nothing is known
    char text[36] = {};
  };
  static constexpr uint32_t kKnown = 8192;

  std::string_view Disassembly(uint32_t pc, uint32_t word);
  void AppendInstruction(const TraceInstruction& event, fmt::memory_buffer* out);

  const std::unique_ptr<std::array<Known, kKnown>> known_;
};

}  // namespace ttfd::sim
