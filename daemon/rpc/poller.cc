// The completion queue and its thread.
#include "daemon/rpc/poller.h"

#include <grpc/support/time.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/base/status.h"

namespace ttfd {

void Poller::Register(grpc::ServerBuilder* builder) {
  builder->RegisterAsyncGenericService(&service_);
  queue_ = builder->AddCompletionQueue();
}

void Poller::Start(Methods methods, Hooks hooks) {
  methods_ = std::move(methods);
  hooks_ = std::move(hooks);
  thread_ = std::thread([this] { ThreadMain(); });
}

void Poller::Stop() {
  if (!thread_.joinable()) return;
  tasks_->Post([this] { closing_ = true; });
  thread_.join();
}

void Poller::Wake() {
  alarm_.Set(queue_.get(), gpr_time_0(GPR_CLOCK_MONOTONIC), static_cast<CompletionTag*>(&wake_up_));
}

void Poller::AwaitClient() {
  auto call = std::make_unique<ServerCall>(*this);
  ServerCall* const key = call.get();
  calls_.emplace(key, std::move(call));
}

std::shared_ptr<CallHandler> Poller::Handle(ServerCall& call) {
  const auto method = methods_.find(call.context().method());
  if (method != methods_.end()) return method->second(call);
  call.Finish(Error(StatusCode::kUnimplemented, "this daemon has no such method"));
  return nullptr;
}

void Poller::ThreadMain() {
  thread_id_ = std::this_thread::get_id();
  hooks_.runs(true);
  AwaitClient();
  Loop();
  hooks_.runs(false);
}

void Poller::Loop() {
  while (true) {
    gpr_timespec until = gpr_inf_future(GPR_CLOCK_MONOTONIC);
    if (next_due_ != TimePoint::max()) {
      const auto wait =
          std::chrono::duration_cast<std::chrono::microseconds>(next_due_ - clock_.Now());
      until = gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                           gpr_time_from_micros(std::max<int64_t>(wait.count(), 0), GPR_TIMESPAN));
    }
    void* tag = nullptr;
    bool ok = false;
    const auto next = queue_->AsyncNext(&tag, &ok, until);
    if (next == grpc::CompletionQueue::SHUTDOWN) return;
    if (next == grpc::CompletionQueue::GOT_EVENT) static_cast<CompletionTag*>(tag)->Complete(ok);
    if (next_due_ != TimePoint::max()) RunDue(clock_.Now());
    hooks_.handled();
    // No operation may be started at gRPC from here on: there are no calls, and no task can be posted.
    if (closing_ && calls_.empty()) {
      closing_ = false;
      tasks_->Stop();
      queue_->Shutdown();
    }
  }
}

void Poller::RunDue(TimePoint now) {
  if (now < next_due_) return;
  next_round_ = now + kRound;
  std::vector<ServerCall*> due;
  next_due_ = TimePoint::max();
  for (const auto& [key, call] : calls_) {
    if (call->due_ <= now) {
      call->due_ = TimePoint::max();
      due.push_back(key);
    }
    next_due_ = std::min(next_due_, call->due_);
  }
  if (next_due_ != TimePoint::max()) next_due_ = std::max(next_due_, next_round_);
  // Calls end only with operations that the queue returns, so none of these has.
  for (ServerCall* const call : due) call->handler_->OnDue(now);
}

}  // namespace ttfd
