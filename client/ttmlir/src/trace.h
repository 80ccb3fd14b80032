// How a program of a TTNN file captures a trace.
#pragma once

#include <vector>

#include "client/ttmlir/src/plan.h"

namespace ttfd::ttmlir {

// Finds the function that a trace records, and its arguments, from the plans of the file's programs:
//
// - A program that captures returns the number of the trace, its results, the slots of its inputs and those of its
//   results; it makes the slots, writes its inputs into them and calls the function twice, the second time to capture.
// - With a program that allocates, that one takes the inputs that are their own slots and returns the slots of inputs
//   and results. The program that captures takes the other inputs and all slots, and the function writes its results
//   into slots.
//
// An input that is its own slot is read where it is.
void ResolveTrace(const std::vector<Plan>& plans, TraceStep* trace);

}  // namespace ttfd::ttmlir
