// Whose work made the card hang or fault, as far as what the card shows is evidence of it.
#include <algorithm>

#include "daemon/card/engine.h"
#include "daemon/card/stall_text.h"

namespace ttfd {
namespace {

bool Contains(const std::vector<uint32_t>& programs, uint32_t program) {
  return std::find(programs.begin(), programs.end(), program) != programs.end();
}

bool MayUse(const Slice& slice, int32_t worker) {
  const TileSet& tiles = slice.route.workers;  // none: all
  return worker == HartReport::kNoWorker || tiles.none() || tiles.test(static_cast<size_t>(worker));
}

// Is it a launch of a program with a kernel on this worker?
bool Uses(const Slice& slice, int32_t worker) {
  const auto* const launch = std::get_if<LaunchCommand>(&slice.command);
  return launch != nullptr && worker != HartReport::kNoWorker &&
         launch->program->tiles.test(static_cast<size_t>(worker));
}

bool BegunKernels(const Verdict& verdict) {
  return verdict.entry->slice.runs_kernels() && verdict.state != ExecutionState::kNotStarted;
}

// Stands a hart in a kernel of this work, which nothing but the kernel itself keeps there?
bool StandsInItsKernel(const StallReport& stall, const Slice& slice) {
  return std::any_of(stall.harts.begin(), stall.harts.end(), [&slice](const HartReport& hart) {
    return hart.code.image == CodePlace::Image::kKernel && Contains(*slice.programs, hart.program);
  });
}

// Is a worker at work for it?
bool IsAtWork(const StallReport& stall, const Slice& slice) {
  return std::any_of(stall.harts.begin(), stall.harts.end(), [&slice](const HartReport& hart) {
    return hart.worker != HartReport::kNoWorker && Contains(*slice.programs, hart.program);
  });
}

bool HasQueueDamage(const StallReport& stall, uint32_t hardware_queue) {
  return std::any_of(stall.damage.begin(), stall.damage.end(),
                     [hardware_queue](const FirmwareDamage& damage) {
                       return damage.hardware_queue == static_cast<int32_t>(hardware_queue);
                     });
}

bool HasDamage(const StallReport& stall, hw::Coordinate tile) {
  return std::any_of(stall.damage.begin(), stall.damage.end(),
                     [tile](const FirmwareDamage& damage) { return damage.tile == tile; });
}

// The launch that overwrote tiles of its own hardware queue, if only one session's launches can have done it. The
// dispatcher executed everything before these launches and reported it, and nothing after an event that it has not
// published has begun; so launches that have ended but were not reported, and those that run, are the candidates.
Verdict* OverwroteItsQueue(const StallReport& stall, const std::vector<Verdict*>& begun) {
  if (begun.empty()) return nullptr;
  const bool of_one = std::all_of(begun.begin(), begun.end(), [&](const Verdict* one) {
    const Slice& slice = one->entry->slice;
    return slice.share().session == begun.front()->entry->slice.share().session &&
           (one->state == ExecutionState::kCompleted || IsAtWork(stall, slice));
  });
  const uint32_t last_queue = begun.back()->entry->slice.route.hardware_queue;
  return of_one && HasQueueDamage(stall, last_queue) ? begun.back() : nullptr;
}

// The work that runs what the hart runs: the program its tile began last; else the eldest that has a kernel there; else
// the eldest that may. A kernel may also have brought down a tile that is not its own: nobody can tell. What has not
// begun did nothing.
Verdict* FindRunner(const HartReport& hart, std::vector<Verdict>& verdicts) {
  constexpr int kNobody = 3;
  Verdict* found = nullptr;
  int found_rank = kNobody;
  for (Verdict& verdict : verdicts) {  // the eldest first
    const Slice& slice = verdict.entry->slice;
    if (!BegunKernels(verdict) || !MayUse(slice, hart.worker)) continue;
    int rank = hart.worker == HartReport::kNoWorker ? kNobody : 2;
    if (Uses(slice, hart.worker)) rank = 1;
    if (hart.program != 0 && Contains(*slice.programs, hart.program)) rank = 0;
    if (rank >= found_rank) continue;
    found = &verdict;
    found_rank = rank;
  }
  return found;
}

}  // namespace

// A launch that faulted is named by the worker that stopped, or stands at the head of its queue, behind what has ended:
// behind it nothing that shares its workers has begun.
Verdict* Engine::FindOffender(const StallReport& stall, std::vector<Verdict>& verdicts) const {
  const HartReport* const faulted = FaultedHart(stall);
  if (faulted != nullptr) {
    if (Verdict* const runner = FindRunner(*faulted, verdicts)) return runner;
  }
  Verdict* offender = nullptr;
  for (const HardwareQueue& one : queues_) {
    if (late_.has_value() && late_->hardware_queue != one.index) continue;
    // Beside kernels on workers of their own it need not be the eldest that is late.
    const auto head =
        std::find_if(verdicts.begin(), verdicts.end(), [this, &one](const Verdict& verdict) {
          return verdict.entry->slice.route.hardware_queue == one.index &&
                 verdict.state != ExecutionState::kCompleted &&
                 (!late_.has_value() || late_->number == verdict.entry->ticket);
        });
    if (head == verdicts.end() || !BegunKernels(*head)) continue;
    const bool stalled = stall.stage != StalledStage::kNone && stall.hardware_queue == one.index;
    if (offender != nullptr && !stalled && offender->entry->turn < head->entry->turn) continue;
    offender = &*head;
    if (stalled) break;
  }
  return offender;
}

// Did anybody else's kernels run since all firmware was loaded, or may have?
bool Engine::OthersRanKernels(uint64_t flow, const std::vector<Verdict>& verdicts) const {
  if (many_flows_ || (kernel_flow_ != 0 && kernel_flow_ != flow)) return true;
  return std::any_of(verdicts.begin(), verdicts.end(), [flow](const Verdict& verdict) {
    return BegunKernels(verdict) && verdict.entry->slice.share().session != flow;
  });
}

// Decides who overwrote what firmware runs on. It may have been a launch that ended well, and the one that the card
// stopped under is only the first to meet with it: that one is the offender if no other session's kernels ran since the
// boot, or if it did not stop because of the damage.
bool Engine::WeighDamage(const StallReport& stall, std::vector<Verdict>& verdicts,
                         Verdict** offender) {
  if (stall.damage.empty()) return false;
  std::vector<Verdict*> begun;
  for (Verdict& verdict : verdicts) {
    if (BegunKernels(verdict)) begun.push_back(&verdict);
  }
  if (Verdict* const sure = OverwroteItsQueue(stall, begun)) {
    const bool another = *offender == nullptr || (*offender)->entry->slice.share().session !=
                                                     sure->entry->slice.share().session;
    if (another) *offender = sure;
    return true;
  }
  if (*offender == nullptr) return true;
  const Slice& slice = (*offender)->entry->slice;
  if (!OthersRanKernels(slice.share().session, verdicts)) return true;
  const HartReport* const faulted = FaultedHart(stall);
  if (faulted == nullptr ? StandsInItsKernel(stall, slice) : !HasDamage(stall, faulted->tile)) {
    return true;  // the damage is not what stopped it
  }
  (*offender)->fate = WorkFate::kTouched;
  (*offender)->why = "firmware was overwritten under it, perhaps by another";
  *offender = nullptr;
  return true;
}

// Where no launch is to blame, what stood at the head of the queue that stopped is suspected: it runs again, once. So
// is what the card would not take, where nothing was before it, or where no time had run out.
HardwareQueue* Engine::Suspect(const Status& why, const StallReport& stall,
                               std::vector<Verdict>& verdicts) {
  const uint32_t stopped = late_.has_value() ? late_->hardware_queue : stall.hardware_queue;
  const uint64_t late = late_.has_value() ? late_->number : 0;
  const auto head = std::find_if(verdicts.begin(), verdicts.end(), [&](const Verdict& one) {
    return one.entry->slice.route.hardware_queue == stopped &&
           (late == 0 || one.entry->ticket == late);
  });
  HardwareQueue* const stuck = late_.has_value() ? &queues_[stopped] : refused_;
  const bool timed_out = why.code() == StatusCode::kDeadlineExceeded;
  Slice* const next = stuck == nullptr ? nullptr : stuck->refused_slice();
  if (next != nullptr && (head == verdicts.end() || !timed_out)) {
    return next->suspected++ == 0 ? nullptr : stuck;
  }
  if (head == verdicts.end()) return nullptr;
  head->suspected = true;
  if (head->entry->slice.suspected++ > 0) {
    head->fate = WorkFate::kTouched;
    head->why = "the card stopped twice when its turn had come";
  }
  return nullptr;
}

}  // namespace ttfd
