// A Progress stream, coalesced.
#include "daemon/rpc/progress_call.h"

#include <utility>

#include "daemon/rpc/admin_conversion.h"
#include "daemon/rpc/call_status.h"

namespace ttfd {

std::shared_ptr<ProgressCall> ProgressCall::Create() {
  std::shared_ptr<ProgressCall> call(new ProgressCall());
  MutexLock lock(&call->mu_);
  call->self_ = call;
  return call;
}

void ProgressCall::Report(const ProgressReply& progress) {
  MutexLock lock(&mu_);
  if (finished_ || latest_.done()) return;
  ToProto(progress, &latest_);
  pending_ = true;
  if (!writing_) WriteLatest();
}

void ProgressCall::Refuse(const Status& status) {
  MutexLock lock(&mu_);
  end_ = status;
  if (!writing_) FinishLocked(status);
}

void ProgressCall::WriteLatest() {
  pending_ = false;
  writing_ = true;
  written_ = latest_;
  StartWrite(&written_);
}

void ProgressCall::OnWriteDone(bool ok) {
  MutexLock lock(&mu_);
  writing_ = false;
  if (!ok || finished_) return;
  if (!end_.ok()) {
    FinishLocked(end_);
  } else if (pending_) {
    WriteLatest();
  } else if (written_.done()) {
    FinishLocked(OkStatus());
  }
}

void ProgressCall::OnCancel() {
  MutexLock lock(&mu_);
  FinishLocked(Error(StatusCode::kCancelled, "the client has gone; the operation goes on"));
}

void ProgressCall::OnDone() {
  std::shared_ptr<ProgressCall> self;  // dies after the lock
  MutexLock lock(&mu_);
  self = std::exchange(self_, nullptr);
}

void ProgressCall::FinishLocked(const Status& status) {
  if (finished_) return;
  finished_ = true;
  Finish(ToGrpc(status));
}

}  // namespace ttfd
