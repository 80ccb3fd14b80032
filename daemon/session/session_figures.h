// Figures of a session that other threads read: the device thread publishes them after every change.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

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

  // `change` is called with the figures locked.
  void Publish(absl::FunctionRef<void(SessionInfoReply*)> change) ABSL_LOCKS_EXCLUDED(mu_);
  // These slices of the session have ended well.
  void Add(std::span<const Slice> ended) ABSL_LOCKS_EXCLUDED(mu_);

  // ---- Any thread.

  // `output`: the client has not taken all of it.
  SessionInfoReply Info(TimePoint now, bool output) const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  const TimePoint opened_;
  mutable Mutex mu_;
  SessionInfoReply info_ ABSL_GUARDED_BY(mu_);
  SessionAccount account_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ttfd
