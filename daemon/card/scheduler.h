// Which session's queue may give its next slice to the card: the order of all sessions on one hardware queue. A pure
// data structure: no thread, no clock.
//
// The scheduler pulls. Slices stay in the queues of their sessions until the card has taken them; listed here are the
// queues that have one. Who is next is decided by the fair queue (fair_queue.h): users share device time, the sessions
// of a user share what it gets. Within a session its queues alternate. This class adds what may be taken at all, and
// what a slice is expected to cost.
//
// A queue whose next slice waits for another queue, or for a lease of others to end, is skipped. A slice that the card
// would not come to before kernels on some workers have ended (busy_workers.h) stays in its queue until they have;
// others that need none of these workers go before it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "daemon/card/busy_workers.h"
#include "daemon/card/fair_queue.h"
#include "daemon/card/lease_gate.h"
#include "daemon/session/session_queue.h"

namespace ttfd {

struct SchedulerOptions {
  // Device time for which a session's slices may follow each other while others wait.
  Duration quantum = std::chrono::milliseconds(1);
  // First guesses of device time, until a session's own slices show better: a launch may be anything, so few of a
  // newcomer's are taken at a time.
  Duration launch_guess = std::chrono::microseconds(250);
  Duration transfer_overhead = std::chrono::microseconds(2);
  double transfer_ns_per_byte = 0.4;  // about 2.5 GB/s
  // A slice whose waits the card can see the end of so soon is given to it; others stay here until they are over.
  Duration longest_wait = std::chrono::milliseconds(1);
  // Workers of the card: a slice on workers of its own is charged for these alone. 0: for all.
  size_t workers = 0;
};

// A session's share of a contended card, relative to 1: a low priority has an eighth, a high one eight times as much.
inline double ShareOf(uint32_t weight, Priority priority) {
  constexpr double kFactors[] = {0.125, 1, 8};
  return (weight == 0 ? 1 : weight) * kFactors[static_cast<size_t>(priority) - 1];
}

// Device thread only.
class Scheduler {
 public:
  // `gate` outlives the scheduler; null: everything may be taken.
  explicit Scheduler(const SchedulerOptions& options, LeaseGate* gate = nullptr);

  // The queue has a next slice now, or has none any more.
  void NextSliceChanged(SessionQueue& queue);
  // The queue whose next slice may be taken next to these; null: none. Fills in the slice's cost and workers.
  SessionQueue* Next(const BusyWorkers& busy);
  // The card takes the slice of the queue that Next returned last, which is still there. It ends with Used or Refund,
  // once.
  void Started(const SessionQueue& queue);
  // A slice that was started took so long.
  void Used(const Slice& slice, Duration device_time);
  // A slice that was started took nothing, or what it took is not known.
  void Refund(const Slice& slice);
  // The session has no queues any more.
  void RemoveSession(uint64_t session);
  // The session has used so much of the device thread's time for its input.
  void Charge(uint64_t session, Duration time);
  // Nothing may be taken, whatever is on the card: all next slices wait for leases to end, or for other queues.
  bool empty() const;
  // Queues that have a next slice.
  size_t size() const { return size_; }

  size_t flows() const { return flows_.size(); }
  size_t users() const { return fair_.users(); }

 private:
  // The queues of a session, and what their slices cost so far.
  struct Flow : FairQueue::Flow {
    double launch_ns = 0;               // moving average
    double slowness = 1;                // of its transfers: cost over expectation, moving average
    size_t listed = 0;                  // queues that have a next slice
    size_t last_queue = 0;              // round robin
    std::vector<SessionQueue*> queues;  // that have had one
    uint64_t examined = 0;              // number of the last call of Next that looked for `next`
    // Candidate of that call; found once, because what one flow reserves changes the answer.
    SessionQueue* next = nullptr;
  };

  Flow& FlowOf(const SessionShare& share);
  bool IsEligible(const SessionQueue& queue) const;
  // Bounds of what the card may be given now. A flow whose next slice waits for kernels on workers of their own
  // reserves the workers that it waits for: no flow after it may have those, or it would wait for ever.
  struct Admission {
    const BusyWorkers& busy;
    bool all_kept = false;
    TileSet kept = {};
  };
  const TileSet& WorkersOf(const Slice& slice) const;
  bool Admits(const Slice& slice, Admission* admission) const;
  SessionQueue* NextQueue(Flow& flow, Admission* admission) const;
  // The part of the card that the slice has.
  double PartOf(const Slice& slice) const;
  void End(const Slice& slice, double device_time);
  double Expected(const Flow& flow, const Slice& slice) const;
  void Learn(Flow& flow, const Slice& slice, double used);

  const SchedulerOptions options_;
  LeaseGate* const gate_;
  FairQueue fair_;
  std::map<uint64_t, std::unique_ptr<Flow>> flows_;  // by session
  size_t size_ = 0;
  uint64_t calls_ = 0;  // of Next
};

}  // namespace ttfd
