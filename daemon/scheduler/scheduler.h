// One fair order over the works of all sessions that go to one hardware queue. A pure data structure: no thread, no
// clock.
//
// Each session is a flow. A flow pays for what it uses, divided by its weight; the flow that has
// paid least goes first. A flow that was idle starts where the poorest active flow stands, so that
// idleness earns no credit and costs no place. Within a flow its queues take turns, within a queue
// works keep their order. A queue whose next work waits for another queue has no turn, and a flow of
// such queues only is idle meanwhile.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "daemon/engine/work.h"
#include "daemon/scheduler/lease_gate.h"

namespace ttfd {

struct SchedulerOptions {
  // First guesses of device time, until a flow's own launches tell better: a launch may be anything,
  // so a newcomer's few are let ahead at a time.
  Duration launch_guess = std::chrono::microseconds(250);
  Duration transfer_overhead = std::chrono::microseconds(2);
  double transfer_ns_per_byte = 0.4;  // about 2.5 GB/s
  // The most a flow that comes back may be behind: who had the card to itself is not punished for it
  // without bound.
  Duration debt = std::chrono::seconds(1);
  // Idle flows remembered. Forgetting one forgives its debt, so there are more than sessions.
  size_t remembered_flows = 4096;
  // A work whose waits the card can see the end of so soon is given to it; of others it hears when they are over.
  Duration longest_wait = std::chrono::milliseconds(1);
};

// Device thread only.
class Scheduler final : public WorkQueue {
 public:
  // `gate` outlives the scheduler; null: everything may be taken.
  explicit Scheduler(const SchedulerOptions& options, LeaseGate* gate = nullptr)
      : options_(options), gate_(gate), forget_at_(options.remembered_flows) {}

  void Push(Work work) override;
  bool Pop(Work* work) override;
  void Used(const Work& work, Duration device_time) override;
  // Nothing here but works that wait for leases to end.
  bool empty() const override;

  size_t size() const { return size_; }
  size_t flows() const { return flows_.size(); }

 private:
  struct Lane {
    uint32_t queue = 0;
    std::deque<Work> works;
  };
  struct Flow {
    double paid = 0;  // nanoseconds of device time over weight
    uint32_t weight = 1;
    uint64_t served = 0;     // when it last had its turn: breaks ties
    double launch_ns = 0;    // what its launches take, a moving average
    size_t size = 0;         // works in all lanes
    size_t next_lane = 0;    // round robin
    std::deque<Lane> lanes;  // never moved: works cannot be copied
  };

  Flow& FlowOf(const Work& work);
  Duration Estimate(const Flow& flow, const Work& work) const;
  bool Admits(const Lane& lane) const;
  bool HasTurn(const Lane& lane) const;
  bool HasTurn(const Flow& flow) const;
  void ForgetIdleFlows();

  const SchedulerOptions options_;
  LeaseGate* const gate_;
  std::unordered_map<uint64_t, std::unique_ptr<Flow>> flows_;
  std::vector<Flow*> active_;  // those with works; few enough to look through
  double floor_ = 0;           // what the poorest active flow had paid at the last Pop
  uint64_t turns_ = 0;
  size_t size_ = 0;
  size_t forget_at_;  // flows; rises when they cannot be forgotten, so that looking stays cheap
};

}  // namespace ttfd
