// Names of what a report tells.
#include "daemon/hang/hang_report.h"

namespace ttfd {

std::string_view SliceOutcomeName(SliceOutcome outcome) {
  switch (outcome) {
    case SliceOutcome::kUndecided:
      return "undecided";
    case SliceOutcome::kCompleted:
      return "completed";
    case SliceOutcome::kRequeued:
      return "requeued";
    case SliceOutcome::kAborted:
      return "aborted";
    case SliceOutcome::kInterrupted:
      return "interrupted";
  }
  return "unknown";
}

std::string_view ExecutionStateName(ExecutionState state) {
  switch (state) {
    case ExecutionState::kNotStarted:
      return "not started";
    case ExecutionState::kRunning:
      return "running";
    case ExecutionState::kUnknown:
      return "unknown";
    case ExecutionState::kCompleted:
      return "completed";
  }
  return "unknown";
}

}  // namespace ttfd
