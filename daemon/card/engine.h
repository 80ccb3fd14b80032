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

#include "daemon/card/device_observer.h"
#include "daemon/card/engine_options.h"
#include "daemon/card/hardware_queue.h"
#include "daemon/card/profiler.h"
#include "daemon/card/published_reading.h"
#include "daemon/card/recent_launches.h"
#include "daemon/card/recovery_plan.h"
#include "daemon/card/slice_bounds.h"
#include "daemon/hang/hang_report.h"
#include "runtime/base/backoff.h"
#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"
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
  Status Stop(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);

  // ---- any thread

  // Resets the card; what is in flight fails. `done` is called on the device thread.
  void RequestReset(std::function<void(const Status&)> done) ABSL_LOCKS_EXCLUDED(mu_);
  // `done` is called on the device thread, once nothing is on the card that `disturbs` (also asked there).
  struct QuietRequest {
    std::function<bool(const Slice&)> disturbs;
    std::function<void()> done;
  };
  void RequestQuiet(QuietRequest request) ABSL_LOCKS_EXCLUDED(mu_);
  // There is input, or slices that might not be taken may be taken now.
  void LookAgain() ABSL_LOCKS_EXCLUDED(mu_);
  // Are there users of the card? (Device::SetInUse)
  void SetInUse(bool in_use) ABSL_LOCKS_EXCLUDED(mu_);
  void SetTimeouts(Duration operation, Duration kernel);
  // `done` is called on the device thread.
  using ProfileRequest = Profiler::Request;
  void RequestProfile(ProfileRequest request) ABSL_LOCKS_EXCLUDED(mu_);

  DeviceStats stats() const;
  // What is on the card, by hardware queue.
  std::vector<HardwareQueueStats> queue_stats() const;
  KernelBounds* kernel_bounds() { return dispatcher_->kernel_bounds(); }
  // The card as it was read last (PublishedReading). If that is old, the device thread reads it for the next call.
  CardReading reading() ABSL_LOCKS_EXCLUDED(mu_);
  // Grows while the device thread is alive: at least once in idle_tick, also while the card boots.
  uint64_t heartbeat() const { return heartbeat_.load(std::memory_order_relaxed); }

  // Constant once booted.
  const CardDescription& card() const { return dispatcher_->card(); }
  const DeviceInfo& device_info() const { return dispatcher_->device_info(); }
  const CardGeometry& geometry() const { return dispatcher_->geometry(); }

  // One round of the device thread, for tests that leave Start out. True: there is more to do.
  bool RunOnce() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Requests {
    std::vector<std::function<void(const Status&)>> resets;
    std::vector<ProfileRequest> profiles;
    std::vector<QuietRequest> quiets;
    std::optional<bool> in_use;
  };

  // The session and the times of a slice that has ended.
  struct Retired {
    std::shared_ptr<Session> session;
    Watch watch;
  };

  void WakeLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // A stop is under way, and what is done for it has to end now.
  bool StopIsOverdue() const;
  // Of the card's waits: CANCELLED once the daemon has to stop.
  Status KeepWaiting();

  // Device thread.
  void ThreadMain() ABSL_LOCKS_EXCLUDED(mu_);
  void Pause(bool more) ABSL_LOCKS_EXCLUDED(mu_);
  void TakeRequests() ABSL_LOCKS_EXCLUDED(mu_);
  void HandleRequests();
  CardReading ReadCard();
  Status SubmitAndPoll();

  // submission.cc
  Status SubmitReady(HardwareQueue& queue, TimePoint now);
  // False: there is no space on the card for the next slice of `from`.
  StatusOr<bool> SubmitNext(HardwareQueue& queue, SessionQueue& from, TimePoint now);
  StatusOr<bool> SendEventBefore(HardwareQueue& queue, const Slice& next);
  // Asks for an event behind what is in flight in order.
  Status SendEvent(HardwareQueue& queue);
  void CheckQuiet();
  void Retire(HardwareQueue& queue, TimePoint now);
  void RetireOne(HardwareQueue& queue, SubmittedSlice* entry);
  void ShareOut(HardwareQueue& queue, TimePoint now, TimePoint work_now);
  bool MayTakeMore(const HardwareQueue& queue) const;
  void Printed(const Ticket& ticket, KernelPrint print);

  // watch.cc
  Status Poll();
  Status CheckProgress(HardwareQueue& queue, TimePoint now);
  // No `entry`: what the queue holds.
  Status CheckOne(HardwareQueue& queue, const SubmittedSlice* entry, Watch* watch, TimePoint now);
  bool OlderElsewhere(const HardwareQueue& queue, uint64_t turn) const;
  bool WaitsForAnother(const HardwareQueue& queue, const SubmittedSlice& head) const;
  // Has the time of what waits for nothing on its hardware queue any more begin.
  void BeginTimes(HardwareQueue& queue, TimePoint now);
  static void BeginTimes(HardwareQueue& queue, TimePoint now, TimePoint work_now);

  // recovery.cc
  void Lose(const Status& why);
  // The launch that the card stopped under fails with `error`.
  void FailOffender(SubmittedSlice& entry, const SliceError& error);
  std::vector<SubmittedSlice*> SlicesInFlight();
  std::vector<StoppedSlice> Stopped(const std::vector<SubmittedSlice*>& entries);
  // Ends and requeues all slices but the offender. `error`: of those that were interrupted.
  void CarryOut(const RecoveryPlan& plan, const std::vector<SubmittedSlice*>& entries,
                const SliceError& error);
  HardwareQueue* SuspectRefused(const std::optional<StopPlace>& place);
  void FailInFlight(const SliceError& error);
  void FailQueued(const SliceError& error);
  Status Recover(const std::string& why);
  Status TryBoot(ResetStrength strength, const std::string& why);
  // What is in flight fails, and every session ends.
  void GiveCardUp(StatusCode code, const std::string& text);
  bool CardIsThere();
  void LookAtCard();

  // hang_evidence.cc
  HangReport HostEvidence(const Status& why);
  static void AddPlan(const RecoveryPlan& plan, const std::vector<StoppedSlice>& stopped,
                      HangReport* report);

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
  std::atomic<uint64_t> launches_{0}, bytes_written_{0}, bytes_read_{0};
  std::atomic<uint32_t> resets_{0};
  std::atomic<bool> has_requests_{false};  // the inbox is not empty
  PublishedReading reading_;
  std::atomic<bool> stop_requested_{false};
  std::atomic<TimePoint::rep> stop_by_{TimePoint::max().time_since_epoch().count()};

  Mutex mu_;
  CondVar wake_;
  Requests inbox_ ABSL_GUARDED_BY(mu_);
  bool asleep_ ABSL_GUARDED_BY(mu_) = false;

  // Device thread only.
  Requests taken_;
  std::array<HardwareQueue, kHardwareQueues> queues_;
  std::vector<Slice> retired_;
  std::vector<Retired> retired_of_;      // of each
  std::vector<bool> shared_out_;         // while they share their time
  uint64_t turns_ = 0;                   // slices submitted
  std::optional<StopPlace> stop_place_;  // set by what has just failed
  bool round_had_news_ = false;
  Backoff backoff_;                   // of rounds in which nothing happens
  std::vector<QuietRequest> quiets_;  // that wait
  Profiler profiler_;
  // Not OK: the device is lost, until it is found again where another process took it away, else until an
  // administrator resets it.
  Status lost_;
  TimePoint next_look_;       // is the card still there, or there again?
  uint32_t boots_tried_ = 0;  // of the last recovery
  RecentLaunches recent_;

  std::thread thread_;
};

}  // namespace ttfd
