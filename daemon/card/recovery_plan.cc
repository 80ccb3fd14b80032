// Decides what becomes of each slice on a card that stopped.
#include "daemon/card/recovery_plan.h"

#include <algorithm>
#include <utility>

#include "daemon/card/stall_text.h"

namespace ttfd {
namespace {

using Step = RecoveryPlan::Step;

// Two regions share bytes only if they are the same buffer: an allocation has its address range in all banks.
using Place = std::pair<MemoryKind, uint32_t>;

std::optional<Place> ReadsFrom(const Command& command) {
  if (const auto* read = std::get_if<ReadCommand>(&command)) {
    return Place(read->region.kind, read->region.base_address);
  }
  if (const auto* copy = std::get_if<CopyCommand>(&command)) {
    return Place(copy->from.kind, copy->from.base_address);
  }
  return std::nullopt;
}

std::optional<Place> WritesTo(const Command& command) {
  if (const auto* write = std::get_if<WriteCommand>(&command)) {
    return Place(write->region.kind, write->region.base_address);
  }
  if (const auto* fill = std::get_if<FillCommand>(&command)) {
    return Place(fill->region.kind, fill->region.base_address);
  }
  if (const auto* copy = std::get_if<CopyCommand>(&command)) {
    return Place(copy->to.kind, copy->to.base_address);
  }
  return std::nullopt;
}

// `later` began only when `earlier` was done.
bool Follows(const SubmittedSlice& later, const SubmittedSlice& earlier) {
  if (later.slice.queue == earlier.slice.queue && later.slice.route == earlier.slice.route)
    return true;
  const uint32_t queue = earlier.slice.route.hardware_queue;
  return std::any_of(later.after.begin(), later.after.end(), [&](const Ticket& ticket) {
    return ticket.hardware_queue == queue && ticket.number >= earlier.ticket;
  });
}

bool Runs(const Slice& slice, uint32_t program) {
  return program != 0 && slice.runs_kernels() &&
         std::find(slice.programs->begin(), slice.programs->end(), program) !=
             slice.programs->end();
}

class Planner {
 public:
  explicit Planner(std::span<const StoppedSlice> slices) : slices_(slices) {
    for (const StoppedSlice& one : slices) {
      Step& step = plan_.steps.emplace_back();
      step.state = one.state;
    }
  }

  void FindCause(const RecentLaunches& ended, const StallReport& stall,
                 const std::optional<StopPlace>& place) {
    const std::optional<size_t> runner = FindRunner(stall, place);
    const bool damaged = runner.has_value() && IsDamaged(stall, slice(*runner));
    plan_.offender = runner.has_value() && !damaged ? runner : FindSole(ended, stall);
    if (plan_.offender.has_value()) {
      return Decide(*plan_.offender, SliceOutcome::kAborted, "its kernels stopped the card");
    }
    if (damaged) {
      Decide(*runner, SliceOutcome::kInterrupted,
             "firmware or a kernel was overwritten under it, perhaps by another");
    }
    plan_.suspect = FindSuspect(stall, place);
    if (!plan_.suspect.has_value()) return;
    if (slice(*plan_.suspect).suspected > 0 &&
        outcome(*plan_.suspect) == SliceOutcome::kUndecided) {
      Decide(*plan_.suspect, SliceOutcome::kInterrupted, "the card stopped twice when it was next");
    }
  }

  // Decides the rest. Transfers come last: by then it is known which launches had started.
  RecoveryPlan Finish() {
    for (size_t i = 0; i < slices_.size(); ++i) {
      if (slice(i).runs_kernels() && outcome(i) == SliceOutcome::kUndecided) DecideLaunch(i);
    }
    for (size_t i = 0; i < slices_.size(); ++i) {
      if (outcome(i) == SliceOutcome::kUndecided) DecideTransfer(i);
    }
    return std::move(plan_);
  }

