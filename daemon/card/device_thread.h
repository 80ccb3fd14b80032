// The device thread and its round: input, requests, each card, recovery. It alone touches the cards. While it waits for
// one of them, the others continue.
//
// While it sleeps, the thread that posts most input may run rounds in its place, as wake-ups would take longer than
// they: short ones, which leave requests and recovery to the device thread itself. Other threads leave requests to it
// behind one mutex (DeviceRequests), and wake it for input of sessions, which its observer handles. With nothing
// outstanding it sleeps.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "daemon/card/card_executor.h"
#include "daemon/card/device_observer.h"
#include "daemon/card/device_requests.h"
#include "daemon/card/device_thread_options.h"
#include "daemon/session/timeouts.h"
#include "runtime/base/backoff.h"
#include "runtime/base/clock.h"

namespace ttfd {

class DeviceThread {
 public:
  // All outlive it. Starts no thread.
  DeviceThread(DeviceObserver& observer, const Timeouts& timeouts, Clock& clock,
               DeviceThreadOptions options, const CardExecutorOptions& card_options);
  ~DeviceThread();

  // Adds a card, whose number is that of the cards before it. A scheduler for each of its hardware queues, which
  // outlive the thread. Touches nothing. Before Boot.
  CardExecutor& Add(ServedCard card, const InFlight::Schedulers& schedulers);

  // Boots the cards, one after the other. An error: none does. One that does not while others do counts as lost.
  Status Boot();  // before Start, on the calling thread
  void Start();   // starts the device thread
  // The device thread runs. For the thread that starts and stops it.
  bool started() const { return thread_.joinable(); }
  // Waits for work in flight until `deadline`, shuts the cards down, ends the thread. What is left then fails.
  Status Stop(TimePoint deadline);

  // ---- Any thread.

  // There is input, or slices that might not be taken may be taken now. `brief`: to handle it takes little time.
  void Wake(bool brief) { requests_.Wake(brief); }
  // `calling`: the calling thread promises to call RunBorrowed soon after every Wake that it calls. Else there is no
  // such thread any more. One at a time.
  void SetBorrower(bool calling) { requests_.SetBorrower(calling); }
  // Handles the brief input for which it has called Wake, if the device thread sleeps; wakes it for what takes longer.
  void RunBorrowed();
  // Calls it on the device thread, at the start of a round.
  void Post(DeviceRequests::Request request) { requests_.Add(std::move(request)); }
  // Are there users of the cards? (Device::SetInUse)
  void SetInUse(bool in_use);
  // Grows while the device thread is alive: at least once in idle_tick, also while a card boots.
  uint64_t heartbeat() const { return heartbeat_.load(std::memory_order_relaxed); }

  // ---- The holder of the role of the device thread.

  // Kernels of these cards, and of those linked with any of them, may wait for each other from now on (`linked`), or
  // those of each of these cards only for those of the same. A
  // stalled card hangs if a hart of its own has stopped on a fault, or if all cards that it may wait for are stalled
  // too, without a fault. Else, where one of these has nothing to do, its kernels may still come: timeouts alone end
  // the wait.
  void SetLinked(std::span<const uint32_t> devices, bool linked);
  // One round of the device thread, for tests that leave Start out. True: there is more to do.
  bool RunOnce();

 private:
  using Cards = std::vector<std::unique_ptr<CardExecutor>>;

  // A stop is under way, and what is done for it has to end now.
  bool StopIsOverdue() const { return requests_.StopIsOverdue(clocks_.host.Now()); }
  // Tick of the waits for `card`: handles input and runs the other cards. CANCELLED once the daemon has to stop.
  Status KeepWaiting(const CardExecutor& card);
  // The device is about to be reset, which those behind it feel.
  void BeforeReset(uint32_t device, ResetStrength strength);

  void TakeRole();
  void LeaveRole();
  // Runs every card but `waited_for`, until then.
  void RunCards(TimePoint until, const CardExecutor* waited_for);
  // After a round of all cards.
  void JudgeStalled();
  // Before the recovery of cards that have stopped. Kernels of linked cards may wait for those of one, or send to it:
  // these cards are reset with it, and all are halted before the first is booted.
  void HaltLinked();
  bool Linked(const CardExecutor& a, const CardExecutor& b) const {
    return &a != &b && domains_[a.device()] == domains_[b.device()];
  }
  bool AnyCard(bool (CardExecutor::*is)() const) const {
    return std::any_of(cards_.begin(), cards_.end(),
                       [is](const auto& card) { return (*card.*is)(); });
  }
  // Publishes what the round did; returns whether there is nothing more to do.
  bool EndRound(bool had_input);
  // When there is something to do, though no thread wakes the device thread.
  TimePoint NextDue() const;

  // Device thread.
  void ThreadMain();
  void Pause(bool more);
  void HandleRequests();

  // Constant after construction.
  DeviceObserver& observer_;
  const DeviceThreadOptions options_;
  const CardExecutorOptions card_options_;
  const CardClocks clocks_;
  const Timeouts& timeouts_;

  // Any thread.
  std::atomic<uint64_t> heartbeat_{0};
  DeviceRequests requests_;

  // The holder of the role only.
  Cards cards_;                    // constant once booted
  std::vector<uint32_t> domains_;  // by card: those of one domain may wait for each other
  uint32_t next_domain_ = 0;
  Backoff backoff_;  // of rounds in which nothing happens

  std::thread thread_;
};

}  // namespace ttfd
