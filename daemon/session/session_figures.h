// Figures of a session that other threads read: the device thread publishes them at the end of a round that has changed
// them.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "daemon/api/reply.h"
#include "daemon/session/account.h"
#include "daemon/session/share.h"
#include "daemon/session/slice.h"
#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"

namespace ttfd {

// Thread-safe.
class SessionFigures {
 public:
  SessionFigures(const SessionShare& share, const SessionClient& client, TimePoint opened);

  // ---- Device thread.

  // These slices of the session have ended well. The next Publish shows it.
  void Add(std::span<const Slice> ended);
  // `change` is called with the figures locked.
  void Publish(absl::FunctionRef<void(SessionInfoReply*)> change) ABSL_LOCKS_EXCLUDED(mu_);

  // ---- Any thread.

  // `output`: the client has not taken all of it.
  SessionInfoReply Info(TimePoint now, bool output) const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  const TimePoint opened_;

  // Device thread.
  CardUse use_;
  std::vector<Duration> new_waits_;  // since the last Publish

  mutable Mutex mu_;
  SessionInfoReply info_ ABSL_GUARDED_BY(mu_);
  // Waits of commands that need the card, from their arrival until the card began with them.
  WaitHistogram waits_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ttfd
