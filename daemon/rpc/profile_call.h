// A server stream of ProfilePart: nothing while the card is profiled, then the folded stacks in parts.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <deque>
#include <memory>

#include "runtime/base/mutex.h"
#include "runtime/base/status.h"
#include "runtime/card/profile.h"
#include "ttfd/v1/admin.pb.h"

namespace ttfd {

class ProfileCall final : public grpc::ServerWriteReactor<v1::ProfilePart> {
 public:
  // The call owns itself until gRPC is done with it; who answers shares it.
  static std::shared_ptr<ProfileCall> Create();

  // Set when the client has gone.
  std::shared_ptr<const std::atomic<bool>> cancelled() const { return cancelled_; }
  // Any thread, once.
  void Answer(StatusOr<ProfileResult> result);

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  ProfileCall() = default;
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void FinishLocked(const Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::shared_ptr<std::atomic<bool>> cancelled_ = std::make_shared<std::atomic<bool>>(false);
  Mutex mu_;
  std::shared_ptr<ProfileCall> self_ ABSL_GUARDED_BY(mu_);
  std::deque<v1::ProfilePart> parts_ ABSL_GUARDED_BY(mu_);  // the front is being written
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace ttfd
