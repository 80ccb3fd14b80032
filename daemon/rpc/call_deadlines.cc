// The thread behind call_deadlines.h.
#include "daemon/rpc/call_deadlines.h"

#include <utility>
#include <vector>

namespace ttfd {
namespace {

// Without calls; no wait is without an end.
constexpr auto kIdleWait = std::chrono::hours(1);

}  // namespace

void CallDeadlines::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void CallDeadlines::Stop() {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
  MutexLock lock(&mu_);
  tasks_.clear();
}

void CallDeadlines::Add(std::shared_ptr<DeadlineTask> task) {
  MutexLock lock(&mu_);
  if (stopping_) return;
  const DeadlineTask* const key = task.get();
  if (tasks_.empty()) changed_.NotifyAll();
  tasks_[key] = std::move(task);
}

void CallDeadlines::Remove(const DeadlineTask* task) {
  std::shared_ptr<DeadlineTask> last;  // destroyed without the lock
  MutexLock lock(&mu_);
  const auto found = tasks_.find(task);
  if (found == tasks_.end()) return;
  last = std::move(found->second);
  tasks_.erase(found);
  if (tasks_.empty()) none_.NotifyAll();
}

bool CallDeadlines::WaitUntilNone(TimePoint deadline) {
  MutexLock lock(&mu_);
  while (!tasks_.empty()) {
    if (!none_.WaitUntil(&mu_, deadline)) return tasks_.empty();
  }
  return true;
}

void CallDeadlines::Loop() {
  while (true) {
    std::vector<std::shared_ptr<DeadlineTask>> checked;
    {
      MutexLock lock(&mu_);
      if (stopping_) return;
      const auto wait = tasks_.empty() ? Duration(kIdleWait) : period_;
      changed_.WaitUntil(&mu_, std::chrono::steady_clock::now() + wait);
      if (stopping_) return;
      for (const auto& [key, task] : tasks_) checked.push_back(task);
    }
    for (const std::shared_ptr<DeadlineTask>& task : checked) task->CheckDeadlines(clock_.Now());
  }
}

}  // namespace ttfd
