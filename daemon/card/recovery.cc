// Recovers a card that stopped.
#include "daemon/card/recovery.h"

#include <algorithm>
#include <utility>

#include "daemon/card/hang_evidence.h"
#include "daemon/card/headline.h"
#include "daemon/card/stall_text.h"
#include "runtime/base/log.h"
#include "runtime/command/program_layout.h"

namespace ttfd {
namespace {

constexpr const char* kUnkept =
    "; not all of the hang report could be kept, the daemon's log says why";
constexpr const char* kNoReport = "; no hang report could be kept, the daemon's log says why";

}  // namespace

// Leaves in flight what the card has not completed. May reset a card that does not answer.
CardStop Recovery::HaltCard() {
  parts_.before_reset(ResetStrength::kHarts);
  CardStop stop = parts_.card.Halt(&parts_.in_flight.output());
  parts_.in_flight.Retire(parts_.clocks.device.Now());
  return stop;
}

std::vector<StoppedSlice> Recovery::Stopped(const CardStop& stop) {
  std::vector<StoppedSlice> stopped;
  for (const SubmittedSlice* const entry : parts_.in_flight.All()) {
    stopped.push_back({entry, stop.StateOf({entry->slice.route.hardware_queue, entry->ticket})});
  }
  return stopped;
}

// Returns slices that run again to their queues the youngest first: each is the next of its queue then.
void Recovery::CarryOut(const RecoveryPlan& plan, const std::vector<SubmittedSlice*>& entries,
                        const SliceError& error) {
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i == plan.offender) continue;  // its session has it
    SubmittedSlice& entry = *entries[i];
    Slice& slice = entry.slice;
    const uint32_t queue = slice.route.hardware_queue;
    const RecoveryPlan::Step& step = plan.steps[i];
    if (step.outcome == SliceOutcome::kCompleted) {
      parts_.in_flight.RetireStopped(entry);
      continue;
    }
    parts_.in_flight.queues()[queue].scheduler.Refund(slice);  // what it took is not known
    if (step.outcome == SliceOutcome::kRequeued) continue;
    slice.queue->slices.Ended({queue, entry.ticket});
    entry.session->Failed(slice, error.With(step.state));
  }
  for (size_t i = entries.size(); i-- > 0;) {
    if (plan.steps[i].outcome != SliceOutcome::kRequeued) continue;
    SubmittedSlice& entry = *entries[i];
    const Ticket ticket{entry.slice.route.hardware_queue, entry.ticket};
    if (i == plan.suspect) ++entry.slice.suspected;
    entry.session->Requeue(ticket, std::move(entry.slice));
  }
  parts_.in_flight.Clear();
}

void Recovery::FailOffender(SubmittedSlice& entry, const SliceError& error) {
  const std::shared_ptr<Session> session = std::move(entry.session);
  const Slice slice = std::move(entry.slice);
  HardwareQueue& queue = parts_.in_flight.queues()[slice.route.hardware_queue];
  queue.scheduler.Used(slice, parts_.clocks.work.Now() - entry.watch.work_began);
  slice.queue->slices.Ended({queue.index, entry.ticket});
  session->Failed(slice, error);
  parts_.observer.SessionHung(*session, error.hang_report);
}

// The queue whose next slice the card did not take when it stopped, if that slice was suspected before.
HardwareQueue* Recovery::SuspectRefused(const std::optional<StopPlace>& place) {
  for (HardwareQueue& queue : parts_.in_flight.queues()) {
    if (place.has_value() && place->hardware_queue != queue.index) continue;
    Slice* const next = queue.refused_slice();
    if (next != nullptr) return next->suspected++ == 0 ? nullptr : &queue;
  }
  return nullptr;
}

Recovery::Halted Recovery::Halt(const Stop& stop) {
  if (halted_.has_value()) return *std::exchange(halted_, std::nullopt);
  Halted halted{.began = parts_.clocks.host.Now(), .report = {}, .stop = {}};
  if (stop.reset.empty()) {
    halted.report = HostEvidence(stop.why, parts_.in_flight.queues(),
                                 parts_.in_flight.recent_launches(), parts_.card.probe());
    halted.report.device = parts_.device;
    HangKeeper* const hangs = parts_.options.hangs;
    if (hangs != nullptr) halted.report.id = hangs->NewId();
    halted.kept = hangs == nullptr || hangs->KeepHostSide(halted.report);
  }
  halted.stop = HaltCard();
  return halted;
}

