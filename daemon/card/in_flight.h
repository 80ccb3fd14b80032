// The slices that the card has and that have not ended, in order, of all hardware queues: requests events,
// takes off what has ended, measures how long each slice had the card, and hands ended slices to their sessions.
//
// A launch has an event of its own, and so has the slice before it, so that a hang or fault is known to be this
// launch's. Independent launches have none: the card publishes their ends (Card::RequestEvent). The event of a launch
// is requested after the next launch, so that the card starts that while the first still runs, unless the two may not
// overlap (MayOverlap): then it is requested between them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "daemon/card/card_executor_options.h"
#include "daemon/card/card_stats.h"
#include "daemon/card/hardware_queue.h"
#include "daemon/card/recent_launches.h"
#include "daemon/card/slice_bounds.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/card/card.h"

namespace ttfd {

// `done` is called once nothing is on the card that `disturbs`. Both are called on the device thread.
struct QuietRequest {
  std::function<bool(const Slice&)> disturbs;
  std::function<void()> done;
};

// Device thread, but for what is said to be of any thread.
class InFlight {
 public:
  using Schedulers = std::array<Scheduler*, kHardwareQueues>;
  // All outlive it. `work_clock`: what slices are charged by. `independent_window`: BusyWorkers.
  InFlight(Card& card, const Schedulers& schedulers, Clock& work_clock,
           Duration independent_window);

  HardwareQueues& queues() { return queues_; }
  const HardwareQueues& queues() const { return queues_; }  // any thread: Stats()
  const RecentLaunches& recent_launches() const { return recent_launches_; }
  CardStats& stats() { return stats_; }
  const CardStats& stats() const { return stats_; }  // any thread
  uint64_t submitted() const { return turns_; }      // slices so far
  // The slice of the ticket; null: it is not on the card.
  SubmittedSlice* Find(const Ticket& ticket);
  // All of them, in the order of their submission. Valid until any is added or taken off.
  std::vector<SubmittedSlice*> All();

  // The card took the next slice of `from` as `ticket`. It does not begin before the tickets of `after` have ended.
  Status Add(SessionQueue& from, const Ticket& ticket, std::vector<Ticket> after, TimePoint now);
  // Requests an event behind what is in flight in order.
  Status RequestEvent(HardwareQueue& queue);
  // The same where one has to stand between what is in flight and `next`. False: there is no space for it now.
  StatusOr<bool> RequestEventBefore(HardwareQueue& queue, const Slice& next);

  // Output of the card that Retire has not handled.
  CardOutput& output() { return output_; }
  // Takes off what has ended, and hands it and what it printed to its sessions.
  void Retire(TimePoint now);
  // A slice that a stop of the card had hidden: it had ended well.
  void RetireStopped(SubmittedSlice& entry);
  // Takes off everything, which fails.
  void Fail(const SliceError& error);
  // Nothing is on the card any more. All has been handed to its sessions.
  void Clear();
  // All firmware is loaded anew.
  void CardBooted() { recent_launches_.CardBooted(); }

  void AwaitQuiet(QuietRequest request) { quiets_.push_back(std::move(request)); }
  void CheckQuiet();

  // A session has received something since the last call, or is about to.
  bool TakeNews() { return std::exchange(news_, false); }
  void AddNews() { news_ = true; }

 private:
  // The session and the times of a slice that has ended.
  struct Owner {
    std::shared_ptr<Session> session;
    Watch watch;
    bool measured = false;  // while they share their time
  };

  // Begins the time of what waits for nothing on its hardware queue any more.
  static void BeginTimes(HardwareQueue& queue, TimePoint now, TimePoint work_now);
  void Printed(CardOutput::Print& print);
  void RetireQueue(HardwareQueue& queue, TimePoint now);
  void TakeOff(HardwareQueue& queue, SubmittedSlice* entry);
  void Measure(HardwareQueue& queue, TimePoint now, TimePoint work_now);

  Card& card_;
  Clock& work_clock_;
  const SliceBounds bounds_;
  HardwareQueues queues_;
  CardStats stats_;
  RecentLaunches recent_launches_;
  uint64_t turns_ = 0;  // slices submitted
  CardOutput output_;
  std::vector<Slice> ended_;   // while they are retired
  std::vector<Owner> owners_;  // of each
  std::vector<QuietRequest> quiets_;
  bool news_ = false;
};

}  // namespace ttfd
