// Does work of sessions that takes too long for the device thread: loading kernels, laying out programs and traces.
//
// Jobs of a session are done in order, one at a time, and sessions take turns, so that a session with many jobs delays
// another by one of them. What a session may have waiting is bounded by its commands, which are charged to its window.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <thread>

#include "runtime/base/mutex.h"

namespace ttfd {

// Thread-safe, but for Start and Stop.
class HostWork {
 public:
  using Job = std::function<void()>;
  static constexpr uint64_t kDaemon = 0;  // in place of a session; no session has this number

  ~HostWork() { Stop(); }

  void Start();
  // Does the jobs that are left, and ends the thread. Jobs added later are done by RunOne alone.
  void Stop();
  void Add(uint64_t session, Job job) ABSL_LOCKS_EXCLUDED(mu_);
  // Does the next job on the calling thread. False: there is none. For tests that leave Start out.
  bool RunOne() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void ThreadMain() ABSL_LOCKS_EXCLUDED(mu_);

  Mutex mu_;
  CondVar changed_;
  std::map<uint64_t, std::deque<Job>> jobs_ ABSL_GUARDED_BY(mu_);  // by session; none is empty
  uint64_t last_ ABSL_GUARDED_BY(mu_) = 0;                         // session that had a turn
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace ttfd
