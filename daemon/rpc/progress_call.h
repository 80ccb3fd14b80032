// A server stream of Progress: what Drain and ResetDevice answer. Coalesced: a slow client sees the
// latest state, not every state.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <memory>

#include "daemon/api/admin.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status.h"
#include "ttfd/v1/admin.pb.h"

namespace ttfd {

class ProgressCall final : public grpc::ServerWriteReactor<v1::Progress> {
 public:
  // The call owns itself until gRPC is done with it; who reports shares it.
  static std::shared_ptr<ProgressCall> Create();

  // Any thread. The report with `done` ends the call once it is written.
  void Report(const ProgressReply& progress);
  // Any thread. Ends the call with an error, behind what is being written.
  void Refuse(const Status& status);

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  ProgressCall() = default;
  void WriteLatest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void FinishLocked(const Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  Mutex mu_;
  std::shared_ptr<ProgressCall> self_ ABSL_GUARDED_BY(mu_);
  v1::Progress latest_ ABSL_GUARDED_BY(mu_);
  v1::Progress written_ ABSL_GUARDED_BY(mu_);  // untouched while a write is under way
  Status end_ ABSL_GUARDED_BY(mu_);            // not OK: how to end when the write is done
  bool pending_ ABSL_GUARDED_BY(mu_) = false;
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace ttfd
