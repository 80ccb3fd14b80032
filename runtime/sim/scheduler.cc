// Rounds of a quantum over the runnable harts, and events between them.
#include "runtime/sim/scheduler.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "runtime/sim/hart_access.h"
#include "runtime/sim/interpret.h"

namespace ttfd::sim {

void Scheduler::Start(Hart& hart) {
  hart.state = HartState::kRunnable;
  hart.time = std::max(hart.time, now());
  if (hart.queued) return;
  hart.queued = true;
  (in_round_ ? current_ : next_).push_back(&hart);
}

void Scheduler::At(uint64_t clock, std::function<void()> event) {
  events_.push_back({clock, next_number_++, std::move(event)});
  std::push_heap(events_.begin(), events_.end(), Later);
  // Harts that have not run yet in this round do not pass the event.
  if (in_round_) round_end_ = std::min(round_end_, std::max(clock, now_ + 1));
}

uint64_t Scheduler::Advance(uint64_t clocks) {
  const uint64_t start = now_;
  const uint64_t target = now_ + std::min(clocks, std::numeric_limits<uint64_t>::max() - now_);
  machine_.halted = false;
  machine_.engine_work = 0;
  while (now_ < target && !idle() && !machine_.has_news() && !machine_.halted &&
         machine_.engine_work < kEngineWork) {
    if (!in_round_) {
      if (!events_.empty()) {
        if (next_.empty()) now_ = std::max(now_, std::min(events_.front().clock, target));
        if (now_ == target) break;
        RunEvents();
        if (next_.empty() || machine_.has_news()) continue;
      }
      BeginRound(target);
    }
    RunRound(target);
  }
  return now_ - start;
}

void Scheduler::BeginRound(uint64_t target) {
  round_end_ = std::min(now_ + speed_.RoundClocks(kQuantum), target);
  if (!events_.empty()) round_end_ = std::min(round_end_, events_.front().clock);
  latest_ = now_;
  at_ = 0;
  current_.swap(next_);
  in_round_ = true;
}

void Scheduler::RunRound(uint64_t target) {
  for (; at_ < current_.size(); ++at_) {  // grows while it is walked
    if (machine_.engine_work >= kEngineWork) return;
    Hart& hart = *current_[at_];
    if (hart.state == HartState::kRunnable && !hart.held_back) {
      TakeTurn(hart);
      if (machine_.halted) return;
      latest_ = std::max(latest_, hart.time);
    }
    hart.queued = hart.state == HartState::kRunnable;
    if (hart.queued) next_.push_back(&hart);
  }
  current_.clear();
  in_round_ = false;
  now_ = next_.empty() ? std::min(latest_, target) : round_end_;
}

void Scheduler::TakeTurn(Hart& hart) {
  if (!in_turn_) turn_end_ = now_ + speed_.BusyClocks(hart, round_end_ - now_);
  in_turn_ = true;
  RunHart(hart, std::min(turn_end_, round_end_));
  if (machine_.halted) return;
  in_turn_ = false;
  if (hart.state == HartState::kRunnable && hart.time < round_end_) {
    Stall(hart, round_end_ - hart.time);
  }
}

void Scheduler::RunEvents() {
  while (!events_.empty() && events_.front().clock <= now_) {
    std::pop_heap(events_.begin(), events_.end(), Later);
    const std::function<void()> happen = std::move(events_.back().happen);
    events_.pop_back();
    happen();
  }
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
    if (stop == Stop::kHalted) break;
  }
  running_ = nullptr;
}

uint64_t Scheduler::runnable() const {
  const auto is_runnable = [](const Hart* hart) {
    return hart->state == HartState::kRunnable;  // the others were held since
  };
  const auto from = current_.begin() + static_cast<ptrdiff_t>(in_round_ ? at_ : 0);
  return static_cast<uint64_t>(std::count_if(from, current_.end(), is_runnable) +
                               std::count_if(next_.begin(), next_.end(), is_runnable));
}

void Scheduler::Reset() {
  for (Hart* hart : next_) hart->queued = false;
  for (Hart* hart : current_) hart->queued = false;
  next_.clear();
  events_.clear();
  current_.clear();
  in_round_ = false;
  in_turn_ = false;
  now_ = 0;
}

}  // namespace ttfd::sim
