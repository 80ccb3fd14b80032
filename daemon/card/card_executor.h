// The device thread and its round: input, submission, poll, retirement, deadlines, recovery. It alone touches the card.
// While it sleeps, the thread that posts most input may run rounds in its place, as wake-ups would take longer than
// they: short ones, which leave requests and recovery to the device thread itself.
//
// Other threads leave requests to it behind one mutex (CardRequests), and wake it for input of sessions, which its
// observer handles. Everything else belongs to the device thread. With nothing outstanding it sleeps. It feeds and
// watches the hardware queues concurrently; none waits for another but where a slice says so.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "daemon/card/card_executor_options.h"
#include "daemon/card/card_requests.h"
#include "daemon/card/device_observer.h"
#include "daemon/card/in_flight.h"
#include "daemon/card/profiler.h"
#include "daemon/card/published_reading.h"
#include "daemon/card/queue_watchdog.h"
#include "daemon/card/recovery.h"
#include "daemon/card/submission.h"
#include "daemon/session/timeouts.h"
#include "runtime/base/backoff.h"
#include "runtime/base/clock.h"
#include "runtime/card/card.h"

namespace ttfd {

class CardExecutor {
 public:
  // A scheduler for each hardware queue. They, `observer`, `timeouts` and `clock` outlive the executor. Touches nothing
  // and starts no thread.
  CardExecutor(std::unique_ptr<Card> card, const InFlight::Schedulers& schedulers,
               DeviceObserver& observer, const Timeouts& timeouts, Clock& clock,
               CardExecutorOptions options);
  ~CardExecutor();

  Status Boot();  // before Start, on the calling thread
  void Start();   // starts the device thread
  // The device thread runs. For the thread that starts and stops it.
  bool started() const { return thread_.joinable(); }
  // Waits for work in flight until `deadline`, shuts the card down, ends the thread. What is left then fails.
  Status Stop(TimePoint deadline);

  // ---- any thread

  // Resets the card; what is in flight fails. `done` is called on the device thread.
  void RequestReset(std::function<void(const Status&)> done);
  void RequestQuiet(QuietRequest request);
  // There is input, or slices that might not be taken may be taken now. `brief`: to handle it takes little time.
  void Wake(bool brief) { requests_.Wake(brief); }
  // `calling`: the calling thread promises to call RunBorrowed soon after every Wake that it calls. Else there is no
  // such thread any more. One at a time.
  void SetBorrower(bool calling) { requests_.SetBorrower(calling); }
  // Handles the brief input for which it has called Wake, if the device thread sleeps; wakes it for what takes longer.
  void RunBorrowed();
  // Are there users of the card? (Device::SetInUse)
  void SetInUse(bool in_use);
  // `done` is called on the device thread.
  void RequestProfile(Profiler::Request request);

  DeviceStats stats() const { return in_flight_.stats().Read(); }
  // Figures of each hardware queue.
  std::vector<HardwareQueueStats> queue_stats() const;
  KernelBounds* kernel_bounds() { return card_->kernel_bounds(); }
  // The card as it was read last (PublishedReading). If that is old, the device thread reads it for the next call.
  CardReading reading();
  // Grows while the device thread is alive: at least once in idle_tick, also while the card boots.
  uint64_t heartbeat() const { return heartbeat_.load(std::memory_order_relaxed); }

  // Constant once booted.
  const CardDescription& description() const { return card_->description(); }
  const DeviceInfo& device_info() const { return card_->device_info(); }
  const CardGeometry& geometry() const { return card_->geometry(); }

  // One round of the device thread, for tests that leave Start out. True: there is more to do.
  bool RunOnce();

 private:
  // A stop is under way, and what is done for it has to end now.
  bool StopIsOverdue() const { return requests_.StopIsOverdue(clocks_.host.Now()); }
  // Callback of the card's waits: CANCELLED once the daemon has to stop.
  Status KeepWaiting();

  // The holder of the role of the device thread.
  void TakeRole();
  void LeaveRole();
  // Has the card run, if it does, at most until then.
  void RunCard(TimePoint until);
  // With an error `place` may say where the card stopped.
  Status SubmitAndPoll(TimePoint until, std::optional<StopPlace>* place);
  // Publishes what the round did; returns whether there is nothing more to do.
  bool EndRound(bool had_input);
  // When there is something to do, though no thread wakes the device thread.
  TimePoint NextDue() const { return std::min(recovery_.next_look(), observer_.InputDue()); }

  // Device thread.
  void ThreadMain();
  void Pause(bool more);
  void HandleRequests();
  CardReading ReadCard();

  // Constant after construction.
  const std::unique_ptr<Card> card_;
  DeviceObserver& observer_;
  const Timeouts& timeouts_;
  const CardExecutorOptions options_;
  const CardClocks clocks_;

  // Any thread.
  std::atomic<uint64_t> heartbeat_{0};
  PublishedReading reading_;
  CardRequests requests_;

  // The holder of the role only, but for the figures of `in_flight_`.
  InFlight in_flight_;
  Profiler profiler_;
  Submission submission_;
  QueueWatchdog watchdog_;
  Recovery recovery_;
  Backoff backoff_;  // of rounds in which nothing happens

  std::thread thread_;
};

}  // namespace ttfd
