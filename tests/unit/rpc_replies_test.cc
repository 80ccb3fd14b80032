// The reply threads: every scheduled call is served, once for many requests, by the device thread
// when that has nothing else to do. And the deadline thread.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "daemon/rpc/call_deadlines.h"
#include "daemon/rpc/reply_threads.h"

namespace ttfd::rpc_replies_test {
namespace {

template <typename Predicate>
bool Eventually(Predicate predicate) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < deadline) {
    if (predicate()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

struct CountingTask : ReplyTask {
  void Pump() override {
    pumped_by.store(std::this_thread::get_id());
    seen.store(wanted.load());
    ++pumps;
  }
  std::atomic<int> pumps{0};
  std::atomic<int> wanted{0};
  std::atomic<int> seen{0};
  std::atomic<std::thread::id> pumped_by;
};

TEST(ReplyThreads, PumpAfterTheLastScheduleWhateverTheTiming) {
  ReplyThreads replies(2);
  replies.Start();
  std::vector<std::shared_ptr<CountingTask>> tasks;
  for (int i = 0; i < 8; ++i) tasks.push_back(std::make_shared<CountingTask>());
  std::vector<std::thread> producers;
  for (int i = 0; i < 2; ++i) {
    producers.emplace_back([&] {
      for (int round = 0; round < 5000; ++round) {
        for (const auto& task : tasks) {
          ++task->wanted;
          replies.Schedule(task);
        }
      }
    });
  }
  for (std::thread& producer : producers) producer.join();
  for (const auto& task : tasks) {
    EXPECT_TRUE(Eventually([&] { return task->seen == 10000; })) << "the last change was pumped";
    EXPECT_LE(task->pumps, 10000);
  }
}

TEST(ReplyThreads, AnIdleRoundThreadPumpsItselfAndABusyOneHandsOver) {
  const auto own = std::make_shared<CountingTask>();
  ReplyThreads idle(1);  // not started: no thread of its own can be first
  idle.JoinAsRoundThread();
  idle.Schedule(own);
  idle.EndOfRound(/*idle=*/true);
  EXPECT_EQ(own->pumps, 1);
  EXPECT_EQ(own->pumped_by.load(), std::this_thread::get_id());

  ReplyThreads busy(1);
  busy.Start();
  busy.JoinAsRoundThread();
  std::shared_ptr<CountingTask> task;
  // A reply thread that is not asleep yet takes the task; one that sleeps is woken by the end of a round alone.
  ASSERT_TRUE(Eventually([&] {
    task = std::make_shared<CountingTask>();
    busy.Schedule(task);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return task->pumps == 0;
  }));
  busy.EndOfRound(/*idle=*/false);
  EXPECT_TRUE(Eventually([&] { return task->pumps == 1; }));
  EXPECT_NE(task->pumped_by.load(), std::this_thread::get_id());
}

TEST(ReplyThreads, ManyCallsAtOnceGoToTheReplyThreadsEvenFromAnIdleRound) {
  ReplyThreads replies(1);
  replies.JoinAsRoundThread();
  std::vector<std::shared_ptr<CountingTask>> tasks;
  for (int i = 0; i < 64; ++i) {
    tasks.push_back(std::make_shared<CountingTask>());
    replies.Schedule(tasks.back());
  }
  replies.EndOfRound(/*idle=*/true);
  for (const auto& task : tasks) EXPECT_EQ(task->pumps, 0);
  replies.Start();
  for (const auto& task : tasks) {
    EXPECT_TRUE(Eventually([&] { return task->pumps == 1; }));
    EXPECT_NE(task->pumped_by.load(), std::this_thread::get_id());
  }
}

TEST(ReplyThreads, StopDropsWhatIsQueued) {
  const auto task = std::make_shared<CountingTask>();
  ReplyThreads replies(1);
  replies.Schedule(task);
  replies.Stop();
  EXPECT_EQ(task.use_count(), 1);
  EXPECT_EQ(task->pumps, 0);
}

struct CountingDeadline : DeadlineTask {
  void CheckDeadlines(TimePoint) override { ++checks; }
  std::atomic<int> checks{0};
};

TEST(CallDeadlines, CheckAtComesBeforeThePeriod) {
  CallDeadlines deadlines(SteadyClock(), std::chrono::hours(1));
  const auto one = std::make_shared<CountingDeadline>();
  const auto other = std::make_shared<CountingDeadline>();
  deadlines.Add(one);
  deadlines.Add(other);
  deadlines.Start();
  EXPECT_TRUE(Eventually([&] { return one->checks == 1 && other->checks == 1; }))
      << "once a period";
  deadlines.CheckAt(one.get(), deadlines.Now() + std::chrono::hours(1));
  deadlines.CheckAt(one.get(), deadlines.Now() + std::chrono::milliseconds(10));
  deadlines.CheckAt(one.get(), deadlines.Now() + std::chrono::hours(2));
  EXPECT_TRUE(Eventually([&] { return one->checks == 2; }));
  EXPECT_EQ(other->checks, 1);
  deadlines.CheckAt(one.get(), deadlines.Now());
  EXPECT_TRUE(Eventually([&] { return one->checks == 3; }));
}

TEST(CallDeadlines, LooksAtEveryCallUntilItIsRemoved) {
  CallDeadlines deadlines(SteadyClock(), std::chrono::milliseconds(1));
  deadlines.Start();
  const auto first = std::make_shared<CountingDeadline>();
  const auto second = std::make_shared<CountingDeadline>();
  deadlines.Add(first);
  deadlines.Add(second);
  EXPECT_TRUE(Eventually([&] { return first->checks > 2 && second->checks > 2; }));
  deadlines.Remove(first.get());
  deadlines.Remove(first.get());
  EXPECT_TRUE(Eventually([&] { return first.use_count() == 1; }));
  const int before = first->checks;
  const int other = second->checks;
  EXPECT_TRUE(Eventually([&] { return second->checks > other + 2; }));
  EXPECT_EQ(first->checks, before);
}

}  // namespace
}  // namespace ttfd::rpc_replies_test
