// Recovers a card that stopped: halts it, looks at it, decides what becomes of the slices that were on it
// (recovery_plan.h), ends or requeues them, boots the card again and writes the hang report. Also looks after a card
// that another process took away. Device thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daemon/card/card_executor_options.h"
#include "daemon/card/device_observer.h"
#include "daemon/card/device_thread_options.h"
#include "daemon/card/in_flight.h"
#include "daemon/card/recovery_plan.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/card/card.h"

namespace ttfd {

class Recovery {
 public:
  // The parts of the card; all outlive this.
  struct Parts {
    uint32_t device;  // the card's number
    Card& card;
    InFlight& in_flight;
    DeviceObserver& observer;
    const CardClocks& clocks;
    const CardExecutorOptions& options;
    std::function<Status()> keep_waiting;   // tick of the card's waits
    std::function<bool()> stop_is_overdue;  // nothing more is to be tried
    bool
        behind_another;  // the card is reached through a link of another, and may be cut off from the host
    std::function<void(ResetStrength)> before_reset;  // called before the card is reset
  };
  explicit Recovery(Parts parts) : parts_(std::move(parts)) {}

  // Boots the card for the first time. With an error it is lost until Reset, and the observer is not notified.
  Status FirstBoot();
  // Not OK: the card is lost, until it is found again where another process took it away, else until Reset.
  const Status& lost() const { return lost_; }
  // The card hung or faulted: it runs no more until RecoverIfStopped. `place`: none if it reported that itself.
  void SetStopped(const Status& why, const std::optional<StopPlace>& place) {
    stop_ = {why, place, ""};
  }
  // The same for a card that has done nothing wrong and is reset: "reset by the administrator". Also for one that is
  // lost.
  void SetToBeReset(const std::string& why) { stop_ = {OkStatus(), std::nullopt, why}; }
  bool stopped() const { return stop_.has_value(); }
  // Neither lost nor stopped.
  bool CardRuns() const { return lost_.ok() && !stop_.has_value(); }
  // Before RecoverIfStopped, where other cards are to be halted before this one is recovered.
  void HaltIfStopped();
  void RecoverIfStopped();
  // Checks once a second whether the card is still there, or there again; less often where that takes long. Call before
  // `next_look`.
  void LookAtCard();
  // The chip that the card is reached through loses its state: the card is lost until it is found again.
  void NeighbourIsReset();
  TimePoint next_look() const { return next_look_; }

  // Everything that has not started, when there is no card to run it.
  void FailQueued(const SliceError& error);

 private:
  struct Stop {
    Status why;
    std::optional<StopPlace> place;
    std::string reset;  // why the card is reset; empty: `why` is to be looked into
  };

  // A card that was halted, and the host's records from before.
  struct Halted {
    TimePoint began;
    HangReport report;  // of a card that was not to be reset
    bool kept = true;   // on disk
    CardStop stop;
  };

  // False: it is lost from now on.
  bool CardIsThere();
  void Recover(const Stop& cause, Halted halted);
  Halted Halt(const Stop& stop);
  void LookWhetherCutOff();
  Status Reset(const std::string& why, const Halted& halted);
  CardStop HaltCard();
  std::vector<StoppedSlice> Stopped(const CardStop& stop);
  // Ends and requeues all slices but the offender. `error`: of those that were interrupted.
  void CarryOut(const RecoveryPlan& plan, const std::vector<SubmittedSlice*>& entries,
                const SliceError& error);
  void FailOffender(SubmittedSlice& entry, const SliceError& error);
  HardwareQueue* SuspectRefused(const std::optional<StopPlace>& place);
  Status BootAgain(const std::string& why);
  Status Boot(ResetStrength strength);
  Status TryBoot(ResetStrength strength, const std::string& why);
  void LookNow();
  // Fails everything in flight, and ends every session.
  void GiveCardUp(StatusCode code, const std::string& text);
  void SetState(DeviceState state, const std::string& why) {
    parts_.observer.DeviceStateChanged(parts_.device, state, why);
  }

  const Parts parts_;
  Status lost_;
  bool booted_ = false;    // once, at least
  bool look_for_ = false;  // it is lost, and may be found again though it is there
  std::optional<Stop> stop_;
  std::optional<Halted> halted_;  // by HaltIfStopped
  TimePoint next_look_;
  uint32_t boots_tried_ = 0;  // of the last recovery
};

}  // namespace ttfd
