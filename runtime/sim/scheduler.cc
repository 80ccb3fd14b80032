// Rounds of a quantum over the runnable harts.
#include "runtime/sim/scheduler.h"

#include <algorithm>
#include <limits>

#include "runtime/sim/interpret.h"

namespace ttfd::sim {

void Scheduler::Start(Hart& hart) {
  hart.state = HartState::kRunnable;
  hart.time = std::max(hart.time, now());
  if (hart.queued) return;
  hart.queued = true;
  (in_round_ ? current_ : next_).push_back(&hart);
}

uint64_t Scheduler::Advance(uint64_t clocks) {
  const uint64_t start = now_;
  const uint64_t target = now_ + std::min(clocks, std::numeric_limits<uint64_t>::max() - now_);
  while (now_ < target && !next_.empty() && !machine_.fault.has_value()) {
    const uint64_t round_end = std::min(now_ + kQuantum, target);
    current_.swap(next_);
    in_round_ = true;
    uint64_t latest = now_;
    for (size_t i = 0; i < current_.size(); ++i) {  // grows while it is walked
      Hart& hart = *current_[i];
      if (hart.state == HartState::kRunnable && !machine_.fault.has_value()) {
        RunHart(hart, round_end);
        latest = std::max(latest, hart.time);
      }
      hart.queued = hart.state == HartState::kRunnable;
      if (hart.queued) next_.push_back(&hart);
    }
    current_.clear();
    in_round_ = false;
    now_ = next_.empty() ? std::min(latest, target) : round_end;
  }
  return now_ - start;
}

void Scheduler::RunHart(Hart& hart, uint64_t until) {
  running_ = &hart;
  while (hart.time < until) {
    Stop stop;
    if (hart.poll.observe) {
      hart.poll.observe = false;
      stop = Observe(hart);
    } else {
      stop = Execute(hart, until - hart.time);
    }
    if (stop == Stop::kPollPoint) hart.poll.observe = true;
    if (stop == Stop::kParked || stop == Stop::kHeld || stop == Stop::kFault) break;
  }
  running_ = nullptr;
}

uint64_t Scheduler::runnable() const {
  return static_cast<uint64_t>(std::count_if(next_.begin(), next_.end(), [](const Hart* hart) {
    return hart->state == HartState::kRunnable;  // the others were held since
  }));
}

void Scheduler::Reset() {
  for (Hart* hart : next_) hart->queued = false;
  next_.clear();
  now_ = 0;
}

}  // namespace ttfd::sim
