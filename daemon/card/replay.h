// Decides what happens to slices that were on a card that had to be reset: decided by evidence, so that whoever was not
// touched hears nothing.
#pragma once

#include <span>
#include <string>

#include "daemon/card/hardware_queue.h"
#include "daemon/hang/hang_report.h"

namespace ttfd {

// A slice that has not completed, and what is known of it.
struct Verdict {
  SubmittedSlice* entry = nullptr;
  ExecutionState state = ExecutionState::kUnknown;
  WorkFate fate = WorkFate::kUndecided;  // decided before: it is to blame
  std::string why;
  bool suspected = false;  // its turn had come when the card stopped, and no launch is to blame
};

// Is it known that it had not?
inline bool NotEnded(ExecutionState state) {
  return state == ExecutionState::kNotStarted || state == ExecutionState::kRunning;
}

// Decides the rest. `slices` are those of all hardware queues in the order of their submission.
//
// A launch runs again only if it had not begun; what moves data runs again unless what it reads may have been changed
// since by its own session. All that the reset leaves as it was: DRAM, L1, and the order of what is replayed.
void DecideFates(std::span<Verdict> slices);

// Could both run kernels on the same worker? They then run one after the other, in the order of their submission.
bool ShareWorkers(const Slice& a, const Slice& b);

// Whether the card may place `next` while the kernels of `now` run: not if it could not be told later which of
// two sessions' kernels hung or faulted. Slice on workers of its own runs at once, whichever session it belongs to. A
// segment of a trace begins with a wait for the kernels before it: nothing of it is placed meanwhile.
bool MayOverlap(const Slice& now, const Slice& next);

}  // namespace ttfd
