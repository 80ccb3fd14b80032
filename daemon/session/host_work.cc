// A thread and its turns.
#include "daemon/session/host_work.h"

#include <chrono>
#include <utility>

namespace ttfd {
namespace {

constexpr auto kRest = std::chrono::hours(1);

}  // namespace

void HostWork::Start() {
  thread_ = std::thread([this] { ThreadMain(); });
}

void HostWork::Stop() {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void HostWork::Add(uint64_t session, Job job) {
  MutexLock lock(&mu_);
  jobs_[session].push_back(std::move(job));
  changed_.NotifyOne();
}

bool HostWork::RunOne() {
  Job job;
  {
    MutexLock lock(&mu_);
    if (jobs_.empty()) return false;
    auto next = jobs_.upper_bound(last_);
    if (next == jobs_.end()) next = jobs_.begin();
    last_ = next->first;
    job = std::move(next->second.front());
    next->second.pop_front();
    if (next->second.empty()) jobs_.erase(next);
  }
  job();
  return true;
}

void HostWork::ThreadMain() {
  while (true) {
    if (RunOne()) continue;
    MutexLock lock(&mu_);
    while (jobs_.empty() && !stopping_)
      changed_.WaitUntil(&mu_, std::chrono::steady_clock::now() + kRest);
    if (jobs_.empty()) return;
  }
}

}  // namespace ttfd