 private:
  const Slice& slice(size_t index) const { return slices_[index].entry->slice; }
  uint32_t queue_of(size_t index) const { return slice(index).route.hardware_queue; }
  uint64_t session(size_t index) const { return slice(index).share().session; }
  SliceOutcome outcome(size_t index) const { return plan_.steps[index].outcome; }

  void Decide(size_t index, SliceOutcome outcome, const char* why) {
    plan_.steps[index].outcome = outcome;
    plan_.steps[index].why = why;
  }

  // It had started and has not ended.
  bool MayRun(size_t index) const {
    return slice(index).runs_kernels() && (slices_[index].state == ExecutionState::kRunning ||
                                           slices_[index].state == ExecutionState::kUnknown);
  }

  // The launch whose kernels are seen to have stopped the card, if what it depends on is as the host left it.
  std::optional<size_t> FindRunner(const StallReport& stall,
                                   const std::optional<StopPlace>& place) const {
    if (const HartReport* const faulted = FaultedHart(stall)) return RunnerOn(*faulted);
    if (place.has_value() && place->refused) return std::nullopt;
    std::optional<size_t> found;
    for (uint32_t queue = 0; queue < kHardwareQueues; ++queue) {
      if (place.has_value() && place->hardware_queue != queue) continue;
      const std::optional<size_t> head = FirstOf(queue, place.has_value() ? place->ticket : 0);
      if (!head.has_value() || !MayRun(*head) || !IsAtWork(stall, slice(*head))) continue;
      const bool stopped = stall.stage != StalledStage::kNone && stall.hardware_queue == queue;
      if (stopped) return head;
      if (!found.has_value() || *head < *found) found = head;
    }
    return found;
  }

  // Finds the launch of the program that the tile of the worker began last. A hart that prefetches or dispatches runs
  // no launch.
  std::optional<size_t> RunnerOn(const HartReport& faulted) const {
    if (faulted.worker == HartReport::kNoWorker) return std::nullopt;
    for (size_t i = 0; i < slices_.size(); ++i) {
      if (MayRun(i) && Runs(slice(i), faulted.program)) return i;
    }
    return std::nullopt;
  }

  // The first of the hardware queue that has not completed. `ticket`: no other, unless it is 0.
  std::optional<size_t> FirstOf(uint32_t queue, uint64_t ticket) const {
    for (size_t i = 0; i < slices_.size(); ++i) {
      if (queue_of(i) == queue && slices_[i].state != ExecutionState::kCompleted &&
          (ticket == 0 || slices_[i].entry->ticket == ticket)) {
        return i;
      }
    }
    return std::nullopt;
  }

  static bool IsAtWork(const StallReport& stall, const Slice& slice) {
    return std::any_of(stall.harts.begin(), stall.harts.end(), [&slice](const HartReport& hart) {
      return hart.worker != HartReport::kNoWorker && Runs(slice, hart.program);
    });
  }

  // Was anything overwritten that the slice's kernels depend on?
  static bool IsDamaged(const StallReport& stall, const Slice& slice) {
    const auto* const launch = std::get_if<LaunchCommand>(&slice.command);
    const HartReport* const faulted = FaultedHart(stall);
    return std::any_of(stall.damage.begin(), stall.damage.end(), [&](const FirmwareDamage& damage) {
      if (damage.worker == FirmwareDamage::kNone || launch == nullptr) return true;
      return launch->program->tiles.test(static_cast<size_t>(damage.worker)) ||
             (faulted != nullptr && faulted->worker == damage.worker);
    });
  }

  // The launch that overwrote something, if no other session's kernels have started since the boot.
  std::optional<size_t> FindSole(const RecentLaunches& ended, const StallReport& stall) const {
    if (stall.damage.empty()) return std::nullopt;
    std::optional<size_t> found;
    std::optional<uint64_t> sole;
    for (size_t i = 0; i < slices_.size(); ++i) {
      if (!slice(i).runs_kernels() || slices_[i].state == ExecutionState::kNotStarted) continue;
      if (!sole.has_value()) sole = session(i);
      if (session(i) != *sole || !ended.OnlyOf(*sole)) return std::nullopt;
      if (MayRun(i) && !found.has_value()) found = i;
    }
    return found;
  }

