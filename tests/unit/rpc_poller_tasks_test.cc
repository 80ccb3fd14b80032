// Tasks of the poller thread: each runs after it was posted last, once for many posts, and on the device thread when
// that has nothing else to do.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "daemon/rpc/poller_tasks.h"

namespace ttfd::rpc_poller_tasks_test {
namespace {

struct CountingTask : PollerTask {
  void Run() override {
    seen = wanted.load();
    ++runs;
    if (then) then();
  }
  std::atomic<int> runs{0};
  std::atomic<int> wanted{0};
  std::atomic<int> seen{0};
  std::function<void()> then;
};

TEST(PollerTasks, RunAfterTheLastPostWhateverTheTiming) {
  std::atomic<int> wakes{0};
  PollerTasks tasks([&] { ++wakes; });
  std::vector<std::shared_ptr<CountingTask>> posted;
  for (int i = 0; i < 8; ++i) posted.push_back(std::make_shared<CountingTask>());
  std::atomic<int> producing{2};
  std::vector<std::thread> producers;
  for (int i = 0; i < 2; ++i) {
    producers.emplace_back([&] {
      for (int round = 0; round < 5000; ++round) {
        for (const auto& task : posted) {
          ++task->wanted;
          tasks.Post(task);
        }
      }
      --producing;
    });
  }
  // As the poller thread: only a wake-up has it look.
  int runs = 0;
  while (true) {
    const bool last = producing == 0;
    if (wakes.exchange(0) > 0) {
      tasks.RunAll();
      ++runs;
    } else if (last) {
      break;
    } else {
      std::this_thread::yield();
    }
  }
  for (std::thread& producer : producers) producer.join();
  for (const auto& task : posted) {
    EXPECT_EQ(task->seen, 10000);
    EXPECT_LE(task->runs, runs);
  }
}

TEST(PollerTasks, WakeOnceUntilTheyRun) {
  int wakes = 0;
  PollerTasks tasks([&] { ++wakes; });
  const auto task = std::make_shared<CountingTask>();
  int functions = 0;
  tasks.Post(task);
  tasks.Post([&] { ++functions; });
  tasks.Post([&] { ++functions; });
  EXPECT_EQ(wakes, 1);
  tasks.RunAll();
  EXPECT_EQ(task->runs, 1);
  EXPECT_EQ(functions, 2);
  tasks.Post(task);
  EXPECT_EQ(wakes, 2);
}

TEST(PollerTasks, OfAnIdleDeviceThreadRunThereAndOfABusyOneDoNot) {
  int wakes = 0;
  PollerTasks tasks([&] { ++wakes; });
  tasks.SetDeviceThread(true);
  const auto task = std::make_shared<CountingTask>();
  tasks.Post(task);
  EXPECT_EQ(task->runs, 0) << "before the end of the round";
  tasks.EndOfRound(/*idle=*/true);
  EXPECT_EQ(task->runs, 1);
  EXPECT_EQ(wakes, 0);
  int functions = 0;
  tasks.Post([&] { ++functions; });
  tasks.EndOfRound(/*idle=*/true);
  EXPECT_EQ(functions, 0) << "of the poller thread alone";
  tasks.RunAll();
  EXPECT_EQ(std::exchange(wakes, 0), 1);
  EXPECT_EQ(functions, 1);

  tasks.Post(task);
  tasks.EndOfRound(/*idle=*/false);
  EXPECT_EQ(task->runs, 1);
  EXPECT_EQ(wakes, 1);
  tasks.RunAll();
  EXPECT_EQ(task->runs, 2);

  tasks.Post(task);
  tasks.SetDeviceThread(false);
  EXPECT_EQ(wakes, 2) << "nothing is left with a thread that is the device thread no more";
  tasks.RunAll();
  tasks.Post(task);
  EXPECT_EQ(wakes, 3);
}

TEST(PollerTasks, GoToThePollerThreadIfATaskPostsThemOrThereAreMany) {
  PollerTasks tasks([] {});
  tasks.SetDeviceThread(true);
  const auto again = std::make_shared<CountingTask>();
  again->then = [&] {
    if (again->runs == 1) tasks.Post(again);
  };
  tasks.Post(again);
  tasks.EndOfRound(/*idle=*/true);
  EXPECT_EQ(again->runs, 1);
  tasks.RunAll();
  EXPECT_EQ(again->runs, 2);

  std::vector<std::shared_ptr<CountingTask>> many;
  for (int i = 0; i < 64; ++i) {
    many.push_back(std::make_shared<CountingTask>());
    tasks.Post(many.back());
  }
  tasks.EndOfRound(/*idle=*/true);
  for (const auto& task : many) EXPECT_EQ(task->runs, 0);
  tasks.RunAll();
  for (const auto& task : many) EXPECT_EQ(task->runs, 1);
}

TEST(PollerTasks, StopDropsWhatIsQueuedAndWhatIsPostedLater) {
  int wakes = 0;
  PollerTasks tasks([&] { ++wakes; });
  const auto task = std::make_shared<CountingTask>();
  tasks.Post(task);
  tasks.Stop();
  EXPECT_EQ(task.use_count(), 1);
  const auto later = std::make_shared<CountingTask>();
  tasks.Post(later);
  EXPECT_EQ(later.use_count(), 1);
  tasks.RunAll();
  EXPECT_EQ(task->runs + later->runs, 0);
  EXPECT_EQ(wakes, 1);
}

}  // namespace
}  // namespace ttfd::rpc_poller_tasks_test
