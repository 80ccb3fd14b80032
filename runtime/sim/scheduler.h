// Decides which hart runs when, and what else happens when. Cost follows the runnable harts and the
// events: parked and held harts are in no list, and where nobody runs time jumps to the next event.
//
// Time is cut into rounds of kQuantum clocks, shorter where an event is due. In a round every runnable
// hart, in the order in which it became runnable, runs up to the end of the round; harts woken
// meanwhile join the same round at the waker's time. Events happen between rounds. The order depends on
// nothing but the calls, so equal calls give equal runs.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/sim/hart.h"
#include "runtime/sim/hart_speed.h"
#include "runtime/sim/machine.h"

namespace ttfd::sim {

class Scheduler {
 public:
  // Long enough that switching harts costs little (their code and data leave the caches), short
  // enough that a hart which waits for another one is served soon.
  static constexpr uint64_t kQuantum = 1000;

  // Advance() ends when the Tensix engines have done this much, in nominal nanoseconds, if need be in the middle of a
  // round. It bounds how long a caller waits: a round in which 140 tiles compute takes 20 ms.
  static constexpr uint64_t kEngineWork = 100'000;

  // `machine` must outlive the scheduler.
  explicit Scheduler(Machine& machine) : machine_(machine), speed_(machine.hazards) {}

  // Makes a hart that left reset or was parked runnable, at the current time.
  void Start(Hart& hart);

  // Calls `event` at `clock`, those of one clock in the order of these calls; at once if the clock has
  // passed, but never inside this call. A hart that is running runs on to the end of its round, so it
  // may be ahead of an event that was due meanwhile, by less than kQuantum. Events may call At() and
  // wake harts.
  void At(uint64_t clock, std::function<void()> event);

  // The clock as the running hart sees it, or as the host or the event that is happening does.
  uint64_t now() const { return running_ != nullptr ? running_->time : now_; }

  // Runs until `clocks` have passed, nothing is runnable and no event is left, kEngineWork is done, a fault has
  // stopped a hart (the round is finished), or an inspector stops the chip. Returns the clocks passed. An event
  // that is due when they have passed waits for the next call; a round that was stopped in its middle continues
  // there.
  uint64_t Advance(uint64_t clocks);

  // Nothing will happen by itself any more.
  bool idle() const { return current_.empty() && next_.empty() && events_.empty(); }
  // The clock of the next thing that happens by itself: now() where a hart is runnable; kNever: nothing does.
  uint64_t NextWork() const {
    if (!current_.empty() || !next_.empty()) return now_;
    return events_.empty() ? kNever : events_.front().clock;
  }
  uint64_t runnable() const;  // between two calls of Advance

  // Lets time pass in which nobody runs: after an Advance() that ended before its time.
  void Idle(uint64_t clocks) { now_ += clocks; }

  // Forgets every hart and every event and sets the clock to zero.
  void Reset();

 private:
  struct Event {
    uint64_t clock;
    uint64_t number;  // of the call
    std::function<void()> happen;
  };
  static bool Later(const Event& a, const Event& b) {
    return a.clock != b.clock ? a.clock > b.clock : a.number > b.number;
  }

  void TakeTurn(Hart& hart);  // the rest of it
  void RunHart(Hart& hart, uint64_t until);
  void BeginRound(uint64_t target);
  void RunRound(uint64_t target);  // the rest of it, or up to where an inspector stops the chip
  // Runs the events that are due by now.
  void RunEvents();

  Machine& machine_;
  HartSpeed speed_;
  uint64_t now_ = 0;
  Hart* running_ = nullptr;
  std::vector<Hart*> current_;  // this round's, in order; empty between rounds
  std::vector<Hart*> next_;     // the next round's
  // The round that is run, or was stopped by an inspector.
  bool in_round_ = false;
  uint64_t round_end_ = 0;
  uint64_t latest_ = 0;  // how far a hart of it got
  size_t at_ = 0;        // whose turn it is, of current_
  bool in_turn_ = false;
  uint64_t turn_end_ = 0;      // how far it executes
  std::vector<Event> events_;  // a heap, the next one in front
  uint64_t next_number_ = 0;
};

}  // namespace ttfd::sim
