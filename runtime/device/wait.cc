// The one loop in which the host waits for a card.
#include "runtime/device/wait.h"

namespace ttfd {

StatusOr<Waited> WaitUntil(absl::FunctionRef<StatusOr<bool>()> done,
                           absl::FunctionRef<StatusOr<bool>()> step, absl::FunctionRef<bool()> late,
                           Tick tick, Pacing pacing) {
  for (bool can_move = true;;) {
    ASSIGN_OR_RETURN(const bool is_done, done());
    if (is_done) return Waited::kDone;
    if (!can_move) return Waited::kQuiescent;
    if (late()) return Waited::kLate;
    RETURN_IF_ERROR(tick());
    ASSIGN_OR_RETURN(can_move, step());
    if (can_move) pacing.Pause();
  }
}

}  // namespace ttfd
