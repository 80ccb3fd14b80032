// The order of the operations of all sessions that go to one hardware queue. A pure data structure: no thread, no
// clock.
//
// Whose operation is next is decided by the fair queue (fair_queue.h): users share device time, the sessions of a
// user share what it gets. Within a session its queues alternate, within a queue operations keep their order. This
// class adds what may be taken at all, and what an operation is expected to cost.
//
// A queue whose next operation waits for another queue, or for a lease of others to end, is skipped. An operation
// that the card would not come to before kernels on some workers have ended (busy_workers.h) stays here until they
// have; others that need none of these workers go before it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>

#include "daemon/engine/busy_workers.h"
#include "daemon/engine/work.h"
#include "daemon/scheduler/fair_queue.h"
#include "daemon/scheduler/lease_gate.h"

namespace ttfd {

struct SchedulerOptions {
  // Device time for which a session's operations may follow each other while others wait.
  Duration quantum = std::chrono::milliseconds(1);
  // First guesses of device time, until a session's own operations show better: a launch may be anything, so few of a
  // newcomer's are taken at a time.
  Duration launch_guess = std::chrono::microseconds(250);
  Duration transfer_overhead = std::chrono::microseconds(2);
  double transfer_ns_per_byte = 0.4;  // about 2.5 GB/s
  // An operation whose waits the card can see the end of so soon is given to it; others stay here until they are over.
  Duration longest_wait = std::chrono::milliseconds(1);
  // Workers of the card: an operation on workers of its own is charged for these alone. 0: for all.
  size_t workers = 0;
};

// A session's share of a contended card, relative to 1: a low priority has an eighth, a high one eight times as much.
inline double ShareOf(uint32_t weight, Priority priority) {
  constexpr double kFactors[] = {0.125, 1, 8};
  return (weight == 0 ? 1 : weight) * kFactors[static_cast<size_t>(priority) - 1];
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
  void Refund(const Work& work) override;
  void Forget(uint64_t flow) override;
  // The flow has used so much of the device thread's time for its input.
  void Charge(uint64_t flow, Duration time);
  // Nothing here but operations that wait for leases to end, or for other queues.
  bool empty() const override;
  size_t size() const override { return size_; }

  size_t flows() const { return flows_.size(); }
  size_t users() const { return fair_.users(); }

 private:
  struct Lane {
    uint32_t queue = 0;
    size_t index = 0;  // of itself
    std::deque<Work> works;
  };
  // A session's operations, and what the ones before them cost.
  struct Flow : FairQueue::Flow {
    double launch_ns = 0;  // moving average
    double slowness = 1;   // of its transfers: cost over expectation, moving average
    size_t size = 0;       // operations in all lanes
    size_t last_lane = 0;  // round robin
    std::deque<Lane> lanes;
    uint64_t examined = 0;  // number of the last Pop that looked for `next`
    Lane* next =
        nullptr;  // what that Pop would take; found once, because what one flow reserves changes the answer
  };

  Flow& FlowOf(const Work& work);
  bool HasTurn(const Lane& lane) const;
  // What the card may be given now. A flow whose next operation waits for kernels on workers of their own reserves the
  // workers that it waits for: no flow after it may have those, or it would wait for ever.
  struct Beside {
    const BusyWorkers& busy;
    bool all_kept = false;
    TileSet kept = {};
  };
  bool Admits(const Work& work, Beside* beside) const;
  Lane* NextLane(Flow& flow, Beside* beside) const;
  void Take(Flow& flow, Work* work);
  // The part of the card that the operation has.
  double PartOf(const Work& work) const;
  void End(const Work& work, double device_time);
  double Expected(const Flow& flow, const Work& work) const;
  void Learn(Flow& flow, const Work& work, double used);

  const SchedulerOptions options_;
  LeaseGate* const gate_;
  FairQueue fair_;
  std::map<uint64_t, std::unique_ptr<Flow>> flows_;  // by session
  size_t size_ = 0;
  uint64_t pops_ = 0;
};

}  // namespace ttfd
