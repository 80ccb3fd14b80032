// What the device thread does when the card hangs or faults: say who did it, fail what was in flight, boot again.
#include <algorithm>
#include <utility>

#include "daemon/card/engine.h"
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

// What the card has completed is off the queues; the rest, in the order of its submission.
std::vector<SubmittedSlice*> Engine::SlicesInFlight() {
  std::vector<SubmittedSlice*> entries;
  for (HardwareQueue& queue : queues_) {
    for (SubmittedSlice& entry : queue.in_flight) entries.push_back(&entry);
  }
  std::sort(entries.begin(), entries.end(),
            [](const SubmittedSlice* a, const SubmittedSlice* b) { return a->turn < b->turn; });
  return entries;
}

std::vector<StoppedSlice> Engine::Stopped(const std::vector<SubmittedSlice*>& entries) {
  std::vector<StoppedSlice> stopped;
  for (const SubmittedSlice* const entry : entries) {
    const Ticket ticket{entry->slice.route.hardware_queue, entry->ticket};
    stopped.push_back({entry, dispatcher_->StateOf(ticket)});
  }
  return stopped;
}

// What runs again goes back to its queue the youngest first: each is the next of its queue then.
void Engine::CarryOut(const RecoveryPlan& plan, const std::vector<SubmittedSlice*>& entries,
                      const SliceError& error) {
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i == plan.offender) continue;  // its session has it
    SubmittedSlice& entry = *entries[i];
    Slice& slice = entry.slice;
    HardwareQueue& queue = queues_[slice.route.hardware_queue];
    const RecoveryPlan::Step& step = plan.steps[i];
    queue.scheduler.Refund(slice);  // what it took is not known
    if (step.outcome == SliceOutcome::kRequeued) continue;
    slice.queue->slices.Ended({queue.index, entry.ticket});
    if (step.outcome == SliceOutcome::kCompleted) {
      launches_.fetch_add(slice.launches, std::memory_order_relaxed);
      if (slice.runs_kernels()) recent_.Add(queue.index, slice);
      queue.shown_completed.fetch_add(1, std::memory_order_relaxed);
      slice.times.began = std::max(entry.watch.began, slice.times.submitted);
      entry.session->Done(std::span(&slice, 1));
    } else {
      entry.session->Failed(slice, error.With(step.state));
    }
  }
  for (size_t i = entries.size(); i-- > 0;) {
    if (plan.steps[i].outcome != SliceOutcome::kRequeued) continue;
    SubmittedSlice& entry = *entries[i];
    const Ticket ticket{entry.slice.route.hardware_queue, entry.ticket};
    dispatcher_->TakeBack(ticket);
    if (i == plan.suspect) ++entry.slice.suspected;
    entry.session->Requeue(ticket, std::move(entry.slice));
  }
  for (HardwareQueue& queue : queues_) queue.ClearInFlight();
  round_had_news_ = true;
}

void Engine::FailOffender(SubmittedSlice& entry, const SliceError& error) {
  const std::shared_ptr<Session> session = std::move(entry.session);
  const Slice slice = std::move(entry.slice);
  HardwareQueue& queue = queues_[slice.route.hardware_queue];
  queue.scheduler.Used(slice, work_clock_.Now() - entry.watch.work_began);
  slice.queue->slices.Ended({queue.index, entry.ticket});
  session->Failed(slice, error);
  observer_.SessionHung(*session, error.hang_report);
}

// The queue whose next slice the card did not take when it stopped, if that slice was suspected before.
HardwareQueue* Engine::SuspectRefused(const std::optional<StopPlace>& place) {
  for (HardwareQueue& queue : queues_) {
    if (place.has_value() && place->hardware_queue != queue.index) continue;
    Slice* const next = queue.refused_slice();
    if (next != nullptr) return next->suspected++ == 0 ? nullptr : &queue;
  }
  return nullptr;
}