// The link to a chip may be opened again; what the chip has in memory is there then.
void Recovery::LookWhetherCutOff() {
  if (!parts_.behind_another || halted_.has_value() || !stop_->reset.empty()) return;
  const Status present = parts_.card.CheckPresence();
  if (present.ok()) return;
  stop_->reset = fmt::format("reset because it was cut off: {}", StatusMessage(present));
}

void Recovery::HaltIfStopped() {
  if (!stop_.has_value() || !lost_.ok() || halted_.has_value()) return;
  LookWhetherCutOff();
  if (parts_.card.CheckPresence().ok()) halted_ = Halt(*stop_);
}

void Recovery::RecoverIfStopped() {
  if (!stop_.has_value()) return;
  LookWhetherCutOff();
  const Stop stop = *std::exchange(stop_, std::nullopt);
  if (!stop.reset.empty()) {
    Reset(stop.reset, Halt(stop)).IgnoreError();
  } else if (halted_.has_value() || CardIsThere()) {
    Recover(stop, Halt(stop));
  }
}

// Other sessions receive nothing, unless the reset took something from them; and then what happened, but not in whose
// code.
void Recovery::Recover(const Stop& cause, Halted halted) {
  const Status& why = cause.why;
  const std::optional<StopPlace>& place = cause.place;
  HangReport& report = halted.report;
  CardStop& stop = halted.stop;
  HangKeeper* const hangs = parts_.options.hangs;
  bool kept = halted.kept;
  report.stall = std::move(stop.stall);
  DescribeStall(why, &report);
  const std::vector<SubmittedSlice*> entries = parts_.in_flight.All();
  const std::vector<StoppedSlice> stopped = Stopped(stop);
  const RecoveryPlan plan =
      PlanRecovery(stopped, parts_.in_flight.recent_launches(), report.stall, place);
  AddPlan(plan, stopped, &report);
  report.headline = Headline(why, report);
  SubmittedSlice* const offender = plan.offender.has_value() ? entries[*plan.offender] : nullptr;
  const std::string details =
      StallDetails(report, offender == nullptr ? nullptr : &offender->slice);
  // An id that cannot be looked up is of no use.
  const auto shown_id = [&] {
    return hangs != nullptr && hangs->Holds(report.id) ? report.id : std::string();
  };
  std::string id = shown_id();
  LogError("device {} lost: {}: {}", parts_.device, WithHint(report.headline, id),
           OnOneLine(details));
  kept &= hangs == nullptr || hangs->KeepDeviceSide(report);
  id = shown_id();
  const char* const unkept = kept ? "" : id.empty() ? kNoReport : kUnkept;
  const std::string text = fmt::format("{}\n{}{}", WithHint(report.headline, id), details, unkept);

  const SliceError error{
      StatusCode::kUnavailable, "DEVICE_RESET",
      fmt::format("{}\n{}{}", WithHint(HeadlineForOthers(report), id), report.summary, unkept),
      true, id};
  if (offender != nullptr) {
    const ExecutionState state = stopped[*plan.offender].state;
    FailOffender(*offender, {StatusCode::kAborted, report.reason, text, false, id, state});
  } else if (!plan.suspect.has_value()) {
    HardwareQueue* const given_up = SuspectRefused(place);
    if (given_up != nullptr) given_up->refused_session->Refused(*given_up->refused, error);
  }
  if (parts_.card.device_info().memory_survives_reset) {
    CarryOut(plan, entries, error);
  } else {
    parts_.in_flight.Fail(error);
  }
  const Status recovered = BootAgain(text);
  DescribeRecovery(recovered, &report);
  report.boot_attempts = boots_tried_;
  report.recovery_ms =
      std::chrono::duration<double, std::milli>(parts_.clocks.host.Now() - halted.began).count();
  if (hangs != nullptr) hangs->KeepOutcome(report);
  if (recovered.ok()) {
    LogInfo("device {} works again after {:.1f} ms", parts_.device, report.recovery_ms);
  }
}

Status Recovery::Reset(const std::string& why, const Halted& halted) {
  const CardStop& stop = halted.stop;
  const SliceError error = ResetError("the card was " + why);
  if (lost_.ok() && parts_.card.device_info().memory_survives_reset) {
    const std::vector<SubmittedSlice*> entries = parts_.in_flight.All();
    CarryOut(PlanReset(Stopped(stop)), entries, error);
  } else {
    parts_.in_flight.Fail(error);
  }
  lost_ = OkStatus();
  return BootAgain(why);
}

