// The queue and the threads behind reply_threads.h.
#include "daemon/rpc/reply_threads.h"

#include <chrono>
#include <utility>

namespace ttfd {
namespace {

// A wait that lasts this long just waits again: no wait is without an end.
constexpr auto kWait = std::chrono::hours(1);
// More calls than this at once are better spread over the reply threads, even by an idle device
// thread.
constexpr size_t kPumpedByRoundThread = 4;

}  // namespace

void ReplyThreads::Start() {
  for (int i = 0; i < thread_count_; ++i) threads_.emplace_back([this] { Loop(); });
}

void ReplyThreads::Stop() {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
    queue_.clear();
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void ReplyThreads::Schedule(std::shared_ptr<ReplyTask> task) {
  if (task->queued_.exchange(true, std::memory_order_acq_rel)) return;
  MutexLock lock(&mu_);
  if (stopping_) return;
  queue_.push_back(std::move(task));
  if (sleeping_ > 0 && std::this_thread::get_id() != round_thread_) changed_.NotifyOne();
}

void ReplyThreads::JoinAsRoundThread() {
  MutexLock lock(&mu_);
  round_thread_ = std::this_thread::get_id();
}

void ReplyThreads::EndOfRound(bool idle) {
  {
    MutexLock lock(&mu_);
    if (queue_.empty()) return;
    if (!idle || queue_.size() > kPumpedByRoundThread) {
      if (sleeping_ > 0) changed_.NotifyOne();
      return;
    }
  }
  for (size_t i = 0; i < kPumpedByRoundThread; ++i) {
    const std::shared_ptr<ReplyTask> task = TryPop();
    if (task == nullptr) break;
    task->Pump();
  }
  // A pump may have scheduled more, and Schedule wakes nobody for this thread.
  MutexLock lock(&mu_);
  if (!queue_.empty() && sleeping_ > 0) changed_.NotifyOne();
}

std::shared_ptr<ReplyTask> ReplyThreads::TryPop() {
  MutexLock lock(&mu_);
  if (queue_.empty()) return nullptr;
  std::shared_ptr<ReplyTask> task = std::move(queue_.front());
  queue_.pop_front();
  // Before the pump looks for output: what comes from here on is scheduled again.
  task->queued_.store(false, std::memory_order_release);
  return task;
}

void ReplyThreads::Loop() {
  while (true) {
    if (const std::shared_ptr<ReplyTask> task = TryPop()) {
      task->Pump();
      continue;
    }
    MutexLock lock(&mu_);
    if (stopping_) return;
    if (!queue_.empty()) continue;
    ++sleeping_;
    changed_.WaitUntil(&mu_, std::chrono::steady_clock::now() + kWait);
    --sleeping_;
  }
}

}  // namespace ttfd
