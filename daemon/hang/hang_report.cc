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

std::string_view StandingName(Standing standing) {
  switch (standing) {
    case Standing::kNotBegun:
      return "not begun";
    case Standing::kRunning:
      return "running";
    case Standing::kUnclear:
      return "unclear";
    case Standing::kEnded:
      return "ended";
  }
  return "unknown";
}

}  // namespace ttfd
