// Where a Session keeps its core: the one it has, and after that one was lost the next.
//
// Thread-safe.
#pragma once

#include <functional>
#include <memory>

#include "client/cpp/src/mutex.h"
#include "ttfd/session.h"

namespace ttfd::client {

class SessionCore;

class SessionSlot {
 public:
  static Result<std::shared_ptr<SessionSlot>> Open(const ConnectOptions& options);

  // The present one, lost or not.
  std::shared_ptr<SessionCore> core() const ABSL_LOCKS_EXCLUDED(mu_);
  // For what begins something new: if the session was lost, a new one. A lease is not asked for again behind the
  // program's back, so a session under one stays lost.
  Result<std::shared_ptr<SessionCore>> Live() ABSL_LOCKS_EXCLUDED(mu_);

  void OnProgress(std::function<void(Position)> callback) ABSL_LOCKS_EXCLUDED(mu_);
  void OnTransfer(std::function<void(uint64_t, uint64_t)> callback) ABSL_LOCKS_EXCLUDED(mu_);
  void OnPrint(std::function<void(const KernelPrint&)> callback) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  SessionSlot(const ConnectOptions& options, std::shared_ptr<SessionCore> core);
  void GiveCallbacks() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const ConnectOptions options_;
  mutable Mutex mu_;
  std::shared_ptr<SessionCore> core_ ABSL_GUARDED_BY(mu_);
  std::function<void(Position)> on_progress_ ABSL_GUARDED_BY(mu_);
  std::function<void(uint64_t, uint64_t)> on_transfer_ ABSL_GUARDED_BY(mu_);
  std::function<void(const KernelPrint&)> on_print_ ABSL_GUARDED_BY(mu_) = WriteToStandardError;
};

}  // namespace ttfd::client
