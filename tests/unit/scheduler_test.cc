// The order of operations: shares by weight and priority, learned costs, waits, busy workers; queues keep their order.
#include "daemon/scheduler/scheduler.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "tests/support/random.h"

namespace ttfd::scheduler_test {
namespace {

using std::chrono::microseconds;

Work Transfer(uint64_t flow, uint64_t bytes = 64 << 10, uint32_t queue = 0, uint64_t value = 0,
              uint32_t weight = 1) {
  Work work;
  work.flow = flow;
  work.queue = queue;
  work.value = value;
  work.weight = weight;
  work.bytes = bytes;
  work.command = FillCommand{};
  return work;
}

Work ALaunch(uint64_t flow, uint32_t queue = 0) {
  Work work;
  work.flow = flow;
  work.queue = queue;
  work.command = LaunchCommand{};
  work.launches = 1;
  return work;
}

Work Next(Scheduler& scheduler) {
  Work work;
  EXPECT_TRUE(scheduler.Pop(&work));
  return work;
}

TEST(Scheduler, IsEmptyAtFirst) {
  Scheduler scheduler({});
  Work work;
  EXPECT_FALSE(scheduler.Pop(&work));
}

TEST(Scheduler, AQueueKeepsItsOrder) {
  Scheduler scheduler({});
  for (uint64_t value = 1; value <= 100; ++value) scheduler.Push(Transfer(1, 16 * value, 0, value));
  for (uint64_t value = 1; value <= 100; ++value) EXPECT_EQ(Next(scheduler).value, value);
}

TEST(Scheduler, QueuesOfOneSessionTakeTurns) {
  Scheduler scheduler({});
  for (int i = 0; i < 10; ++i) scheduler.Push(Transfer(1, 64, 0));
  scheduler.Push(Transfer(1, 64, 1));
  EXPECT_TRUE(Next(scheduler).queue == 1 || Next(scheduler).queue == 1);
}

TEST(Scheduler, EightEqualSessionsGetEqualShares) {
  Scheduler scheduler({});
  std::map<uint64_t, uint64_t> used;
  for (int round = 0; round < 4000; ++round) {
    for (uint64_t flow = 1; flow <= 8; ++flow) {
      if (round % 4 == 0) {
        // The same demand in pieces of different sizes.
        for (uint64_t piece = 0; piece < flow; ++piece)
          scheduler.Push(Transfer(flow, (256 << 10) / flow / 16 * 16));
      }
    }
    for (int i = 0; i < 2; ++i) {
      const Work work = Next(scheduler);
      used[work.flow] += static_cast<uint64_t>(work.cost.count());
      scheduler.Used(work, work.cost);
    }
  }
  double sum = 0;
  double squares = 0;
  for (const auto& [flow, cost] : used) {
    sum += static_cast<double>(cost);
    squares += static_cast<double>(cost) * static_cast<double>(cost);
  }
  EXPECT_EQ(used.size(), 8u);
  EXPECT_GE(sum * sum / (8 * squares), 0.99) << "Jain's index";
}

TEST(Scheduler, WeightsDivideTheCard) {
  Scheduler scheduler({});
  std::map<uint64_t, int> turns;
  for (int i = 0; i < 400; ++i) {
    scheduler.Push(Transfer(1, 256 << 10, 0, 0, 1));
    scheduler.Push(Transfer(2, 256 << 10, 0, 0, 3));
  }
  for (int i = 0; i < 400; ++i) ++turns[Next(scheduler).flow];
  EXPECT_NEAR(turns[2], 300, 10) << "a turn is ten of them";
}

TEST(Scheduler, ALightSessionGoesBeforeFloodingOnes) {
  Scheduler scheduler({});
  for (int i = 0; i < 1000; ++i) {
    for (uint64_t flow = 1; flow <= 7; ++flow) scheduler.Push(Transfer(flow));
  }
  for (int i = 0; i < 500; ++i) Next(scheduler);
  for (int i = 0; i < 50; ++i) {
    scheduler.Push(Transfer(8, 64));
    EXPECT_EQ(Next(scheduler).flow, 8u) << "round " << i;
    for (int j = 0; j < 20; ++j) EXPECT_NE(Next(scheduler).flow, 8u);
  }
}

TEST(Scheduler, IdlenessEarnsNoCredit) {
  Scheduler scheduler({});
  for (int i = 0; i < 1000; ++i) scheduler.Push(Transfer(1, 256 << 10));
  for (int i = 0; i < 900; ++i) Next(scheduler);
  for (int i = 0; i < 100; ++i) scheduler.Push(Transfer(2, 256 << 10));
  int second = 0;
  for (int i = 0; i < 100; ++i) second += Next(scheduler).flow == 2 ? 1 : 0;
  EXPECT_NEAR(second, 50, 10) << "a turn is ten of them";
}

TEST(Scheduler, WhoReallyTookLongerPaysForIt) {
  Scheduler scheduler({});
  std::map<uint64_t, int> turns;
  for (int i = 0; i < 1000; ++i) {
    scheduler.Push(ALaunch(1));
    scheduler.Push(ALaunch(2));
  }
  for (int i = 0; i < 1000; ++i) {
    const Work work = Next(scheduler);
    ++turns[work.flow];
    scheduler.Used(work, work.flow == 1 ? microseconds(900) : microseconds(100));
  }
  EXPECT_NEAR(turns[2], 900, 20);
}

TEST(Scheduler, LearnsWhatLaunchesOfASessionTake) {
  Scheduler scheduler({});
  for (int i = 0; i < 100; ++i) scheduler.Push(ALaunch(1));
  Work work = Next(scheduler);
  EXPECT_EQ(work.cost, SchedulerOptions().launch_guess);
  for (int i = 0; i < 50; ++i) {
    scheduler.Used(work, microseconds(10));
    work = Next(scheduler);
  }
  EXPECT_LE(work.cost, microseconds(11));
}

TEST(Scheduler, LearnsWhatTransfersOfASessionTake) {
  Scheduler scheduler({});
  const Duration expected = [&] {
    scheduler.Push(Transfer(2));
    return Next(scheduler).cost;
  }();
  for (int i = 0; i < 50; ++i) {
    scheduler.Push(Transfer(1));
    scheduler.Used(Next(scheduler), 3 * expected);
  }
  scheduler.Push(Transfer(1));
  EXPECT_NEAR(static_cast<double>(Next(scheduler).cost.count()),
              3.0 * static_cast<double>(expected.count()),
              0.01 * static_cast<double>(expected.count()));
}

TEST(Scheduler, WhatIsNotWantedAnyMoreCostsNothing) {
  Scheduler scheduler({});
  std::map<uint64_t, int> turns;
  for (int i = 0; i < 2000; ++i) {
    scheduler.Push(Transfer(1));
    scheduler.Push(Transfer(2));
  }
  int wanted[3] = {};
  for (int i = 0; i < 2000; ++i) {
    const Work work = Next(scheduler);
    // Nine of ten of the first session's were cancelled.
    if (work.flow == 1 && ++turns[1] % 10 != 0) {
      scheduler.Refund(work);
    } else {
      ++wanted[work.flow];
      scheduler.Used(work, work.cost);
    }
  }
  EXPECT_NEAR(wanted[1], wanted[2], 45) << "a quantum of 64 KiB transfers at most, and one work";
}

// ---- turns

TEST(Scheduler, OperationsOfASessionFollowEachOther) {
  Scheduler scheduler({});
  const int in_quantum = [] {
    Scheduler alone({});
    alone.Push(Transfer(1));
    return static_cast<int>(SchedulerOptions().quantum / Next(alone).cost) + 1;
  }();
  for (int i = 0; i < 1000; ++i) {
    scheduler.Push(Transfer(1));
    scheduler.Push(Transfer(2));
  }
  for (int i = 0; i < 2 * in_quantum; ++i) Next(scheduler);  // in the first round both are new
  std::vector<int> rows;
  uint64_t last = 0;
  for (int i = 0; i < 20 * in_quantum; ++i) {
    const uint64_t flow = Next(scheduler).flow;
    if (flow != last) rows.push_back(0);
    ++rows.back();
    last = flow;
  }
  // From a quantum behind the other one to a quantum ahead of it.
  for (size_t i = 1; i + 1 < rows.size(); ++i) EXPECT_NEAR(rows[i], 2 * in_quantum, 2);
}

// ---- priorities

Work Urgent(uint64_t flow, Priority priority) {
  Work work = Transfer(flow);
  work.priority = priority;
  return work;
}

TEST(Scheduler, APriorityIsAFactorOfEight) {
  Scheduler scheduler({});
  std::map<uint64_t, int> turns;
  for (int i = 0; i < 7300; ++i) {
    scheduler.Push(Urgent(1, Priority::kLow));
    scheduler.Push(Urgent(2, Priority::kNormal));
    scheduler.Push(Urgent(3, Priority::kHigh));
  }
  for (int i = 0; i < 7300; ++i) ++turns[Next(scheduler).flow];
  EXPECT_NEAR(turns[1], 100, 10);
  EXPECT_NEAR(turns[2], 800, 60);
  EXPECT_NEAR(turns[3], 6400, 120);
}

TEST(Scheduler, ASessionMayChangeItsShare) {
  Scheduler scheduler({});
  for (int i = 0; i < 1000; ++i) {
    scheduler.Push(Transfer(1, 64 << 10, 0, 0, 1));
    scheduler.Push(Transfer(2, 64 << 10, 0, 0, 1));
  }
  for (int i = 0; i < 500; ++i) Next(scheduler);
  for (int i = 0; i < 1000; ++i) scheduler.Push(Transfer(2, 64 << 10, 0, 0, 4));
  int second = 0;
  for (int i = 0; i < 1000; ++i) second += Next(scheduler).flow == 2 ? 1 : 0;
  EXPECT_NEAR(second, 800, 45);
}

TEST(Scheduler, ForgetsSessionsThatAreGone) {
  Scheduler scheduler({});
  for (uint64_t flow = 1; flow <= 100; ++flow) {
    scheduler.Push(Transfer(flow, 64));
    const Work work = Next(scheduler);
    EXPECT_EQ(scheduler.flows(), 1u) << "an idle one may come back";
    scheduler.Forget(flow);
    EXPECT_EQ(scheduler.users(), 1u) << "it still uses the card";
    if (flow % 2 == 0) scheduler.Used(work, std::chrono::seconds(1));
    if (flow % 2 == 1) scheduler.Refund(work);
    EXPECT_EQ(scheduler.flows(), 0u);
    EXPECT_EQ(scheduler.users(), 0u);
  }
  scheduler.Forget(7);  // never seen, or forgotten already
  EXPECT_EQ(scheduler.flows(), 0u);
}

// ---- works that wait for other queues

// A work of queue 1 that waits for work 1 of `other`.
Work Waiter(uint64_t flow, const std::shared_ptr<WorkTrack>& other) {
  Work work = Transfer(flow, 64, 1);
  work.after.push_back({other, 1});
  return work;
}

TEST(Scheduler, AQueueWhoseNextWorkWaitsHasNoTurn) {
  Scheduler scheduler({});
  const auto other = std::make_shared<WorkTrack>(Route());
  scheduler.Push(Waiter(1, other));
  scheduler.Push(Transfer(1, 64, 1, 7));
  scheduler.Push(Transfer(1, 64, 2));
  scheduler.Push(Transfer(2, 64, 3));
  EXPECT_NE(Next(scheduler).queue, 1u);
  EXPECT_NE(Next(scheduler).queue, 1u);
  Work work;
  EXPECT_FALSE(scheduler.Pop(&work));
  EXPECT_TRUE(scheduler.empty()) << "nobody need look before the other queue moves";
  EXPECT_EQ(scheduler.size(), 2u);
  other->Submitted(1, {0, 5}, microseconds(10));
  EXPECT_FALSE(scheduler.empty());
  EXPECT_EQ(Next(scheduler).after.size(), 1u);
  EXPECT_EQ(Next(scheduler).value, 7u) << "what stood behind it";
  EXPECT_TRUE(scheduler.empty());
}

TEST(Scheduler, AWaitForWhatTakesLongEndsWithIt) {
  SchedulerOptions options;
  options.longest_wait = microseconds(1000);
  Scheduler scheduler(options);
  const auto other = std::make_shared<WorkTrack>(Route());
  scheduler.Push(Waiter(1, other));
  other->Submitted(1, {0, 5}, microseconds(1001));
  Work work;
  EXPECT_FALSE(scheduler.Pop(&work));
  other->Ended(1);
  EXPECT_TRUE(scheduler.Pop(&work));
}

// ---- beside kernels on workers of their own

TileSet Workers(std::initializer_list<size_t> numbers) {
  TileSet tiles;
  for (const size_t number : numbers) tiles.set(number);
  return tiles;
}

Work On(Work work, const TileSet& workers) {
  work.route.workers = workers;
  return work;
}

TEST(Scheduler, WhatNeedsBusyWorkersStaysAndOthersGoBeforeIt) {
  Scheduler scheduler({});
  BusyWorkers busy(microseconds(1000));
  Work runs = On(ALaunch(1), Workers({1, 2}));
  runs.cost = microseconds(5000);
  busy.Add(runs);
  scheduler.Push(On(ALaunch(1), Workers({1, 2})));
  scheduler.Push(On(Transfer(2, 64), Workers({2})));
  scheduler.Push(On(ALaunch(3), Workers({3})));
  scheduler.Push(Transfer(4, 64));
  Work work;
  ASSERT_TRUE(scheduler.Pop(busy, &work));
  EXPECT_EQ(work.flow, 3u);
  EXPECT_FALSE(scheduler.Pop(busy, &work));
  scheduler.Push(On(Transfer(5, 64), Workers({7})));
  EXPECT_FALSE(scheduler.Pop(busy, &work)) << "all workers are kept for session 4";
  busy.Remove(runs);
  EXPECT_TRUE(busy.empty());
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(scheduler.Pop(busy, &work));
}

// Session 1 was served last and may be served again; session 2, which has just come, is looked at in between and
// reserves worker 1 as well.
TEST(Scheduler, WhatOneSessionReserves_ChangesNoAnswerOfTheSamePop) {
  Scheduler scheduler({});
  BusyWorkers busy(microseconds(1000));
  Work runs = On(ALaunch(9), Workers({0}));
  runs.cost = microseconds(5000);
  busy.Add(runs);
  Work first, second, third;
  scheduler.Push(Transfer(2));
  ASSERT_TRUE(scheduler.Pop(BusyWorkers(microseconds(1000)), &first));
  scheduler.Push(On(ALaunch(1), Workers({3})));
  scheduler.Push(On(ALaunch(1), Workers({1})));
  ASSERT_TRUE(scheduler.Pop(busy, &second));
  ASSERT_EQ(second.flow, 1u);
  scheduler.Used(first, microseconds(600));
  scheduler.Used(second, microseconds(100));
  scheduler.Push(On(ALaunch(2), Workers({0, 1})));
  ASSERT_TRUE(scheduler.Pop(busy, &third));
  EXPECT_EQ(third.flow, 1u);
}

// Whatever is busy, nothing gets workers that it may not have, and everything is served in the end.
TEST(Scheduler, ServesEverythingWhateverTheWorkers) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    Scheduler scheduler({});
    BusyWorkers busy(microseconds(1000));
    std::vector<Work> on_card;
    size_t pushed = 0, served = 0;
    while (pushed < 200 || served < pushed) {
      if (pushed < 200 && random() % 2 == 0) {
        const uint64_t flow = 1 + random() % 6;
        Work work = random() % 4 == 0 ? Transfer(flow) : ALaunch(flow);
        work.uid = static_cast<uint32_t>(flow % 3);
        work.queue = random() % 3;
        work.launches = 1;
        if (random() % 8 != 0) work.route.workers = Workers({random() % 5, random() % 5});
        work.value = work.runs_kernels() && work.route.workers.any() ? 1 : 0;  // keeps them busy
        scheduler.Push(std::move(work));
        ++pushed;
      }
      Work work;
      if (scheduler.Pop(busy, &work)) {
        ASSERT_TRUE(busy.empty() || busy.Admit(work, work.route.workers)) << "seed " << seed;
        if (work.value == 1) busy.Add(work);
        on_card.push_back(std::move(work));
      } else {
        ASSERT_FALSE(on_card.empty() && served < pushed && pushed == 200) << "seed " << seed;
      }
      if (on_card.empty() || random() % 3 != 0) continue;
      const size_t ends = random() % on_card.size();
      if (on_card[ends].value == 1) busy.Remove(on_card[ends]);
      scheduler.Used(on_card[ends], microseconds(random() % 3000));
      on_card.erase(on_card.begin() + static_cast<std::ptrdiff_t>(ends));
      ++served;
    }
  }
}

