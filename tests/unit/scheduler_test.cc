// The order of slices: shares by weight and priority, learned costs, waits, busy workers; queues keep their order.
#include "daemon/card/scheduler.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "tests/support/random.h"
#include "tests/support/slice_order.h"

namespace ttfd::scheduler_test {
namespace {

using std::chrono::microseconds;

OrderedSlice Transfer(uint64_t session, uint64_t bytes = 64 << 10, uint32_t queue = 0,
                      uint64_t value = 0, uint32_t weight = 1) {
  OrderedSlice one;
  one.session = session;
  one.queue = queue;
  one.value = value;
  one.weight = weight;
  one.slice.bytes = bytes;
  one.slice.command = FillCommand{};
  return one;
}

OrderedSlice ALaunch(uint64_t session, uint32_t queue = 0) {
  OrderedSlice one;
  one.session = session;
  one.queue = queue;
  one.slice.command = LaunchCommand{};
  one.slice.launches = 1;
  return one;
}

OrderedSlice Next(SliceOrder& order) {
  OrderedSlice one;
  EXPECT_TRUE(order.Pop(&one));
  return one;
}

TEST(Scheduler, IsEmptyAtFirst) {
  SliceOrder scheduler;
  OrderedSlice slice;
  EXPECT_FALSE(scheduler.Pop(&slice));
}

TEST(Scheduler, AQueueKeepsItsOrder) {
  SliceOrder scheduler;
  for (uint64_t value = 1; value <= 100; ++value) scheduler.Push(Transfer(1, 16 * value, 0, value));
  for (uint64_t value = 1; value <= 100; ++value) EXPECT_EQ(Next(scheduler).value, value);
}

TEST(Scheduler, QueuesOfOneSessionTakeTurns) {
  SliceOrder scheduler;
  for (int i = 0; i < 10; ++i) scheduler.Push(Transfer(1, 64, 0));
  scheduler.Push(Transfer(1, 64, 1));
  EXPECT_TRUE(Next(scheduler).queue == 1 || Next(scheduler).queue == 1);
}

TEST(Scheduler, EightEqualSessionsGetEqualShares) {
  SliceOrder scheduler;
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
      const OrderedSlice slice = Next(scheduler);
      used[slice.session] += static_cast<uint64_t>(slice.cost().count());
      scheduler.Used(slice, slice.cost());
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
  SliceOrder scheduler;
  std::map<uint64_t, int> turns;
  for (int i = 0; i < 400; ++i) {
    scheduler.Push(Transfer(1, 256 << 10, 0, 0, 1));
    scheduler.Push(Transfer(2, 256 << 10, 0, 0, 3));
  }
  for (int i = 0; i < 400; ++i) ++turns[Next(scheduler).session];
  EXPECT_NEAR(turns[2], 300, 10) << "a turn is ten of them";
}

TEST(Scheduler, ALightSessionGoesBeforeFloodingOnes) {
  SliceOrder scheduler;
  for (int i = 0; i < 1000; ++i) {
    for (uint64_t flow = 1; flow <= 7; ++flow) scheduler.Push(Transfer(flow));
  }
  for (int i = 0; i < 500; ++i) Next(scheduler);
  for (int i = 0; i < 50; ++i) {
    scheduler.Push(Transfer(8, 64));
    EXPECT_EQ(Next(scheduler).session, 8u) << "round " << i;
    for (int j = 0; j < 20; ++j) EXPECT_NE(Next(scheduler).session, 8u);
  }
}

TEST(Scheduler, IdlenessEarnsNoCredit) {
  SliceOrder scheduler;
  for (int i = 0; i < 1000; ++i) scheduler.Push(Transfer(1, 256 << 10));
  for (int i = 0; i < 900; ++i) Next(scheduler);
  for (int i = 0; i < 100; ++i) scheduler.Push(Transfer(2, 256 << 10));
  int second = 0;
  for (int i = 0; i < 100; ++i) second += Next(scheduler).session == 2 ? 1 : 0;
  EXPECT_NEAR(second, 50, 10) << "a turn is ten of them";
}

TEST(Scheduler, WhoReallyTookLongerPaysForIt) {
  SliceOrder scheduler;
  std::map<uint64_t, int> turns;
  for (int i = 0; i < 1000; ++i) {
    scheduler.Push(ALaunch(1));
    scheduler.Push(ALaunch(2));
  }
  for (int i = 0; i < 1000; ++i) {
    const OrderedSlice slice = Next(scheduler);
    ++turns[slice.session];
    scheduler.Used(slice, slice.session == 1 ? microseconds(900) : microseconds(100));
  }
  EXPECT_NEAR(turns[2], 900, 20);
}

TEST(Scheduler, LearnsWhatLaunchesOfASessionTake) {
  SliceOrder scheduler;
  for (int i = 0; i < 100; ++i) scheduler.Push(ALaunch(1));
  OrderedSlice slice = Next(scheduler);
  EXPECT_EQ(slice.cost(), SchedulerOptions().launch_guess);
  for (int i = 0; i < 50; ++i) {
    scheduler.Used(slice, microseconds(10));
    slice = Next(scheduler);
  }
  EXPECT_LE(slice.cost(), microseconds(11));
}

TEST(Scheduler, LearnsWhatTransfersOfASessionTake) {
  SliceOrder scheduler;
  const Duration expected = [&] {
    scheduler.Push(Transfer(2));
    return Next(scheduler).cost();
  }();
  for (int i = 0; i < 50; ++i) {
    scheduler.Push(Transfer(1));
    scheduler.Used(Next(scheduler), 3 * expected);
  }
  scheduler.Push(Transfer(1));
  EXPECT_NEAR(static_cast<double>(Next(scheduler).cost().count()),
              3.0 * static_cast<double>(expected.count()),
              0.01 * static_cast<double>(expected.count()));
}

TEST(Scheduler, WhatIsNotWantedAnyMoreCostsNothing) {
  SliceOrder scheduler;
  std::map<uint64_t, int> turns;
  for (int i = 0; i < 2000; ++i) {
    scheduler.Push(Transfer(1));
    scheduler.Push(Transfer(2));
  }
  int wanted[3] = {};
  for (int i = 0; i < 2000; ++i) {
    const OrderedSlice slice = Next(scheduler);
    // Nine of ten of the first session's were cancelled.
    if (slice.session == 1 && ++turns[1] % 10 != 0) {
      scheduler.Refund(slice);
    } else {
      ++wanted[slice.session];
      scheduler.Used(slice, slice.cost());
    }
  }
  EXPECT_NEAR(wanted[1], wanted[2], 45) << "a quantum of 64 KiB transfers at most, and one slice";
}

// ---- turns

TEST(Scheduler, OperationsOfASessionFollowEachOther) {
  SliceOrder scheduler;
  const int in_quantum = [] {
    SliceOrder alone;
    alone.Push(Transfer(1));
    return static_cast<int>(SchedulerOptions().quantum / Next(alone).cost()) + 1;
  }();
  for (int i = 0; i < 1000; ++i) {
    scheduler.Push(Transfer(1));
    scheduler.Push(Transfer(2));
  }
  for (int i = 0; i < 2 * in_quantum; ++i) Next(scheduler);  // in the first round both are new
  std::vector<int> rows;
  uint64_t last = 0;
  for (int i = 0; i < 20 * in_quantum; ++i) {
    const uint64_t flow = Next(scheduler).session;
    if (flow != last) rows.push_back(0);
    ++rows.back();
    last = flow;
  }
  // From a quantum behind the other one to a quantum ahead of it.
  for (size_t i = 1; i + 1 < rows.size(); ++i) EXPECT_NEAR(rows[i], 2 * in_quantum, 2);
}

// ---- priorities

OrderedSlice Urgent(uint64_t session, Priority priority) {
  OrderedSlice one = Transfer(session);
  one.priority = priority;
  return one;
}

TEST(Scheduler, APriorityIsAFactorOfEight) {
  SliceOrder scheduler;
  std::map<uint64_t, int> turns;
  for (int i = 0; i < 7300; ++i) {
    scheduler.Push(Urgent(1, Priority::kLow));
    scheduler.Push(Urgent(2, Priority::kNormal));
    scheduler.Push(Urgent(3, Priority::kHigh));
  }
  for (int i = 0; i < 7300; ++i) ++turns[Next(scheduler).session];
  EXPECT_NEAR(turns[1], 100, 10);
  EXPECT_NEAR(turns[2], 800, 60);
  EXPECT_NEAR(turns[3], 6400, 120);
}

TEST(Scheduler, ForgetsSessionsThatAreGone) {
  SliceOrder scheduler;
  for (uint64_t flow = 1; flow <= 100; ++flow) {
    scheduler.Push(Transfer(flow, 64));
    const OrderedSlice slice = Next(scheduler);
    EXPECT_EQ(scheduler.flows(), 1u) << "an idle one may come back";
    scheduler.RemoveSession(flow);
    EXPECT_EQ(scheduler.users(), 1u) << "it still uses the card";
    if (flow % 2 == 0) scheduler.Used(slice, std::chrono::seconds(1));
    if (flow % 2 == 1) scheduler.Refund(slice);
    EXPECT_EQ(scheduler.flows(), 0u);
    EXPECT_EQ(scheduler.users(), 0u);
  }
  scheduler.RemoveSession(7);  // never seen, or forgotten already
  EXPECT_EQ(scheduler.flows(), 0u);
}

// ---- slices that wait for other queues

// Queue 0 of the session, which has begun command 1.
SessionQueue& Awaited(SliceOrder& order, uint64_t session) {
  SessionQueue& queue = order.QueueOf(Transfer(session));
  queue.timeline.Append(std::make_shared<Operation>());
  queue.timeline.back()->first_value = queue.timeline.back()->last_value = 1;
  queue.timeline.BeginNext(/*waits=*/false);
  return queue;
}

// The card has command 1, which is expected to take so long.
void Submit(SessionQueue& queue, const Ticket& ticket, Duration cost) {
  Slice slice;
  slice.operation = queue.timeline.back();
  slice.times.cost = cost;
  queue.slices.Append(std::move(slice));
  queue.slices.Submitted(ticket);
  queue.timeline.PassNext();
}

// A slice of queue 1 that waits for command 1 of `other`.
OrderedSlice Waiter(uint64_t session, const SessionQueue& other) {
  OrderedSlice one = Transfer(session, 64, 1);
  one.slice.after.push_back({&other, 1});
  return one;
}

TEST(Scheduler, AQueueWhoseNextSliceWaitsHasNoTurn) {
  SliceOrder scheduler;
  SessionQueue& other = Awaited(scheduler, 1);
  scheduler.Push(Waiter(1, other));
  scheduler.Push(Transfer(1, 64, 1, 7));
  scheduler.Push(Transfer(1, 64, 2));
  scheduler.Push(Transfer(2, 64, 3));
  EXPECT_NE(Next(scheduler).queue, 1u);
  EXPECT_NE(Next(scheduler).queue, 1u);
  OrderedSlice one;
  EXPECT_FALSE(scheduler.Pop(&one));
  EXPECT_TRUE(scheduler.empty()) << "there is nothing to do before the other queue moves";
  EXPECT_EQ(scheduler.size(), 1u);
  Submit(other, {0, 1000}, microseconds(10));
  EXPECT_FALSE(scheduler.empty());
  EXPECT_EQ(Next(scheduler).slice.after.size(), 1u);
  EXPECT_EQ(Next(scheduler).value, 7u) << "what stood behind it";
  EXPECT_TRUE(scheduler.empty());
}

TEST(Scheduler, AWaitForWhatTakesLongEndsWithIt) {
  SchedulerOptions options;
  options.longest_wait = microseconds(1000);
  SliceOrder scheduler(options);
  SessionQueue& other = Awaited(scheduler, 1);
  scheduler.Push(Waiter(1, other));
  Submit(other, {0, 5}, microseconds(1001));
  OrderedSlice one;
  EXPECT_FALSE(scheduler.Pop(&one));
  other.slices.Ended({0, 5});
  EXPECT_TRUE(scheduler.Pop(&one));
}

// A barrier that waits for a third queue has nothing for the card, and still has not happened.
TEST(Scheduler, AWaitForABarrierWhoseWaitsHaveNotEndedEndsWithTheBarrier) {
  SliceOrder scheduler;
  SessionQueue& other = Awaited(scheduler, 1);
  other.timeline.PassNext();
  other.slices.AddJoin(1);
  scheduler.Push(Waiter(1, other));
  OrderedSlice one;
  EXPECT_FALSE(scheduler.Pop(&one));
  other.slices.EndJoins(1);
  EXPECT_TRUE(scheduler.Pop(&one));
}

// ---- beside kernels on workers of their own

TileSet Workers(std::initializer_list<size_t> numbers) {
  TileSet tiles;
  for (const size_t number : numbers) tiles.set(number);
  return tiles;
}

OrderedSlice On(OrderedSlice one, const TileSet& workers) {
  one.workers = workers;
  return one;
}

// Runs there already, and is expected to take so long.
OrderedSlice Running(SliceOrder& order, OrderedSlice one, Duration cost) {
  order.Name(&one);
  one.slice.times.cost = cost;
  return one;
}

TEST(Scheduler, WhatNeedsBusyWorkersStaysAndOthersGoBeforeIt) {
  SliceOrder scheduler;
  BusyWorkers busy(microseconds(1000));
  const OrderedSlice runs = Running(scheduler, On(ALaunch(1), Workers({1, 2})), microseconds(5000));
  busy.Add(runs.slice);
  scheduler.Push(On(ALaunch(1), Workers({1, 2})));
  scheduler.Push(On(Transfer(2, 64), Workers({2})));
  scheduler.Push(On(ALaunch(3), Workers({3})));
  scheduler.Push(Transfer(4, 64));
  OrderedSlice slice;
  ASSERT_TRUE(scheduler.Pop(busy, &slice));
  EXPECT_EQ(slice.session, 3u);
  EXPECT_FALSE(scheduler.Pop(busy, &slice));
  scheduler.Push(On(Transfer(5, 64), Workers({7})));
  EXPECT_FALSE(scheduler.Pop(busy, &slice)) << "all workers are kept for session 4";
  busy.Remove(runs.slice);
  EXPECT_TRUE(busy.empty());
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(scheduler.Pop(busy, &slice));
}

// Session 1 was served last and may be served again; session 2, which has just come, is looked at in between and
// reserves worker 1 as well.
TEST(Scheduler, WhatOneSessionReserves_ChangesNoAnswerOfTheSamePop) {
  SliceOrder scheduler;
  BusyWorkers busy(microseconds(1000));
  const OrderedSlice runs = Running(scheduler, On(ALaunch(9), Workers({0})), microseconds(5000));
  busy.Add(runs.slice);
  OrderedSlice first, second, third;
  scheduler.Push(Transfer(2));
  ASSERT_TRUE(scheduler.Pop(BusyWorkers(microseconds(1000)), &first));
  scheduler.Push(On(ALaunch(1), Workers({3})));
  scheduler.Push(On(ALaunch(1), Workers({1})));
  ASSERT_TRUE(scheduler.Pop(busy, &second));
  ASSERT_EQ(second.session, 1u);
  scheduler.Used(first, microseconds(600));
  scheduler.Used(second, microseconds(100));
  scheduler.Push(On(ALaunch(2), Workers({0, 1})));
  ASSERT_TRUE(scheduler.Pop(busy, &third));
  EXPECT_EQ(third.session, 1u);
}

// Whatever is busy, nothing gets workers that it may not have, and everything is served in the end.
TEST(Scheduler, ServesEverythingWhateverTheWorkers) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    SliceOrder scheduler;
    BusyWorkers busy(microseconds(1000));
    std::vector<OrderedSlice> on_card;
    size_t pushed = 0, served = 0;
    while (pushed < 200 || served < pushed) {
      if (pushed < 200 && random() % 2 == 0) {
        const uint64_t flow = 1 + random() % 6;
        OrderedSlice one = random() % 4 == 0 ? Transfer(flow) : ALaunch(flow);
        one.uid = static_cast<uint32_t>(flow % 3);
        one.queue = random() % 3;
        one.slice.launches = 1;
        if (random() % 8 != 0) one.workers = Workers({random() % 5, random() % 5});
        one.value = one.workers.any() ? 1 : 0;  // keeps them busy
        scheduler.Push(std::move(one));
        ++pushed;
      }
      OrderedSlice slice;
      if (scheduler.Pop(busy, &slice)) {
        ASSERT_TRUE(busy.empty() || busy.Admit(slice.slice, slice.slice.route.workers))
            << "seed " << seed;
        if (slice.value == 1) busy.Add(slice.slice);
        on_card.push_back(std::move(slice));
      } else {
        ASSERT_FALSE(on_card.empty() && served < pushed && pushed == 200) << "seed " << seed;
      }
      if (on_card.empty() || random() % 3 != 0) continue;
      const size_t ends = random() % on_card.size();
      if (on_card[ends].value == 1) busy.Remove(on_card[ends].slice);
      scheduler.Used(on_card[ends], microseconds(random() % 3000));
      on_card.erase(on_card.begin() + static_cast<std::ptrdiff_t>(ends));
      ++served;
    }
  }
}

