// Threads that write replies, so that the device thread does not (a write costs it 5 to 27 us).
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/base/mutex.h"

namespace ttfd {

// A call that may have something to write.
class ReplyTask {
 public:
  virtual ~ReplyTask() = default;
  // Writes what there is. Only what is short.
  virtual void Pump() = 0;

 private:
  friend class ReplyThreads;
  std::atomic<bool> queued_{false};
};

// A queue of calls to pump. A call is in it at most once, however often it is scheduled.
class ReplyThreads {
 public:
  explicit ReplyThreads(int threads) : thread_count_(threads) {}
  ~ReplyThreads() { Stop(); }

  void Start();
  void Stop();  // what is queued is dropped

  // Any thread. Never blocks for long, never pumps.
  void Schedule(std::shared_ptr<ReplyTask> task) ABSL_LOCKS_EXCLUDED(mu_);

  // The thread that calls this promises to call EndOfRound soon after every Schedule it does:
  // nobody is woken for those before.
  void JoinAsRoundThread() ABSL_LOCKS_EXCLUDED(mu_);
  // With `idle` (nothing else to do) writes what is to be said right here: a hand-over to another thread costs 7 us to
  // give and 23 us until it runs. Without, wakes a thread if something is queued.
  void EndOfRound(bool idle) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Loop() ABSL_LOCKS_EXCLUDED(mu_);
  std::shared_ptr<ReplyTask> TryPop() ABSL_LOCKS_EXCLUDED(mu_);

  const int thread_count_;
  Mutex mu_;
  CondVar changed_;
  std::deque<std::shared_ptr<ReplyTask>> queue_ ABSL_GUARDED_BY(mu_);
  int sleeping_ ABSL_GUARDED_BY(mu_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread::id round_thread_ ABSL_GUARDED_BY(mu_);
  std::vector<std::thread> threads_;
};

}  // namespace ttfd