// Everything that has not started, when there is no card to run it.
void Recovery::FailQueued(const SliceError& error) {
  bool again = true;
  while (std::exchange(again, false)) {  // what was waited for frees what waited
    for (HardwareQueue& queue : parts_.in_flight.queues()) {
      while (SessionQueue* const from = queue.scheduler.Next(BusyWorkers())) {
        from->share.owner->shared_from_this()->Refused(*from, error);
        again = true;
        parts_.in_flight.AddNews();
      }
    }
  }
}

Status Recovery::Boot(ResetStrength strength) {
  halted_.reset();
  parts_.before_reset(strength);
  Status booted = parts_.card.Boot(strength, [this] { return parts_.keep_waiting(); });
  booted_ |= booted.ok();
  look_for_ &= !booted.ok();
  return booted;
}

Status Recovery::FirstBoot() {
  SetState(DeviceState::kBooting, "");
  lost_ = Boot(ResetStrength::kHarts);
  const bool may_reset = parts_.card.device_info().resets_chip;
  if (!lost_.ok() && may_reset && lost_.code() != StatusCode::kCancelled) {
    LogError("device {} does not boot, its chip is reset: {}", parts_.device, StatusMessage(lost_));
    lost_ = Boot(ResetStrength::kChip);
  }
  if (lost_.ok()) SetState(DeviceState::kReady, "");
  return lost_;
}

Status Recovery::TryBoot(ResetStrength strength, const std::string& why) {
  Status booted = Boot(strength);
  if (booted.ok()) {
    lost_ = OkStatus();
    parts_.in_flight.CardBooted();
    SetState(DeviceState::kReady, why);
  }
  return booted;
}

Status Recovery::BootAgain(const std::string& why) {
  SetState(DeviceState::kRecovering, why);
  parts_.in_flight.stats().AddReset();
  Status status;
  boots_tried_ = 0;
  while (boots_tried_ < std::max(parts_.options.boot_attempts, 1u) &&
         (boots_tried_ == 0 || !parts_.stop_is_overdue())) {
    ++boots_tried_;
    const bool chip = parts_.card.device_info().resets_chip && boots_tried_ > 1;
    if (chip) {
      GiveCardUp(
          StatusCode::kUnavailable,
          "the card does not work after a reset of its harts; that of its chip loses all memory");
    }
    status = TryBoot(chip ? ResetStrength::kChip : ResetStrength::kHarts, why);
    if (status.ok()) return status;
    LogError("device {}: boot after a reset failed: {}", parts_.device, StatusMessage(status));
  }
  GiveCardUp(status.code(), status.code() == StatusCode::kCancelled
                                ? "the daemon stops before the card is repaired"
                                : fmt::format("the card does not come back after a reset: {}",
                                              StatusMessage(status)));
  return status;
}

void Recovery::GiveCardUp(StatusCode code, const std::string& text) {
  LogError("device {} lost: {}", parts_.device, text);
  lost_ = Error(code, "{}", text);
  halted_.reset();
  parts_.in_flight.Retire(parts_.clocks.device.Now());
  parts_.in_flight.Fail(ResetError(text));
  SetState(DeviceState::kFailed, text);
}

bool Recovery::CardIsThere() {
  const Status present = parts_.card.CheckPresence();
  if (!present.ok()) GiveCardUp(present.code(), std::string(StatusMessage(present)));
  return present.ok();
}

void Recovery::NeighbourIsReset() {
  if (!booted_ || !lost_.ok()) return;
  if (stop_.has_value() && stop_->reset.empty()) stop_.reset();
  GiveCardUp(StatusCode::kUnavailable, "the chip through which the card is reached is reset");
  look_for_ = true;
}

void Recovery::LookAtCard() {
  constexpr uint32_t kMostPart = 16;  // of the time
  const TimePoint began = parts_.clocks.host.Now();
  if (began < next_look_) return;
  LookNow();
  const TimePoint now = parts_.clocks.host.Now();
  const Duration rest = lost_.ok() ? Duration::zero() : (now - began) * kMostPart;
  next_look_ = now + std::max<Duration>(std::chrono::seconds(1), rest);
}

// A card that was lost is looked for until it is back.
void Recovery::LookNow() {
  constexpr char kBack[] = "the card was lost, and is there again";
  if (lost_.ok()) {
    CardIsThere();
    return;
  }
  if (!look_for_ && parts_.card.CheckPresence().ok()) return;
  if (TryBoot(ResetStrength::kHarts, kBack).ok()) {
    parts_.in_flight.stats().AddReset();
    LogInfo("device {} is back, and works", parts_.device);
  } else if (parts_.card.CheckPresence().code() != StatusCode::kUnavailable) {
    BootAgain(kBack).IgnoreError();
  }
}

}  // namespace ttfd