TEST(Scheduler, AFewShortLaunchesOfASessionFollowEachOther) {
  Scheduler scheduler({});
  BusyWorkers busy(microseconds(1000));
  for (int i = 0; i < 10; ++i) scheduler.Push(On(ALaunch(1), Workers({1})));
  std::vector<Work> on_card;
  for (Work work; scheduler.Pop(busy, &work);) {
    busy.Add(work);
    on_card.push_back(std::move(work));
  }
  EXPECT_EQ(on_card.size(), 4u) << "of a guessed 250 us each";
  scheduler.Push(On(ALaunch(2), Workers({1})));
  busy.Remove(on_card.back());
  Work work;
  EXPECT_FALSE(scheduler.Pop(busy, &work)) << "two sessions would answer for each other";
  on_card.pop_back();
  for (const Work& ended : on_card) busy.Remove(ended);
  ASSERT_TRUE(scheduler.Pop(busy, &work));
  EXPECT_EQ(work.flow, 2u) << "nobody overtook it";
}

TEST(Scheduler, WhoHasNothingLeftGoesOnBesideWhoWaitsForBusyWorkers) {
  Scheduler scheduler({});
  BusyWorkers busy(microseconds(1000));
  Work runs = On(ALaunch(1), Workers({1}));
  runs.cost = microseconds(5000);
  busy.Add(runs);
  scheduler.Push(On(ALaunch(1), Workers({1})));
  for (int i = 0; i < 100; ++i) scheduler.Push(On(Transfer(2, 64 << 10), Workers({2})));
  Work work;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(scheduler.Pop(busy, &work));
    EXPECT_EQ(work.flow, 2u);
  }
  EXPECT_FALSE(scheduler.Pop(busy, &work));
}

