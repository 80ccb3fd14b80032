// SessionSlot: the present core of a Session, and after that one was lost the next.
//
// Thread-safe.
#pragma once

#include <functional>
#include <memory>

#include "client/cpp/src/mutex.h"
#include "client/cpp/src/session_core.h"
#include "ttfd/session.h"

namespace ttfd::client {

class SessionSlot {
 public:
  static Result<std::shared_ptr<SessionSlot>> Open(const ConnectOptions& options);

  // The present one, lost or not.
  std::shared_ptr<SessionCore> core() const ABSL_LOCKS_EXCLUDED(mu_);
  // For calls that create something: if the session was lost, a new one. A lease is not requested again
  // without the program's knowledge, so a session with one stays lost.
  Result<std::shared_ptr<SessionCore>> Live() ABSL_LOCKS_EXCLUDED(mu_);

  // Changes the callbacks, of the present core and of those that follow.
  void SetCallbacks(const std::function<void(Callbacks*)>& change) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  SessionSlot(const ConnectOptions& options, std::shared_ptr<SessionCore> core);

  const ConnectOptions options_;
  mutable Mutex mu_;
  std::shared_ptr<SessionCore> core_ ABSL_GUARDED_BY(mu_);
  Callbacks callbacks_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ttfd::client
