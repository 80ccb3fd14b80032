// A drain: no new sessions or commands, until every session has ended or the time is over.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "daemon/api/admin.h"
#include "daemon/core/sessions.h"
#include "daemon/session/host_work.h"
#include "daemon/session/timers.h"
#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"

namespace ttfd {

// Thread-safe. Its lock is taken before that of the sessions.
class Drain {
 public:
  using ProgressCallback = Admin::ProgressCallback;

  // All outlive it.
  Drain(Sessions& sessions, HostWork& host_work, Clock& clock, Timers& timers)
      : sessions_(sessions),
        host_work_(host_work),
        clock_(clock),
        timer_(timers, [this](TimePoint now) { Check(now); }) {}

  // Admin::Drain and Undrain. `for_ever`: it cannot be ended any more.
  void Begin(uint32_t within_ms, ProgressCallback progress, bool for_ever) ABSL_LOCKS_EXCLUDED(mu_);
  Status End() ABSL_LOCKS_EXCLUDED(mu_);
  // The daemon stops: its sessions end at once, no new ones are opened.
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);
  bool active() const ABSL_LOCKS_EXCLUDED(mu_);

  // A session was released. Device thread.
  void SessionReleased() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // Reports progress, ends what is left when the time is over.
  void Check(TimePoint now) ABSL_LOCKS_EXCLUDED(mu_);

  struct Active {
    TimePoint deadline;
    uint64_t reported_left = ~uint64_t{0};
    std::vector<ProgressCallback> progress;  // of the calls that wait
  };

  Sessions& sessions_;
  HostWork& host_work_;
  Clock& clock_;
  Timer timer_;
  mutable Mutex mu_;
  std::unique_ptr<Active> active_ ABSL_GUARDED_BY(mu_);  // null: the daemon does not drain
  bool for_ever_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace ttfd
