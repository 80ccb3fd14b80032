// Work that other threads hand to the poller thread (poller.h).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/base/mutex.h"

namespace ttfd {

class PollerTask {
 public:
  virtual ~PollerTask() = default;
  // Short, and never waits. The poller thread calls it, or the device thread; both at once only if the task was posted
  // again meanwhile.
  virtual void Run() = 0;

 private:
  friend class PollerTasks;
  std::atomic<bool> posted_{false};
};

// A queue of tasks. A task is in it at most once, however often it is posted, and runs after the last time it was.
class PollerTasks {
 public:
  // `wake` has the poller thread call RunAll. It is called with the queue locked, and not again before RunAll.
  explicit PollerTasks(std::function<void()> wake) : wake_(std::move(wake)) {}

  // ---- Any thread.

  void Post(std::shared_ptr<PollerTask> task) ABSL_LOCKS_EXCLUDED(mu_);
  // Posts a function that runs once, on the poller thread always.
  void Post(std::function<void()> run) ABSL_LOCKS_EXCLUDED(mu_);
  // Drops what is queued, and all that is posted from here on.
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);

  // ---- The device thread.

  // `calling`: the calling thread is the device thread from here on, and promises to call EndOfRound soon after every
  // Post it does: no thread is woken before that. Else it is that no more, and there is none.
  void SetDeviceThread(bool calling) ABSL_LOCKS_EXCLUDED(mu_);
  // With `idle` (nothing else to do) runs its tasks right here: a hand-over to another thread costs 7 us to give and
  // 23 us until it runs. Without, or if there are many, hands them to the poller thread. A task that a task posts goes
  // there always.
  void EndOfRound(bool idle) ABSL_LOCKS_EXCLUDED(mu_);

  // ---- The poller thread.

  // Runs all tasks that are queued now.
  void RunAll() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  using Tasks = std::vector<std::shared_ptr<PollerTask>>;

  static void RunEach(Tasks* tasks);
  void Enqueue(Tasks tasks) ABSL_LOCKS_EXCLUDED(mu_);

  const std::function<void()> wake_;
  std::atomic<std::thread::id> device_thread_{};
  Tasks of_round_;  // device thread
  Mutex mu_;
  Tasks queue_ ABSL_GUARDED_BY(mu_);
  bool woken_ ABSL_GUARDED_BY(mu_) = false;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace ttfd
