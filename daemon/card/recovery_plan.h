// Decides what becomes of each slice on a card that stopped, and which launch stopped it if that is proven. A pure
// function of what the card showed (StallReport, ExecutionState) and of what the host had given it.
//
// The offender is a launch whose kernels are seen at work: a hart of its workers faulted in its program, or its time is
// up, or it is the first of its hardware queue, and a hart is in its program. It is not the offender if anything that
// it depends on was overwritten (its workers, the worker that faulted, a tile of a hardware queue): a launch that ended
// before may have done that, unless no other session's kernels have run since the boot. Without proof there is no
// offender.
//
// A launch is completed if all its workers have answered, runs again only if it had not started, and is interrupted
// otherwise. A transfer runs again unless what it reads may have been changed since by its own session. All that the
// reset leaves as it was: DRAM, L1, and the order of what runs again.
//
// Resets end: without an offender the first slice that had not completed is suspected, and interrupted if it was
// suspected before.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/card/hardware_queue.h"
#include "daemon/card/recent_launches.h"
#include "daemon/hang/hang_report.h"
#include "runtime/card/stall_report.h"

namespace ttfd {

struct StoppedSlice {
  const SubmittedSlice* entry = nullptr;
  ExecutionState state = ExecutionState::kUnknown;  // when the card was halted
};

// Where the host noticed that the card had stopped.
struct StopPlace {
  uint32_t hardware_queue = 0;
  uint64_t ticket = 0;   // whose time is up; 0: of none that is on the card
  bool refused = false;  // the card does not take the next slice of the hardware queue
};

struct RecoveryPlan {
  struct Step {
    SliceOutcome outcome = SliceOutcome::kUndecided;
    ExecutionState state = ExecutionState::kUnknown;
    std::string why;
  };
  std::vector<Step> steps;         // of each slice
  std::optional<size_t> offender;  // index of it; its outcome is kAborted
  std::optional<size_t> suspect;   // index of it; at most one of the two
};

// `slices` are all that have not completed, of all hardware queues, in the order of their submission; `ended` the
// launches before. `place`: none if the card itself reported that it stopped.
RecoveryPlan PlanRecovery(std::span<const StoppedSlice> slices, const RecentLaunches& ended,
                          const StallReport& stall, const std::optional<StopPlace>& place);
// The same of a card that is reset though it works: there is neither offender nor suspect.
RecoveryPlan PlanReset(std::span<const StoppedSlice> slices);

}  // namespace ttfd
