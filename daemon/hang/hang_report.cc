// Names of what a report tells.
#include "daemon/hang/hang_report.h"

namespace ttfd {

std::string_view WorkFateName(WorkFate fate) {
  switch (fate) {
    case WorkFate::kUndecided:
      return "undecided";
    case WorkFate::kEnded:
      return "ended";
    case WorkFate::kReplayed:
      return "replayed";
    case WorkFate::kBlamed:
      return "blamed";
    case WorkFate::kTouched:
      return "touched";
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
