// The thread behind call_deadlines.h.
#include "daemon/rpc/call_deadlines.h"

#include <algorithm>
#include <utility>

namespace ttfd {
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
  tasks_[key].task = std::move(task);
}

void CallDeadlines::CheckAt(const DeadlineTask* task, TimePoint when) {
  MutexLock lock(&mu_);
  const auto found = tasks_.find(task);
  if (found == tasks_.end() || found->second.check_at <= when) return;
  found->second.check_at = when;
  if (when >= next_) return;
  next_ = when;
  changed_.NotifyAll();
}

void CallDeadlines::Remove(const DeadlineTask* task) {
  std::shared_ptr<DeadlineTask> last;  // destroyed without the lock
  MutexLock lock(&mu_);
  const auto found = tasks_.find(task);
  if (found == tasks_.end()) return;
  last = std::move(found->second.task);
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

std::vector<std::shared_ptr<DeadlineTask>> CallDeadlines::TakeDue(TimePoint now) {
  std::vector<std::shared_ptr<DeadlineTask>> due;
  const bool all = now >= next_period_;
  if (all) next_period_ = now + period_;
  next_ = tasks_.empty() ? now + kIdleWait : next_period_;
  for (auto& [key, entry] : tasks_) {
    if (all || entry.check_at <= now) {
      entry.check_at = TimePoint::max();
      due.push_back(entry.task);
    }
    next_ = std::min(next_, entry.check_at);
  }
  return due;
}

void CallDeadlines::Loop() {
  TimePoint next_round = TimePoint::min();
  while (true) {
    std::vector<std::shared_ptr<DeadlineTask>> due;
    const TimePoint now = clock_.Now();
    {
      MutexLock lock(&mu_);
      if (stopping_) return;
      if (now >= next_round) due = TakeDue(now);
      if (due.empty()) {
        const Duration wait = std::max(next_, next_round) - now;
        changed_.WaitUntil(&mu_, std::chrono::steady_clock::now() + wait);
        continue;
      }
    }
    next_round = now + kRound;
    for (const std::shared_ptr<DeadlineTask>& task : due) task->CheckDeadlines(now);
  }
}

}  // namespace ttfd
