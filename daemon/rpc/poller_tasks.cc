// The queue behind poller_tasks.h.
#include "daemon/rpc/poller_tasks.h"

#include <utility>

namespace ttfd {
namespace {

// More tasks than this at once are better left to the poller thread, even by an idle device thread.
constexpr size_t kRunByDeviceThread = 4;

class FunctionTask final : public PollerTask {
 public:
  explicit FunctionTask(std::function<void()> run) : run_(std::move(run)) {}
  void Run() override { run_(); }

 private:
  const std::function<void()> run_;
};

}  // namespace

void PollerTasks::Post(std::shared_ptr<PollerTask> task) {
  if (task->posted_.exchange(true, std::memory_order_acq_rel)) return;
  if (std::this_thread::get_id() == device_thread_.load(std::memory_order_relaxed)) {
    of_round_.push_back(std::move(task));
    return;
  }
  Tasks tasks;
  tasks.push_back(std::move(task));
  Enqueue(std::move(tasks));
}

void PollerTasks::Post(std::function<void()> run) {
  Tasks tasks;
  tasks.push_back(std::make_shared<FunctionTask>(std::move(run)));
  Enqueue(std::move(tasks));
}

// Tasks that are dropped are destroyed after the lock.
void PollerTasks::Enqueue(Tasks tasks) {
  MutexLock lock(&mu_);
  if (stopped_) return;
  for (std::shared_ptr<PollerTask>& task : tasks) queue_.push_back(std::move(task));
  if (!std::exchange(woken_, true)) wake_();
}

void PollerTasks::Stop() {
  Tasks dropped;
  MutexLock lock(&mu_);
  stopped_ = true;
  dropped.swap(queue_);
}

void PollerTasks::SetDeviceThread(bool calling) {
  EndOfRound(/*idle=*/false);
  device_thread_ = calling ? std::this_thread::get_id() : std::thread::id();
}

void PollerTasks::EndOfRound(bool idle) {
  if (idle && of_round_.size() <= kRunByDeviceThread) {
    Tasks tasks = std::exchange(of_round_, {});
    RunEach(&tasks);
  }
  // Also those that these have posted.
  if (!of_round_.empty()) Enqueue(std::exchange(of_round_, {}));
}

void PollerTasks::RunAll() {
  Tasks tasks;
  {
    MutexLock lock(&mu_);
    woken_ = false;
    tasks.swap(queue_);
  }
  RunEach(&tasks);
}

void PollerTasks::RunEach(Tasks* tasks) {
  for (std::shared_ptr<PollerTask>& task : *tasks) {
    // Before it looks at anything: what comes from here on is posted again.
    task->posted_.store(false, std::memory_order_release);
    task->Run();
    task.reset();
  }
}

}  // namespace ttfd
