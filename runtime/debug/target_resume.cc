// How the chip is stopped from outside and goes on: who runs, who steps, who is held.
#include <algorithm>

#include "runtime/debug/debug_target.h"
#include "runtime/sim/tensix_tile.h"

namespace ttfd::debug {

using sim::HartState;

void DebugTarget::Interrupt(Thread preferred) {
  if (!running_) return;
  running_ = false;
  if (!IsAlive(preferred)) {
    // Somebody who does something, rather than one who waits.
    const std::vector<Thread> threads = Threads();
    preferred = threads.empty() ? 1 : threads.front();
    for (const Thread thread : threads) {
      if (hart(thread).state != HartState::kRunnable) continue;
      preferred = thread;
      break;
    }
  }
  stop_ = Stop{Stop::Why::kInterrupt, preferred};
  last_ = *stop_;
}

void DebugTarget::GiveOrder(Thread thread, Action action, const Order& order) {
  HartOrder& own = orders_[thread - 1];
  own.step = action == Action::kStep;
  own.begun = false;
  own.from = order.from;
  own.to = order.to;
  steps_ += own.step ? 1 : 0;
  sim::Hart& one = MutableHart(thread);
  const bool hold = action == Action::kHold;
  // It does not make up for the time it was held.
  if (one.held_back && !hold) one.time = std::max(one.time, chip_.clock());
  one.held_back = hold;
  one.permitted = sim::kNever;  // what was decided with other breakpoints is decided again
}

// A hart that sleeps in a loop with a new breakpoint meets it only if it goes round. GDB takes a
// breakpoint away to step over it and sets it again; that one is not new.
void DebugTarget::WakeForBreakpoints() {
  const bool news = !std::includes(known_breakpoints_.begin(), known_breakpoints_.end(),
                                   breakpoints_.begin(), breakpoints_.end());
  for (Thread thread = 1; news && Exists(thread); ++thread) {
    if (hart(thread).state == HartState::kParked) Rouse(thread);
  }
  if (news || steps_ == 0) known_breakpoints_ = breakpoints_;
}

void DebugTarget::Resume(std::span<const Order> orders) {
  steps_ = 0;
  const auto rest = std::find_if(orders.begin(), orders.end(),
                                 [](const Order& order) { return order.thread == 0; });
  const Order others = rest == orders.end() ? Order{0, Action::kHold} : *rest;
  const bool anybody = !Threads().empty();
  for (Thread thread = 1; Exists(thread); ++thread) {
    // "Everybody steps" does not mean harts in reset, which cannot, unless there are no others.
    const bool cannot = others.action == Action::kStep && anybody && !IsAlive(thread);
    GiveOrder(thread, cannot ? Action::kRun : others.action, others);
  }
  for (const Order& order : orders) {
    if (!Exists(order.thread)) continue;
    if (orders_[order.thread - 1].step) --steps_;
    GiveOrder(order.thread, order.action, order);
  }
  passes_ = 0;
  if (last_.why == Stop::Why::kBreakpoint && Exists(last_.thread)) {
    passes_ = last_.thread;
    passes_pc_ = hart(last_.thread).pc;
  }
  // The fault that it stopped for goes its way: who runs the chip resets it.
  if (connected_ && last_.why == Stop::Why::kFault) chip_.HoldFaults(false);
  WakeForBreakpoints();
  watchpoints_.Resumed();
  stop_.reset();
  last_ = {};
  running_ = true;
  Watch(!breakpoints_.empty() || !watchpoints_.empty() || steps_ != 0);
}

}  // namespace ttfd::debug
