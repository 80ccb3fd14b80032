// The one loop in which the host waits for a card.
#pragma once

#include "absl/functional/function_ref.h"
#include "runtime/base/status.h"

namespace ttfd {

// Called between two looks at a card that something waits for, on the thread that waits. An error ends the wait.
using Tick = absl::FunctionRef<Status()>;
inline Status NoTick() { return OkStatus(); }

// How a wait has ended.
enum class Waited {
  kDone,
  kQuiescent,  // nothing can move any more
  kLate,
};

// Until `done`. In between `step` lets the card run for a while and answers whether anything can still move; how long
// that is is its business, since every look costs PCIe reads on silicon. An error of any of them ends the wait.
StatusOr<Waited> WaitUntil(absl::FunctionRef<StatusOr<bool>()> done,
                           absl::FunctionRef<StatusOr<bool>()> step, absl::FunctionRef<bool()> late,
                           Tick tick);

}  // namespace ttfd
