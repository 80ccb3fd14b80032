// Runs the instructions of one hart.
#pragma once

#include <cstdint>

#include "runtime/sim/hart.h"

namespace ttfd::sim {

enum class Stop : uint8_t {
  kNone,       // goes on; only inside the interpreter
  kBudget,     // the instructions it was given are used up
  kPollPoint,  // it arrived where it has been: Observe next; the instruction at pc is not executed
  kParked,
  kHeld,      // it put itself into reset
  kNotALoop,  // Observe only: go on with Execute
  kFault,     // Machine::fault says why
  kStalled,   // its local RAM is still being cleared; the instruction at pc is not executed
  kHalted,    // an inspector stopped the chip; the instruction at pc is not executed
};

// Executes about `budget` instructions (it stops at a jump, so a straight run may exceed it) and
// moves hart.pc, hart.time and hart.retired.
Stop Execute(Hart& hart, uint64_t budget);

// Executes one trip round a suspected poll loop, at most kMaxPollLoop instructions, and parks the
// hart if that is what it is.
Stop Observe(Hart& hart);

}  // namespace ttfd::sim
