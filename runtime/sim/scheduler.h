// Decides which hart runs when. Cost follows the runnable harts: parked and held harts are in no
// list.
//
// Time is cut into rounds of kQuantum clocks. In a round every runnable hart, in the order in which
// it became runnable, runs up to the end of the round; harts woken meanwhile join the same round at
// the waker's time. The order depends on nothing but the calls, so equal calls give equal runs.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/sim/hart.h"
#include "runtime/sim/machine.h"

namespace ttfd::sim {

class Scheduler {
 public:
  // Long enough that switching harts costs little (their code and data leave the caches), short
  // enough that a hart which waits for another one is served soon.
  static constexpr uint64_t kQuantum = 1000;

  // `machine` must outlive the scheduler.
  explicit Scheduler(Machine& machine) : machine_(machine) {}

  // Makes a hart that left reset or was parked runnable, at the current time.
  void Start(Hart& hart);

  // The clock as the running hart sees it, or as the host does.
  uint64_t now() const { return running_ != nullptr ? running_->time : now_; }

  // Runs until `clocks` have passed, nothing is runnable, or a fault. Returns the clocks passed.
  uint64_t Advance(uint64_t clocks);

  bool idle() const { return current_.empty() && next_.empty(); }
  uint64_t runnable() const;  // between two calls of Advance

  // Forgets every hart and sets the clock to zero.
  void Reset();

 private:
  void RunHart(Hart& hart, uint64_t until);

  Machine& machine_;
  uint64_t now_ = 0;
  Hart* running_ = nullptr;
  std::vector<Hart*> current_;  // this round's, in order; only during Advance
  std::vector<Hart*> next_;     // the next round's
  bool in_round_ = false;
};

}  // namespace ttfd::sim