TEST(Scheduler, AFewShortLaunchesOfASessionFollowEachOther) {
  SliceOrder scheduler;
  BusyWorkers busy(microseconds(1000));
  for (int i = 0; i < 10; ++i) scheduler.Push(On(ALaunch(1), Workers({1})));
  std::vector<OrderedSlice> on_card;
  for (OrderedSlice slice; scheduler.Pop(busy, &slice);) {
    busy.Add(slice.slice);
    on_card.push_back(std::move(slice));
  }
  EXPECT_EQ(on_card.size(), 4u) << "of a guessed 250 us each";
  scheduler.Push(On(ALaunch(2), Workers({1})));
  busy.Remove(on_card.back().slice);
  OrderedSlice slice;
  EXPECT_FALSE(scheduler.Pop(busy, &slice)) << "two sessions would answer for each other";
  on_card.pop_back();
  for (const OrderedSlice& ended : on_card) busy.Remove(ended.slice);
  ASSERT_TRUE(scheduler.Pop(busy, &slice));
  EXPECT_EQ(slice.session, 2u) << "nobody overtook it";
}

TEST(Scheduler, WhoHasNothingLeftGoesOnBesideWhoWaitsForBusyWorkers) {
  SliceOrder scheduler;
  BusyWorkers busy(microseconds(1000));
  const OrderedSlice runs = Running(scheduler, On(ALaunch(1), Workers({1})), microseconds(5000));
  busy.Add(runs.slice);
  scheduler.Push(On(ALaunch(1), Workers({1})));
  for (int i = 0; i < 100; ++i) scheduler.Push(On(Transfer(2, 64 << 10), Workers({2})));
  OrderedSlice slice;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(scheduler.Pop(busy, &slice));
    EXPECT_EQ(slice.session, 2u);
  }
  EXPECT_FALSE(scheduler.Pop(busy, &slice));
}

