// The one loop in which the host waits for a card.
#pragma once

#include "runtime/base/backoff.h"
#include "runtime/base/status.h"
#include "runtime/device/device.h"

namespace ttfd {

// How a wait has ended.
enum class Waited {
  kDone,
  kQuiescent,  // nothing can move any more
  kLate,
};

// The time between two looks of a wait, each of which costs PCIe reads on silicon: none while a step lets the card run,
// longer and longer where the card runs by itself.
class Pacing {
 public:
  // `clock`, which sleeps, outlives this.
  Pacing(const DeviceInfo& info, Clock& clock)
      : clock_(clock), runs_by_itself_(info.runs_by_itself) {}
  void Pause() {
    if (!runs_by_itself_) return;
    const Duration pause = backoff_.Next(clock_.Now());
    if (pause > Duration::zero()) clock_.Sleep(pause);
  }

 private:
  static constexpr Duration kSpin = std::chrono::microseconds(50);
  Clock& clock_;
  const bool runs_by_itself_;
  Backoff backoff_{kSpin};
};

// Until `done`. In between `step` lets the card run for a while, where it does not by itself, and answers whether
// anything can still move. An error of any of them ends the wait.
StatusOr<Waited> WaitUntil(absl::FunctionRef<StatusOr<bool>()> done,
                           absl::FunctionRef<StatusOr<bool>()> step, absl::FunctionRef<bool()> late,
                           Tick tick, Pacing pacing);

}  // namespace ttfd
