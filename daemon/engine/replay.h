// What becomes of the works that were on a card that had to be reset: decided by evidence, so that whoever was not
// touched hears nothing.
#pragma once

#include <span>
#include <string>

#include "daemon/engine/hardware_queue.h"
#include "daemon/hang/hang_report.h"

namespace ttfd {

// A work that has not completed, and what is known of it.
struct Verdict {
  WorkInFlight* entry = nullptr;
  ExecutionState state = ExecutionState::kUnknown;
  WorkFate fate = WorkFate::kUndecided;  // decided before: it is to blame
  std::string why;
  bool suspected = false;  // its turn had come when the card stopped, and no launch is to blame
};

// Is it known that it had not?
inline bool NotEnded(ExecutionState state) {
  return state == ExecutionState::kNotStarted || state == ExecutionState::kRunning;
}

// Decides the rest. `works` are those of all hardware queues in the order of their submission.
//
// A launch runs again only if it had not begun; what moves data runs again unless what it reads may have been changed
// since by its own session. All that the reset leaves as it was: DRAM, L1, and the order of what is replayed.
void DecideFates(std::span<Verdict> works);

// Could both run kernels on the same worker? They then run one after the other, in the order of their submission.
bool ShareWorkers(const Work& a, const Work& b);

// Whether the card may place `next` while the kernels of `now` run: not if it could not be told later which of
// two sessions' kernels hung or faulted. Work on workers of its own runs at once, whichever session it belongs to. A
// segment of a trace begins with a wait for the kernels before it: nothing of it is placed meanwhile.
bool MayOverlap(const Work& now, const Work& next);

}  // namespace ttfd
