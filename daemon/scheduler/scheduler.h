// One fair order over the works of all sessions that go to one hardware queue: deficit round robin over measured
// device time. A pure data structure: no thread, no clock. docs/adr/0019 says why it is so.
//
// Each session is a flow. Time goes in rounds; in each a flow may use a grant of device time: the quantum, in
// proportion to its share, the largest share of those that wait having the whole of it. A flow has a turn while it has
// some of its grant left; what it used beyond it is taken off the next ones, so that in the end it is device time that
// is shared, whatever the size of the works. When nobody has a turn the next round begins.
//
// Within a round go first: higher priority; then flows that did not use up their last grant ("light"), of them the
// one that has most of its share left; then the others, one after the other, each to the end of its grant. A light
// flow so waits for what the card has been given already, not for a round.
//
// No flow waits for ever: one that has grant left waits for the rest of the round, which is at most a quantum and one
// work for each other flow, whatever the weights and priorities. One that has used more than its share
// skips rounds, but never more than `aging_rounds`; what it still owes then is forgiven.
//
// A session that ends leaves what it owes, or has left of its grant, to its user: the next new flow of that user goes
// on where the one of those gone that had the most was, as if it had stayed. So nothing is won by coming again as
// another session, and who opens a second one beside it has two shares as before.
//
// Within a flow its queues take turns, within a queue works keep their order. A queue whose next work waits for
// another queue, or for a lease of others to end, has no turn, and a flow of such queues only is idle meanwhile.
// Idleness earns no credit. A work that the card would not come to before kernels on some workers have ended
// (busy_workers.h) stays here until they have; others that need none of these workers go before it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "daemon/engine/busy_workers.h"
#include "daemon/engine/work.h"
#include "daemon/scheduler/lease_gate.h"

namespace ttfd {

struct SchedulerOptions {
  // Device time that the flow with the largest share may use in a round.
  Duration quantum = std::chrono::milliseconds(1);
  // Rounds in a row that a flow may be left out of for what it used before.
  uint32_t aging_rounds = 1000;
  // First guesses of device time, until a flow's own works tell better: a launch may be anything, so a newcomer's few
  // are let ahead at a time.
  Duration launch_guess = std::chrono::microseconds(250);
  Duration transfer_overhead = std::chrono::microseconds(2);
  double transfer_ns_per_byte = 0.4;  // about 2.5 GB/s
  // A work whose waits the card can see the end of so soon is given to it; of others it hears when they are over.
  Duration longest_wait = std::chrono::milliseconds(1);
};

// What a session's share of a contended card is, relative to others'.
inline uint64_t ShareOf(uint32_t weight, Priority priority) {
  constexpr uint64_t kFactors[] = {1, 8, 64};  // low, normal, high
  return (weight == 0 ? 1 : weight) * kFactors[static_cast<size_t>(priority)];
}

// Device thread only.
class Scheduler final : public WorkQueue {
 public:
  // `gate` outlives the scheduler; null: everything may be taken.
  explicit Scheduler(const SchedulerOptions& options, LeaseGate* gate = nullptr);

  void Push(Work work) override;
  bool Pop(const BusyWorkers& busy, Work* work) override;
  bool Pop(Work* work) { return Pop(BusyWorkers(), work); }
  void Used(const Work& work, Duration device_time) override;
  void GivenBack(const Work& work) override;
  void Forget(uint64_t flow) override;
  // Nothing here but works that wait for leases to end, or for other queues.
  bool empty() const override;
  size_t size() const override { return size_; }

  size_t flows() const { return flows_.size(); }
  size_t gone() const { return gone_.size(); }
  uint64_t rounds() const { return round_; }

 private:
  struct Lane {
    uint32_t queue = 0;
    size_t index = 0;  // of itself
    std::deque<Work> works;
  };
  // Of those that are gone, each with what it had last; more of them are not remembered.
  static constexpr size_t kMostGone = 4096;

  // What a flow has had.
  struct Standing {
    double balance = 0;  // nanoseconds of this round's grant left; not more than 0: no turn
    uint64_t round = 0;  // that the balance is of; the present one while there are works
    bool light = true;   // had some of its grant left when the last round ended
    uint64_t place = 0;  // of those alike the lowest goes first
  };
  struct Gone {
    uint32_t uid = 0;
    uint64_t share = 1;
    Standing standing;
  };
  struct Flow : Standing {
    uint32_t uid = 0;
    uint64_t share = 1;
    Priority priority = Priority::kNormal;
    uint64_t due = 0;      // the round in which it has a turn whatever it owes
    double launch_ns = 0;  // what its launches take, a moving average
    // Of its transfers: what they took over what was expected, a moving average.
    double slowness = 1;
    size_t size = 0;         // works in all lanes
    size_t next_lane = 0;    // round robin
    std::deque<Lane> lanes;  // never moved: works cannot be copied
  };
  struct GoesBefore {
    bool operator()(const Flow* a, const Flow* b) const;
  };

  Flow& FlowOf(const Work& work);
  double Grant(uint64_t share) const;
  double Grant(const Flow& flow) const { return Grant(flow.share); }
  bool IsPaid(const Gone& gone) const;
  void TakeOver(Flow& flow);
  void Refill(Flow& flow, uint64_t rounds);
  void Activate(Flow& flow);
  void Enter(Flow& flow);
  void Leave(Flow& flow);
  void SetBalance(Flow& flow, double balance);
  bool HasTurn(const Lane& lane) const;
  // What the card may be given now. Whoever has a turn and has to wait for kernels apart keeps the workers it waits
  // for: nobody who comes after it may have those, or it would wait for ever.
  struct Beside {
    const BusyWorkers& busy;
    bool all_kept = false;
    TileSet kept = {};
  };
  bool Admits(const Work& work, Beside* beside) const;
  Lane* NextLane(Flow& flow, Beside* beside) const;
  void Take(Flow& flow, Lane& lane, Work* work);
  bool NextRound(const Beside& beside);
  uint64_t RoundsUntilTurn(const Flow& flow) const;
  double Expected(const Flow& flow, const Work& work) const;
  void Learn(Flow& flow, const Work& work, double used);

  const SchedulerOptions options_;
  const double quantum_ns_;
  LeaseGate* const gate_;
  std::unordered_map<uint64_t, std::unique_ptr<Flow>> flows_;  // also idle ones: debts stay
  std::deque<Gone> gone_;  // the one that went first is the first; what it had still counts
  // Flows with works: those with grant left, in their order, and those without.
  std::set<Flow*, GoesBefore> ready_;
  std::set<Flow*> spent_;
  double grant_per_share_;  // nanoseconds, in this round
  uint64_t round_ = 0;
  uint64_t places_ = 0;
  size_t size_ = 0;
};

}  // namespace ttfd