  // The first that has not completed, of the hardware queue that stopped; if that has none, of all.
  std::optional<size_t> FindSuspect(const StallReport& stall,
                                    const std::optional<StopPlace>& place) const {
    if (place.has_value() && place->refused) return std::nullopt;
    const uint32_t queue = place.has_value() ? place->hardware_queue : stall.hardware_queue;
    if (const auto first = FirstOf(queue, place.has_value() ? place->ticket : 0)) return first;
    std::optional<size_t> eldest;
    for (size_t i = slices_.size(); i-- > 0;) {
      if (slices_[i].state != ExecutionState::kCompleted) eldest = i;
    }
    return eldest;
  }

  void DecideLaunch(size_t index) {
    Step& step = plan_.steps[index];
    if (step.state == ExecutionState::kCompleted) {
      return Decide(index, SliceOutcome::kCompleted, "all its workers had answered");
    }
    if (step.state == ExecutionState::kUnknown && IsBehindAnother(index)) {
      step.state = ExecutionState::kNotStarted;
    }
    if (step.state == ExecutionState::kNotStarted) {
      return Decide(index, SliceOutcome::kRequeued, "it had not started");
    }
    Decide(index, SliceOutcome::kInterrupted, "its kernels were running, or may have been");
  }

  // Is there a launch before it that has not ended and on whose workers it waited?
  bool IsBehindAnother(size_t index) const {
    for (size_t i = 0; i < index; ++i) {
      const ExecutionState state = plan_.steps[i].state;
      const bool not_ended =
          state == ExecutionState::kNotStarted || state == ExecutionState::kRunning;
      if (slice(i).runs_kernels() && not_ended && ShareWorkers(slice(i), slice(index))) return true;
    }
    return false;
  }

  void DecideTransfer(size_t index) {
    const SubmittedSlice& entry = *slices_[index].entry;
    const std::optional<Place> source = ReadsFrom(entry.slice.command);
    for (size_t i = index + 1; i < slices_.size(); ++i) {
      const SubmittedSlice& later = *slices_[i].entry;
      if (later.slice.share().session != entry.slice.share().session ||
          plan_.steps[i].state == ExecutionState::kNotStarted)
        continue;
      if (outcome(i) == SliceOutcome::kCompleted && Follows(later, entry)) return Passed(index);
      if (!source.has_value()) continue;
      // A later slice that had not started before this one was done changed nothing under it.
      if (later.slice.runs_kernels()) {
        return Decide(index, SliceOutcome::kInterrupted,
                      "a later launch of its session may have changed it");
      }
      if (WritesTo(later.slice.command) == source) {
        return Decide(index, SliceOutcome::kInterrupted,
                      "a later write of its session may have changed it");
      }
    }
    const bool started = plan_.steps[index].state != ExecutionState::kNotStarted;
    Decide(index, SliceOutcome::kRequeued, started ? "it can be done twice" : "it had not started");
  }

  // Something that waited for it has ended.
  void Passed(size_t index) {
    if (slice(index).read == nullptr || slice(index).read->data.size() == slice(index).bytes) {
      return Decide(index, SliceOutcome::kCompleted, "what waited for it had ended");
    }
    plan_.steps[index].state = ExecutionState::kCompleted;
    Decide(index, SliceOutcome::kInterrupted, "it was done, and its data is lost");
  }

  const std::span<const StoppedSlice> slices_;
  RecoveryPlan plan_;
};

}  // namespace

RecoveryPlan PlanRecovery(std::span<const StoppedSlice> slices, const RecentLaunches& ended,
                          const StallReport& stall, const std::optional<StopPlace>& place) {
  Planner planner(slices);
  planner.FindCause(ended, stall, place);
  return planner.Finish();
}

RecoveryPlan PlanReset(std::span<const StoppedSlice> slices) { return Planner(slices).Finish(); }

}  // namespace ttfd
