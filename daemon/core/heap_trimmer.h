// Returns unused heap to the system once sessions have freed a lot of it.
#pragma once

#include <functional>
#include <utility>

#include "daemon/core/sessions.h"
#include "daemon/session/host_work.h"
#include "daemon/session/timers.h"
#include "runtime/base/clock.h"

namespace ttfd {

// Thread-safe.
class HeapTrimmer {
 public:
  // All outlive it. `trim` returns what the heap does not use; called on the host thread.
  HeapTrimmer(Sessions& sessions, HostWork& host_work, Clock& clock, Timers& timers,
              std::function<void()> trim)
      : sessions_(sessions),
        host_work_(host_work),
        clock_(clock),
        trim_(std::move(trim)),
        timer_(timers, [this](TimePoint) { Trim(); }) {}

  // A session that had a lot of memory for its commands has none any more. Does not block.
  void MemoryFreed() { timer_.RunBy(clock_.Now() + kDelay); }

 private:
  static constexpr Duration kDelay = std::chrono::seconds(1);

  // While sessions have commands the heap keeps what was freed for them: to return it takes time, and so does to get
  // it again.
  void Trim() {
    if (sessions_.AnyUses(Resource::kWindowBytes)) return MemoryFreed();
    host_work_.Add(HostWork::kDaemon, trim_);
  }

  Sessions& sessions_;
  HostWork& host_work_;
  Clock& clock_;
  const std::function<void()> trim_;
  Timer timer_;
};

}  // namespace ttfd
