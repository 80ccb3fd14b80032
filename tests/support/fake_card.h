// A card in a few lines: commands act on sparse memory when polled, or hang, fault, refuse and take
// time as a test wishes. Both hardware queues are carried on side by side, kernels on workers of their
// own run at once.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/card/card.h"
#include "tests/support/fake_memory.h"

namespace ttfd {

class FakeCard final : public CardProbe, public Card {
 public:
  struct Behaviour {
    GridSize grid{4, 10};  // as many rows as every Blackhole card has
    uint32_t dram_banks = 4;
    uint64_t dram_bank_bytes = 1 << 20;
    uint32_t l1_bytes = 256 << 10;
    bool memory_is_zero_after_power_on = true, memory_survives_reset = true;
    bool runs_by_itself = false, resets_chip = false;
  };
  explicit FakeCard(const Behaviour& behaviour);

  Status Boot(ResetStrength strength, Tick tick) override;
  Status CheckPresence() override { return presence; }
  StatusOr<std::optional<uint64_t>> TrySubmit(const Route& route, const Command& command,
                                              std::span<const Ticket> after) override;
  StatusOr<bool> RequestEvent(const Ticket& ticket) override;
  StatusOr<bool> Poll(absl::FunctionRef<bool()> interrupted, CardOutput* output) override;
  CardStop Halt(CardOutput* output) override;
  Status Shutdown(const ShutdownLimits& limits, Tick tick, CardOutput* output) override;

  StatusOr<uint64_t> LookAt(uint32_t hardware_queue) override;
  StallReport Diagnose(uint32_t hardware_queue) override;
  std::vector<HartReport> Harts() override;
  HostQueueRecord HostRecord(uint32_t hardware_queue) override;
  std::vector<ResidentKernel> Kernels() const override { return {}; }
  Status StartProfile(const ProfileOptions& /*options*/) override {
    return Error(StatusCode::kUnimplemented, "this card cannot be profiled");
  }
  ProfileResult StopProfile() override { return {}; }

  uint64_t submitted(uint32_t queue) const { return queues_[queue].submitted; }
  uint64_t completed(uint32_t queue) const {
    const Queue& of = queues_[queue];
    return of.open.empty() ? of.submitted : *of.open.begin() - 1;
  }
  // Kernels have printed: the next Poll or Halt outputs it.
  void Print(const Ticket& ticket, KernelPrint print) {
    prints_.push_back({ticket, std::move(print)});
  }

  // ---- what a test changes and looks at. With a running device thread only before it starts.

  FakeMemory memory;
  bool hold = false;  // nothing completes, nothing moves
  size_t room = 64;   // commands in flight that fit each hardware queue
  size_t completes_per_poll = ~size_t{0};
  ManualClock* clock = nullptr;  // a completed command moves it by...
  std::function<Duration(const Command&)> cost;
  std::function<Status(const LaunchCommand&)> on_launch;  // a failed status faults the card
  std::function<Status(const Command&)> on_submit;    // a failed status: the card does not take it
  std::function<bool(const LaunchCommand&)> runs_on;  // true: the kernels have not ended yet
  std::function<bool(uint32_t queue)> late_completions;  // true: its events have not been seen yet
  std::function<void()> on_halt;                         // prints what was printed then
  std::vector<TracePatch> patches;                       // of all replays
  int moves = 0;      // so many times the card says that something has moved
  StallReport stall;  // what Halt returns, with Harts and a hart of each launch that may be running
  std::function<bool(uint32_t queue)> waits_for_queue;  // it tells this of the queue
  int failing_boots = 0;
  Status presence;  // not OK: the card is lost
  std::function<void()> on_boot, on_diagnose;
  std::function<bool()> boot_lasts;  // true: a boot still waits for the card
  std::function<std::optional<ExecutionState>(const Ticket&)> state;  // in place of its own
  Status next_poll;      // not OK: the next Poll fails with it
  bool stalled = false;  // Poll says that nothing can move, if nothing has ended
  int boots = 0;
  std::atomic<int> reports{0};                   // calls of Harts
  bool halted = false;                           // since the last boot
  ShutdownLimits shut_down_within{.total = {}};  // 0: it was not
  // "write 64", "launch", "event", "chip reset", in their order; of hardware queue 1 "1: write 64". A wait is
  // "wait for 1:7"; "record 2" and "replay 2" tell the launches of a segment of a trace.
  std::vector<std::string> log;
  bool keep_log = true;
  std::vector<Route> routes;  // of the commands

 private:
  struct Pending {
    enum class Kind { kCommand, kEvent, kWait };
    Kind kind = Kind::kCommand;
    Route route;
    Ticket ticket;  // its own; of a wait what it waits for
    Command command;
    std::string payload;
    std::set<uint64_t> tickets = {};  // of an event: that it tells of
    Duration cost{};
  };
  struct Queue {
    uint64_t submitted = 0;
    std::set<uint64_t> open;                // tickets that the host does not know to be done
    std::set<uint64_t> unseen;              // of these, those that the card has reported
    std::set<uint64_t> independent;         // of these, launches on workers of their own
    std::map<uint64_t, uint32_t> programs;  // of launches, by ticket
    uint64_t passed = 0;                    // left `pending`: done, or running
    std::deque<Pending> pending;
    std::deque<Pending> running;  // launches whose kernels have not ended
    uint64_t Done() const { return running.empty() ? passed : running.front().ticket.number - 1; }
  };
  void Log(uint32_t queue, std::string entry);
  void EndKernels(Queue& queue);
  bool MayGoOn(const Queue& queue) const;
  Status GoOn(Queue& queue, size_t* left);
  Status Act(Pending& pending);
  StallReport Explain();
  ExecutionState StateOf(const Ticket& ticket);

  CardDescription card_;
  CardGeometry geometry_;
  DeviceInfo info_;
  bool booted_ = false;
  uint64_t look_ = 0;
  uint64_t progress_ = 0;
  std::array<Queue, kHardwareQueues> queues_;
  std::set<std::pair<const Trace*, uint32_t>> recorded_;  // segments
  std::vector<CardOutput::Print> prints_;                 // of no output yet
};

}  // namespace ttfd
