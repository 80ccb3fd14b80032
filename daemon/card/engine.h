// The device thread: picks slices, submits them, polls, retires, watches, recovers. It alone touches the card.
//
// Other threads leave requests in an inbox behind one mutex; everything else belongs to the device thread. With nothing
// outstanding it sleeps. The hardware queues are fed and watched side by side; none waits for another but where a slice
// says so.
//
// A launch gets an event of its own and so does what ran before it: a hang or fault is known to be this launch's. The
// event of a launch is requested behind the next one, so that the card places that while the first still runs; not so
// if they are of two sessions and share workers, who would then answer for each other.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "daemon/card/card_requests.h"
#include "daemon/card/card_stats.h"
#include "daemon/card/device_observer.h"
#include "daemon/card/engine_options.h"
#include "daemon/card/hardware_queue.h"
#include "daemon/card/profiler.h"
#include "daemon/card/published_reading.h"
#include "daemon/card/queue_watchdog.h"
#include "daemon/card/recent_launches.h"
#include "daemon/card/recovery.h"
#include "daemon/card/slice_bounds.h"
#include "daemon/hang/hang_report.h"
#include "runtime/base/backoff.h"
#include "runtime/base/clock.h"
#include "runtime/dispatch/dispatcher.h"

namespace ttfd {

class Engine {
 public:
  // An order for each hardware queue. They, `observer` and `clock` outlive the engine. Touches nothing
  // and starts no thread.
  using Orders = std::array<Scheduler*, kHardwareQueues>;
  Engine(std::unique_ptr<Dispatcher> dispatcher, const Orders& orders, DeviceObserver& observer,
         Clock& clock, EngineOptions options);
  ~Engine();

  Status Boot();  // before Start, on the calling thread
  void Start();   // starts the device thread
  // Waits for work in flight until `deadline`, shuts the card down, ends the thread. What is left then fails.
  Status Stop(TimePoint deadline);

  // ---- any thread

  // Resets the card; what is in flight fails. `done` is called on the device thread.
  void RequestReset(std::function<void(const Status&)> done);
  void RequestQuiet(QuietRequest request);
  // There is input, or slices that might not be taken may be taken now.
  void LookAgain() { requests_.Wake(); }
  // Are there users of the card? (Device::SetInUse)
  void SetInUse(bool in_use);
  void SetTimeouts(Duration operation, Duration kernel);
  // `done` is called on the device thread.
  using ProfileRequest = Profiler::Request;
  void RequestProfile(ProfileRequest request);

  DeviceStats stats() const { return stats_.Read(); }
  // What is on the card, by hardware queue.
  std::vector<HardwareQueueStats> queue_stats() const;
  KernelBounds* kernel_bounds() { return dispatcher_->kernel_bounds(); }
  // The card as it was read last (PublishedReading). If that is old, the device thread reads it for the next call.
  CardReading reading();
  // Grows while the device thread is alive: at least once in idle_tick, also while the card boots.
  uint64_t heartbeat() const { return heartbeat_.load(std::memory_order_relaxed); }

  // Constant once booted.
  const CardDescription& card() const { return dispatcher_->card(); }
  const DeviceInfo& device_info() const { return dispatcher_->device_info(); }
  const CardGeometry& geometry() const { return dispatcher_->geometry(); }

  // One round of the device thread, for tests that leave Start out. True: there is more to do.
  bool RunOnce();

 private:
  // The session and the times of a slice that has ended.
  struct Retired {
    std::shared_ptr<Session> session;
    Watch watch;
  };

  // A stop is under way, and what is done for it has to end now.
  bool StopIsOverdue() const { return requests_.StopIsOverdue(clock_.Now()); }
  // Of the card's waits: CANCELLED once the daemon has to stop.
  Status KeepWaiting();

  // Device thread.
  void ThreadMain();
  void Pause(bool more);
  void HandleRequests();
  CardReading ReadCard();
  // With an error `place` may say where the card stopped.
  Status SubmitAndPoll(std::optional<StopPlace>* place);
  Status Poll(std::optional<StopPlace>* place);

  // submission.cc
  Status SubmitReady(HardwareQueue& queue, TimePoint now);
  // False: there is no space on the card for the next slice of `from`.
  StatusOr<bool> SubmitNext(HardwareQueue& queue, SessionQueue& from, TimePoint now);
  StatusOr<bool> SendEventBefore(HardwareQueue& queue, const Slice& next);
  // Asks for an event behind what is in flight in order.
  Status SendEvent(HardwareQueue& queue);
  void CheckQuiet();
  void RetireAll();
  void Retire(HardwareQueue& queue, TimePoint now);
  void RetireOne(HardwareQueue& queue, SubmittedSlice* entry);
  void ShareOut(HardwareQueue& queue, TimePoint now, TimePoint work_now);
  bool MayTakeMore(const HardwareQueue& queue) const;
  void Printed(const Ticket& ticket, KernelPrint print);

  // Constant after construction.
  const std::unique_ptr<Dispatcher> dispatcher_;
  DeviceObserver& observer_;
  Clock& clock_;
  const EngineOptions options_;
  const SliceBounds bounds_;
  Clock& device_clock_;
  Clock& work_clock_;

  // Any thread.
  std::atomic<Duration::rep> operation_timeout_, kernel_timeout_;
  std::atomic<bool> timeouts_changed_{true};
  std::atomic<uint64_t> heartbeat_{0};
  CardStats stats_;
  PublishedReading reading_;
  CardRequests requests_;

  // Device thread only.
  HardwareQueues queues_;
  QueueWatchdog watchdog_;
  std::vector<Slice> retired_;
  std::vector<Retired> retired_of_;  // of each
  std::vector<bool> shared_out_;     // while they share their time
  uint64_t turns_ = 0;               // slices submitted
  bool round_had_news_ = false;
  Backoff backoff_;                   // of rounds in which nothing happens
  std::vector<QuietRequest> quiets_;  // that wait
  Profiler profiler_;
  RecentLaunches ended_;
  Recovery recovery_;

  std::thread thread_;
};

}  // namespace ttfd