// Other sessions receive nothing, unless the reset took something from them; and then what happened, but not in whose
// code.
void Engine::Lose(const Status& why) {
  const TimePoint began = clock_.Now();
  const TimePoint now = device_clock_.Now();
  HangReport report = HostEvidence(why);
  HangKeeper* const hangs = options_.hangs;
  bool kept = hangs == nullptr || hangs->KeepHostSide(report);

  report.stall = dispatcher_->HaltAndDiagnose();
  dispatcher_->SalvagePrints();
  for (HardwareQueue& queue : queues_) Retire(queue, now);
  DescribeStall(why, &report);
  const std::vector<SubmittedSlice*> entries = SlicesInFlight();
  const std::vector<StoppedSlice> stopped = Stopped(entries);
  const std::optional<StopPlace> place = std::exchange(stop_place_, std::nullopt);
  const RecoveryPlan plan = PlanRecovery(stopped, recent_, report.stall, place);
  AddPlan(plan, stopped, &report);
  report.headline = Headline(why, report);
  SubmittedSlice* const offender = plan.offender.has_value() ? entries[*plan.offender] : nullptr;
  const std::string details =
      StallDetails(report, offender == nullptr ? nullptr : &offender->slice);
  // An id that cannot be looked up is of no use to anybody.
  const auto shown_id = [&] {
    return hangs != nullptr && hangs->Holds(report.id) ? report.id : std::string();
  };
  std::string id = shown_id();
  LogError("device lost: {}: {}", WithHint(report.headline, id), OnOneLine(details));
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
  if (dispatcher_->device_info().memory_survives_reset) {
    CarryOut(plan, entries, error);
  } else {
    FailInFlight(error);
  }
  const Status recovered = Recover(text);
  DescribeRecovery(recovered, &report);
  report.boot_attempts = boots_tried_;
  report.recovery_ms = std::chrono::duration<double, std::milli>(clock_.Now() - began).count();
  if (hangs != nullptr) hangs->KeepOutcome(report);
  if (recovered.ok()) LogInfo("the card works again after {:.1f} ms", report.recovery_ms);
}

void Engine::FailInFlight(const SliceError& error) {
  for (HardwareQueue& queue : queues_) {
    for (const SubmittedSlice& entry : std::exchange(queue.in_flight, {})) {
      if (entry.session == nullptr) continue;  // its command has failed already
      queue.scheduler.Refund(entry.slice);
      entry.slice.queue->slices.Ended({queue.index, entry.ticket});
      entry.session->Failed(entry.slice, error);
    }
    queue.ClearInFlight();
  }
  round_had_news_ = true;
}

// Everything that has not started, when there is no card to run it.
void Engine::FailQueued(const SliceError& error) {
  bool again = true;
  while (std::exchange(again, false)) {  // what was waited for frees what waited
    for (HardwareQueue& queue : queues_) {
      while (SessionQueue* const from = queue.scheduler.Next(BusyWorkers())) {
        from->share.owner->shared_from_this()->Refused(*from, error);
        again = true;
        round_had_news_ = true;
      }
    }
  }
}

Status Engine::TryBoot(ResetStrength strength, const std::string& why) {
  Status booted = dispatcher_->Boot(strength, [this] { return KeepWaiting(); });
  heartbeat_.fetch_add(1, std::memory_order_relaxed);  // the waits of a boot have deadlines: alive
  if (booted.ok()) {
    lost_ = OkStatus();
    recent_.CardBooted();
    observer_.DeviceStateChanged(DeviceState::kReady, why);
  }
  return booted;
}

Status Engine::Recover(const std::string& why) {
  observer_.DeviceStateChanged(DeviceState::kRecovering, why);
  resets_.fetch_add(1, std::memory_order_relaxed);
  Status status;
  boots_tried_ = 0;
  while (boots_tried_ < std::max(options_.boot_attempts, 1u) &&
         (boots_tried_ == 0 || !StopIsOverdue())) {
    ++boots_tried_;
    const bool chip = device_info().resets_chip && boots_tried_ > 1;
    if (chip) {
      GiveCardUp(
          StatusCode::kUnavailable,
          "the card does not work after a reset of its harts; that of its chip loses all memory");
    }
    status = TryBoot(chip ? ResetStrength::kChip : ResetStrength::kHarts, why);
    if (status.ok()) return status;
    LogError("boot after a reset failed: {}", StatusMessage(status));
  }
  GiveCardUp(status.code(), status.code() == StatusCode::kCancelled
                                ? "the daemon stops before the card is repaired"
                                : fmt::format("the card does not come back after a reset: {}",
                                              StatusMessage(status)));
  return status;
}

void Engine::GiveCardUp(StatusCode code, const std::string& text) {
  LogError("device lost: {}", text);
  lost_ = Error(code, "{}", text);
  stop_place_.reset();
  FailInFlight(ResetError(text));
  observer_.DeviceStateChanged(DeviceState::kFailed, text);
}

bool Engine::CardIsThere() {
  const Status present = dispatcher_->CheckPresence();
  if (!present.ok()) GiveCardUp(present.code(), std::string(StatusMessage(present)));
  return present.ok();
}

// Once a second. A card that was lost is looked for until it is back.
void Engine::LookAtCard() {
  constexpr char kBack[] = "the card was lost, and its driver serves it again";
  if (clock_.Now() < next_look_) return;
  next_look_ = clock_.Now() + std::chrono::seconds(1);
  if (lost_.ok()) {
    CardIsThere();
    return;
  }
  if (dispatcher_->CheckPresence().ok()) return;
  if (TryBoot(ResetStrength::kHarts, kBack).ok()) {
    resets_.fetch_add(1, std::memory_order_relaxed);
    LogInfo("the card is back, and works");
  } else if (dispatcher_->CheckPresence().code() != StatusCode::kUnavailable) {
    Recover(kBack).IgnoreError();
  }
}

}  // namespace ttfd
