// One card of the device thread: submission, poll, retirement, deadlines, recovery. It alone touches the card.
//
// It feeds and watches the card's hardware queues concurrently; none waits for another but where a slice says so. Other
// threads leave requests with the device thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "daemon/card/card_executor_options.h"
#include "daemon/card/device_observer.h"
#include "daemon/card/device_requests.h"
#include "daemon/card/device_thread_options.h"
#include "daemon/card/in_flight.h"
#include "daemon/card/profiler.h"
#include "daemon/card/published_reading.h"
#include "daemon/card/queue_watchdog.h"
#include "daemon/card/recovery.h"
#include "daemon/card/served_card.h"
#include "daemon/card/submission.h"
#include "daemon/session/timeouts.h"
#include "runtime/card/card.h"

namespace ttfd {

class CardExecutor {
 public:
  // Parts of the device thread; all outlive its cards.
  struct Parts {
    DeviceRequests& requests;
    DeviceObserver& observer;
    const Timeouts& timeouts;
    const CardClocks& clocks;
    const CardExecutorOptions& options;
    std::function<Status()> keep_waiting;             // tick of the card's waits
    std::function<bool()> stop_is_overdue;            // nothing more is to be tried
    std::function<void(ResetStrength)> before_reset;  // called before the card is reset
  };
  // Motion of the card in the last round.
  enum class Motion {
    kIdle,     // it has nothing to do
    kMoves,    // it was given work, work has ended, or it continues by itself
    kStalled,  // it has work of which nothing can move (Card::Poll)
  };

  // `device`: its number. A scheduler for each hardware queue, which outlive the executor. Touches nothing.
  CardExecutor(const Parts& parts, uint32_t device, ServedCard served,
               const InFlight::Schedulers& schedulers);

  // ---- Any thread.

  // Resets the card; what is in flight fails. `done` is called on the device thread.
  void RequestReset(std::function<void(const Status&)> done);
  void RequestQuiet(QuietRequest request);
  // `done` is called on the device thread.
  void RequestProfile(Profiler::Request request);

  DeviceStats stats() const { return in_flight_.stats().Read(); }
  // Figures of each hardware queue.
  std::vector<HardwareQueueStats> queue_stats() const;
  // The card as it was read last (PublishedReading). If that is old, the device thread reads it for the next call.
  CardReading reading();

  // Constant.
  uint32_t device() const { return device_; }
  std::optional<uint32_t> behind() const { return served_.behind; }
  const DeviceInfo& device_info() const { return card_.device_info(); }

  // ---- The holder of the role of the device thread.

  // The first boot. An error: the card is lost, until a reset.
  Status Boot();
  void SetInUse(bool in_use) { served_.set_in_use(in_use); }
  // Gives the card what it may have and lets it run, if it does, until it has news or is interrupted.
  void Run(absl::FunctionRef<bool()> interrupted);
  Motion motion() const { return motion_; }
  // The card is stalled, and a hart of it has stopped on a fault: nothing that others do lets it continue. Looks at the
  // harts `at_once`, or when the stall has lasted a while, and more seldom the longer it lasts.
  bool StalledOnFault(bool at_once);
  // The card is stalled, and so is everything that it may wait for: it hangs.
  void SetHanging() { recovery_.SetStopped(NothingMoves(), std::nullopt); }
  // It is reset, though it has done nothing wrong. "reset with device 1"
  void SetToBeReset(const std::string& why) { recovery_.SetToBeReset(why); }
  // Answers requests whose time has come.
  void CheckQuiet() { in_flight_.CheckQuiet(); }
  bool idle() const;
  // The card has kernels that have not ended.
  bool runs_kernels();
  // Publishes the depths of its queues; returns idle().
  bool ShowQueues();
  bool TakeNews() { return in_flight_.TakeNews(); }
  // It waits for Recover.
  bool stopped() const { return recovery_.stopped(); }
  // It continues in rounds of this thread alone.
  bool needs_rounds() const {
    return !device_info().runs_by_itself && motion_ != Motion::kStalled && !idle();
  }
  bool profiling() const { return profiler_.active(); }
  // When LookAfter is to be called at the latest.
  TimePoint next_look() const { return recovery_.next_look(); }

  // ---- Device thread.

  // Before Run in a round: carries out what was requested, and looks once a second whether the card is there.
  void LookAfter();
  // After Run: halts a card that has stopped, where it is not to be recovered before others are halted too.
  void HaltIfStopped() { recovery_.HaltIfStopped(); }
  // Recovers a card that has stopped, fails what is queued for one that is lost.
  void Recover();
  // The chip that the card is behind is reset next.
  void NeighbourWillReset(ResetStrength strength);
  void ReadIfRequested() { reading_.ReadIfRequested(); }
  // Fails what has not started, waits until `deadline` for what has, and shuts the card down. The rest then fails.
  Status Shutdown(TimePoint deadline);

 private:
  Status SubmitAndPoll(absl::FunctionRef<bool()> interrupted, std::optional<StopPlace>* place);
  CardReading ReadCard();
  void StartProfile(const Profiler::Request& request);

  const Parts parts_;
  const uint32_t device_;
  const ServedCard served_;
  Card& card_;
  PublishedReading reading_;

  // The holder of the role only, but for the figures of `in_flight_`.
  InFlight in_flight_;
  Profiler profiler_;
  Submission submission_;
  QueueWatchdog watchdog_;
  Recovery recovery_;
  Motion motion_ = Motion::kIdle;
  struct Stall {
    TimePoint next_look;
    Duration wait;
    bool on_fault = false;
  };
  std::optional<Stall> stall_;
  // Requested, and not begun; begun.
  std::vector<std::function<void(const Status&)>> resets_;
  std::vector<std::function<void(const Status&)>> begun_resets_;
  std::vector<Profiler::Request> profiles_;
};

}  // namespace ttfd