TEST(Scheduler, WaitingEarnsNoCredit) {
  Scheduler scheduler({});
  const auto other = std::make_shared<WorkTrack>(Route());
  for (int i = 0; i < 1000; ++i) scheduler.Push(Transfer(1, 256 << 10));
  scheduler.Push(Waiter(2, other));
  for (int i = 0; i < 99; ++i) scheduler.Push(Transfer(2, 256 << 10, 1));
  for (int i = 0; i < 800; ++i) EXPECT_EQ(Next(scheduler).flow, 1u);
  other->GivenUp(1);
  int second = 0;
  for (int i = 0; i < 100; ++i) second += Next(scheduler).flow == 2 ? 1 : 0;
  EXPECT_NEAR(second, 50, 10) << "a turn is ten of them";
}

TEST(Scheduler, AKernelOnWorkersOfItsOwnIsChargedForThese) {
  SchedulerOptions options;
  options.workers = 10;
  Scheduler scheduler(options);
  std::map<uint64_t, int> turns;
  for (int i = 0; i < 1000; ++i) {
    scheduler.Push(On(ALaunch(1), Workers({1, 2})));
    scheduler.Push(ALaunch(2));
  }
  for (int i = 0; i < 600; ++i) {
    const Work work = Next(scheduler);
    ++turns[work.flow];
    scheduler.Used(work, microseconds(100));
  }
  EXPECT_NEAR(turns[1], 500, 60) << "two of ten workers: five times as many";
}

TEST(Scheduler, AReplayCostsWhatItsLaunchesDo) {
  Scheduler scheduler({});
  scheduler.Push(ALaunch(1));
  scheduler.Used(Next(scheduler), microseconds(100));
  Work replay = ALaunch(1);
  replay.launches = 50;
  scheduler.Push(std::move(replay));
  scheduler.Push(ALaunch(1));
  const Duration fifty = Next(scheduler).cost;
  const Duration one = Next(scheduler).cost;
  EXPECT_NEAR(static_cast<double>(fifty.count()), 50.0 * static_cast<double>(one.count()), 1000.0);
}

}  // namespace
}  // namespace ttfd::scheduler_test
