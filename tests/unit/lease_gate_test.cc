// Which slices are taken while workers are leased, and with which workers; all of it decided of one moment.
#include "daemon/card/lease_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/support/slice_order.h"

namespace ttfd::lease_gate_test {
namespace {

constexpr GridSize kGrid{4, 10};

TileSet Tiles(CoreRange range) { return TilesOf(range, kGrid); }

const TileSet kAll = Tiles({0, 0, 3, 9});
const TileSet kLeased = Tiles({2, 0, 3, 9});

OrderedSlice OfQueue(Command command, const TileSet& workers = {}) {
  static SliceOrder order;  // has the queues
  OrderedSlice one;
  one.session = 7;
  one.workers = workers;
  one.slice.launches = std::holds_alternative<FillCommand>(command) ||
                               std::holds_alternative<RecordTraceCommand>(command)
                           ? 0
                           : 1;
  one.slice.command = std::move(command);
  order.Name(&one);
  return one;
}

OrderedSlice LaunchOn(CoreRange cores) {
  auto program = std::make_shared<Program>();
  program->tiles = Tiles(cores);
  LaunchCommand launch;
  launch.program = std::move(program);
  return OfQueue(launch);
}

OrderedSlice Replay() { return OfQueue(ReplayTraceCommand{}); }

TEST(LeaseGate, TakesWhatRunsBesideTheLeasedWorkersAndGivesItTheOthers) {
  LeaseGate gate;
  gate.Set(false, kLeased, kAll);
  gate.Look();
  const OrderedSlice beside = LaunchOn({0, 0, 1, 9});
  EXPECT_TRUE(gate.Admits(beside.slice));
  EXPECT_EQ(gate.WorkersOf(beside.slice), kAll & ~kLeased);
  const OrderedSlice transfer = OfQueue(FillCommand{});
  EXPECT_TRUE(gate.Admits(transfer.slice));
  EXPECT_EQ(gate.WorkersOf(transfer.slice), kAll & ~kLeased);
  EXPECT_FALSE(gate.Admits(LaunchOn({1, 0, 2, 0}).slice));
  EXPECT_FALSE(gate.Admits(Replay().slice)) << "its records are made for all workers";
  EXPECT_FALSE(gate.Admits(OfQueue(RecordTraceCommand{}).slice));
  EXPECT_TRUE(gate.Admits(OfQueue(ReplayTraceCommand{}, Tiles({0, 0, 0, 0})).slice));
  EXPECT_FALSE(gate.Admits(OfQueue(ReplayTraceCommand{}, Tiles({1, 1, 2, 2})).slice));
}

TEST(LeaseGate, WhatWasAdmittedBeforeALeaseIsNotNarrowedForIt) {
  LeaseGate gate;
  gate.Look();
  const OrderedSlice replay = Replay();
  EXPECT_TRUE(gate.Admits(replay.slice));
  gate.Set(false, kLeased, kAll);  // by another thread, between the two
  EXPECT_TRUE(gate.WorkersOf(replay.slice).none()) << "the card would refuse the trace";
  gate.Look();
  EXPECT_FALSE(gate.Admits(replay.slice));
}

TEST(LeaseGate, ATraceKeepsItsWorkersHoweverLeasesComeAndGo) {
  LeaseGate gate;
  SliceOrder scheduler({}, &gate);
  std::atomic<bool> stop{false};
  std::thread leases([&] {
    while (!stop) {
      gate.Set(false, kLeased, kAll);
      gate.Set(false, {}, kAll);
    }
  });
  constexpr int kReplays = 20'000;
  int narrowed = 0;
  for (int i = 0; i < kReplays; ++i) {
    scheduler.Push(Replay());
    OrderedSlice one;
    while (!scheduler.Pop(&one)) std::this_thread::yield();
    narrowed += one.slice.route.workers.any() ? 1 : 0;
    scheduler.Used(one, one.cost());
  }
  stop = true;
  leases.join();
  EXPECT_EQ(narrowed, 0);
  EXPECT_TRUE(scheduler.empty());
}

}  // namespace
}  // namespace ttfd::lease_gate_test
