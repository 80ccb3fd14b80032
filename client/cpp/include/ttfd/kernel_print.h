// Output of a kernel (<ttfd/print.h> of the SDK), as its client receives it.
#pragma once

#include <cstdint>
#include <string>

#include "ttfd/status.h"
#include "ttfd/types.h"

namespace ttfd::client {

// One print. Prints of one processor of a tile arrive in order.
struct KernelPrint {
  Position position;    // of the launch or replay
  uint32_t launch = 0;  // of a trace: which of its launches, from 0
  std::string kernel;   // the name it was loaded with
  Core core;
  Processor processor = Processor::kBrisc;
  std::string text;  // without the newline at its end
  // Prints of the session dropped before this one because they were not read in time.
  uint64_t lost = 0;
};

// "[vector_add (3,2) brisc] the text", a line of standard error.
void WriteToStandardError(const KernelPrint& print);

}  // namespace ttfd::client
