// A stream of folded stacks.
#include "daemon/rpc/profile_call.h"

#include <utility>

#include "daemon/rpc/call_status.h"

namespace ttfd {
namespace {

constexpr size_t kProfilePartBytes = 64 * 1024;

}  // namespace

std::shared_ptr<ProfileCall> ProfileCall::Create() {
  std::shared_ptr<ProfileCall> call(new ProfileCall());
  MutexLock lock(&call->mu_);
  call->self_ = call;
  return call;
}

void ProfileCall::Answer(StatusOr<ProfileResult> result) {
  MutexLock lock(&mu_);
  if (finished_) return;
  if (!result.ok()) {
    FinishLocked(result.status());
    return;
  }
  parts_.emplace_back();
  for (const auto& [stack, count] : result->stacks) {
    if (parts_.back().folded().size() > kProfilePartBytes) parts_.emplace_back();
    *parts_.back().mutable_folded() += fmt::format("{} {}\n", stack, count);
  }
  v1::ProfileSummary* const summary = parts_.back().mutable_summary();
  summary->set_samples(result->samples);
  summary->set_lost(result->lost);
  summary->set_whole_stacks(result->whole_stacks);
  summary->set_interval_clocks(result->interval_clocks);
  WriteNext();
}

void ProfileCall::WriteNext() {
  if (parts_.empty()) {
    FinishLocked(OkStatus());
  } else {
    StartWrite(&parts_.front());
  }
}

void ProfileCall::OnWriteDone(bool ok) {
  MutexLock lock(&mu_);
  if (!ok || finished_) return;
  parts_.pop_front();
  WriteNext();
}

void ProfileCall::OnCancel() {
  cancelled_->store(true);
  MutexLock lock(&mu_);
  FinishLocked(Error(StatusCode::kCancelled, "the client has gone; the profile ends"));
}

void ProfileCall::OnDone() {
  std::shared_ptr<ProfileCall> self;  // dies after the lock
  MutexLock lock(&mu_);
  self = std::exchange(self_, nullptr);
}

void ProfileCall::FinishLocked(const Status& status) {
  if (finished_) return;
  finished_ = true;
  Finish(ToGrpc(status));
}

}  // namespace ttfd
