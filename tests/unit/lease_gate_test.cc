// Which works are taken while workers are leased, and with which workers; all of it decided of one moment.
#include "daemon/scheduler/lease_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "daemon/scheduler/scheduler.h"

namespace ttfd::lease_gate_test {
namespace {

constexpr GridSize kGrid{4, 10};

TileSet Tiles(CoreRange range) { return TilesOf(range, kGrid); }

const TileSet kAll = Tiles({0, 0, 3, 9});
const TileSet kLeased = Tiles({2, 0, 3, 9});

Work OfQueue(Command command, const TileSet& workers = {}) {
  Work work;
  work.flow = 7;
  work.track = std::make_shared<WorkTrack>(Route{0, workers});
  work.route = work.track->route();
  work.launches = std::holds_alternative<FillCommand>(command) ||
                          std::holds_alternative<RecordTraceCommand>(command)
                      ? 0
                      : 1;
  work.command = std::move(command);
  return work;
}

Work LaunchOn(CoreRange cores) {
  auto program = std::make_shared<Program>();
  program->tiles = Tiles(cores);
  LaunchCommand launch;
  launch.program = std::move(program);
  return OfQueue(launch);
}

Work Replay() { return OfQueue(ReplayTraceCommand{}); }

TEST(LeaseGate, TakesWhatRunsBesideTheLeasedWorkersAndGivesItTheOthers) {
  LeaseGate gate;
  gate.Set(false, kLeased, kAll);
  gate.Look();
  const Work beside = LaunchOn({0, 0, 1, 9});
  EXPECT_TRUE(gate.Admits(beside));
  EXPECT_EQ(gate.WorkersOf(beside), kAll & ~kLeased);
  const Work transfer = OfQueue(FillCommand{});
  EXPECT_TRUE(gate.Admits(transfer));
  EXPECT_EQ(gate.WorkersOf(transfer), kAll & ~kLeased);
  EXPECT_FALSE(gate.Admits(LaunchOn({1, 0, 2, 0})));
  EXPECT_FALSE(gate.Admits(Replay())) << "its records are made for all workers";
  EXPECT_FALSE(gate.Admits(OfQueue(RecordTraceCommand{})));
  EXPECT_TRUE(gate.Admits(OfQueue(ReplayTraceCommand{}, Tiles({0, 0, 0, 0}))));
  EXPECT_FALSE(gate.Admits(OfQueue(ReplayTraceCommand{}, Tiles({1, 1, 2, 2}))));
}

TEST(LeaseGate, WhatWasAdmittedBeforeALeaseIsNotNarrowedForIt) {
  LeaseGate gate;
  gate.Look();
  const Work replay = Replay();
  EXPECT_TRUE(gate.Admits(replay));
  gate.Set(false, kLeased, kAll);  // by another thread, between the two
  EXPECT_TRUE(gate.WorkersOf(replay).none()) << "the card would refuse the trace";
  gate.Look();
  EXPECT_FALSE(gate.Admits(replay));
}

TEST(LeaseGate, ATraceKeepsItsWorkersHoweverLeasesComeAndGo) {
  LeaseGate gate;
  Scheduler scheduler({}, &gate);
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
    Work work;
    while (!scheduler.Pop(&work)) std::this_thread::yield();
    narrowed += work.route.workers.any() ? 1 : 0;
    scheduler.Used(work, work.cost);
  }
  stop = true;
  leases.join();
  EXPECT_EQ(narrowed, 0);
  EXPECT_TRUE(scheduler.empty());
}

}  // namespace
}  // namespace ttfd::lease_gate_test
