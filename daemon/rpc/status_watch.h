// A WatchStatus call: the status at once, then after every change, at most once per interval.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <chrono>
#include <memory>
#include <string>

#include "daemon/api/admin.h"
#include "daemon/rpc/reading_wait.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status.h"
#include "ttfd/v1/admin.pb.h"

namespace ttfd {

// gRPC calls it on its threads. A slow client delays the next sample; nothing queues up for it.
class StatusWatch final : public grpc::ServerWriteReactor<v1::DaemonStatus> {
 public:
  static constexpr uint32_t kMinMs = 100, kMaxMs = 3'600'000, kDefaultMs = 1000;

  // The call owns itself until gRPC is done with it. Ends at once with `allowed` if that is an error. `daemon` outlives
  // every call.
  static StatusWatch* Start(Admin& daemon, const Status& allowed,
                            const v1::WatchStatusRequest& request);

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  StatusWatch(Admin& daemon, uint32_t interval_ms)
      : daemon_(daemon), interval_(std::chrono::milliseconds(interval_ms)) {}
  // Once the card was read: writes the status if it has changed, else samples after the interval.
  void Sample() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SampleAfter(std::chrono::milliseconds time) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void FinishLocked(const Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  Admin& daemon_;
  const std::chrono::milliseconds interval_;
  Mutex mu_;
  std::shared_ptr<StatusWatch> self_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<grpc::Alarm> alarm_ ABSL_GUARDED_BY(mu_);
  ReadingWait reading_ ABSL_GUARDED_BY(mu_);
  v1::DaemonStatus status_ ABSL_GUARDED_BY(mu_);  // untouched while a write is under way
  std::string written_ ABSL_GUARDED_BY(mu_);      // encoded, without what changes by itself
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace ttfd