TEST(Scheduler, WaitingEarnsNoCredit) {
  SliceOrder scheduler;
  SessionQueue& other = Awaited(scheduler, 2);
  for (int i = 0; i < 1000; ++i) scheduler.Push(Transfer(1, 256 << 10));
  scheduler.Push(Waiter(2, other));
  for (int i = 0; i < 99; ++i) scheduler.Push(Transfer(2, 256 << 10, 1));
  for (int i = 0; i < 800; ++i) EXPECT_EQ(Next(scheduler).session, 1u);
  other.completed = 1;
  int second = 0;
  for (int i = 0; i < 100; ++i) second += Next(scheduler).session == 2 ? 1 : 0;
  EXPECT_NEAR(second, 50, 10) << "a turn is ten of them";
}

TEST(Scheduler, AKernelOnWorkersOfItsOwnIsChargedForThese) {
  SchedulerOptions options;
  options.workers = 10;
  SliceOrder scheduler(options);
  std::map<uint64_t, int> turns;
  for (int i = 0; i < 1000; ++i) {
    scheduler.Push(On(ALaunch(1), Workers({1, 2})));
    scheduler.Push(ALaunch(2));
  }
  for (int i = 0; i < 600; ++i) {
    const OrderedSlice slice = Next(scheduler);
    ++turns[slice.session];
    scheduler.Used(slice, microseconds(100));
  }
  EXPECT_NEAR(turns[1], 500, 60) << "two of ten workers: five times as many";
}

TEST(Scheduler, AReplayCostsWhatItsLaunchesDo) {
  SliceOrder scheduler;
  scheduler.Push(ALaunch(1));
  scheduler.Used(Next(scheduler), microseconds(100));
  OrderedSlice replay = ALaunch(1);
  replay.slice.launches = 50;
  scheduler.Push(std::move(replay));
  scheduler.Push(ALaunch(1));
  const Duration fifty = Next(scheduler).cost();
  const Duration one = Next(scheduler).cost();
  EXPECT_NEAR(static_cast<double>(fifty.count()), 50.0 * static_cast<double>(one.count()), 1000.0);
}

}  // namespace
}  // namespace ttfd::scheduler_test
