// How a card is brought to rest: work in flight ends, the dispatch cores stop, every hart is held.
#include <algorithm>
#include <string>
#include <utility>

#include "runtime/base/log.h"
#include "runtime/boot/hart_state.h"
#include "runtime/card/firmware_card.h"
#include "runtime/card/stall_diagnosis.h"
#include "runtime/command/control_encoder.h"

namespace ttfd {

StatusOr<bool> FirmwareCard::Drain(TimePoint deadline, const ShutdownLimits& limits, Tick tick) {
  uint32_t asked = 0;  // queues that will tell when they are through
  TimePoint moved = clock_.Now();
  TimePoint look_at = moved + limits.operation;
  uint64_t fingerprint = 0;  // of the last look
  const auto done = [&]() -> StatusOr<bool> {
    // A full ring must not be waited for beyond the deadline.
    while (asked < kHardwareQueues) {
      ASSIGN_OR_RETURN(const bool room, RequestEvent({asked, submitted(asked)}));
      if (!room) break;
      ++asked;
    }
    return asked == kHardwareQueues && idle();
  };
  const auto step = [&]() -> StatusOr<bool> {
    const uint64_t before = progress_;
    ASSIGN_OR_RETURN(const bool moves, PollOrFail([] { return false; }));
    if (!moves) return NothingMoves();
    const TimePoint now = clock_.Now();
    if (progress_ != before) moved = now;
    if (now < look_at) return true;
    look_at = now + limits.operation;
    const CardSnapshot card = ReadCard(device_, plans_);
    RETURN_IF_ERROR(card.unreadable);
    const uint64_t before_look = std::exchange(fingerprint, ProgressFingerprint(card.queues));
    if (fingerprint != before_look) moved = now;
    const bool kernels =
        DiagnoseCard(card, inspector_.QueueStates()).stage == StalledStage::kWorkers;
    const Duration limit = kernels ? std::max(limits.kernel, limits.operation) : limits.operation;
    if (now - moved < limit) return true;
    return Lose(Error(StatusCode::kDeadlineExceeded, "work in flight did not end within {} ms",
                      std::chrono::duration_cast<std::chrono::milliseconds>(now - moved).count()));
  };
  const auto late = [&] { return clock_.Now() >= deadline; };
  ASSIGN_OR_RETURN(const Waited waited,
                   WaitUntil(done, step, late, tick, Pacing(device_.info(), clock_)));
  return waited == Waited::kDone;
}

Status FirmwareCard::TerminateAll(TimePoint deadline, Tick tick) {
  for (CardQueue& queue : queues_) {
    for (const Terminated which :
         {Terminated::kDispatch, Terminated::kDispatchS, Terminated::kPrefetch}) {
      EncodeTerminate(which, queue.plan.batch);
      RETURN_IF_ERROR(queue.Commit().status());
      RETURN_IF_ERROR(queue.link->Flush());
    }
  }
  return AwaitStopped(deadline, tick);
}

// The first dispatch core that has not executed TERMINATE; empty: all have.
StatusOr<std::string> FirmwareCard::FindRunning() {
  for (uint32_t queue = 0; queue < kHardwareQueues; ++queue) {
    CardLink& link = *queues_[queue].link;
    ASSIGN_OR_RETURN(const TileStatus prefetch, ReadTileStatus(link.prefetch_tile()));
    ASSIGN_OR_RETURN(const TileStatus dispatch, ReadTileStatus(link.dispatch_tile()));
    const std::pair<std::string, uint32_t> stages[] = {
        {PrefetchTileName(queue), prefetch[hw::kBrisc].state},
        {DispatchTileName(queue), dispatch[hw::kBrisc].state},
        {DispatchTileName(queue) + "_s", dispatch[hw::kNcrisc].state}};
    for (const auto& [name, state] : stages) {
      if (state == abi::kHartStopped) continue;
      return fmt::format("{} did not stop when told to: it is {}", name, HartStateName(state));
    }
  }
  return std::string();
}

Status FirmwareCard::AwaitStopped(TimePoint deadline, Tick tick) {
  std::string running;
  const auto done = [&]() -> StatusOr<bool> {
    ASSIGN_OR_RETURN(running, FindRunning());
    return running.empty();
  };
  const auto step = [&]() -> StatusOr<bool> {
    ASSIGN_OR_RETURN(const AdvanceResult advanced, device_.Advance(options_.advance_clocks));
    return !advanced.quiescent;
  };
  ASSIGN_OR_RETURN(const Waited waited, WaitUntil(
                                            done, step, [&] { return clock_.Now() >= deadline; },
                                            tick, Pacing(device_.info(), clock_)));
  if (waited == Waited::kDone) return OkStatus();
  return Error(StatusCode::kDeadlineExceeded, "{}", running);
}

Status FirmwareCard::DrainAndTerminate(const ShutdownLimits& limits, Tick tick) {
  // A wait that was cut short is what the caller wanted.
  if (lost_.code() == StatusCode::kCancelled) return OkStatus();
  RETURN_IF_ERROR(lost_);
  const TimePoint now = clock_.Now();
  const TimePoint deadline =
      limits.total < TimePoint::max() - now ? now + limits.total : TimePoint::max();
  const StatusOr<bool> drained = Drain(deadline, limits, tick);
  if (drained.status().code() == StatusCode::kDeadlineExceeded) {  // the last reading of the card
    return Error(StatusCode::kDeadlineExceeded, "{}: {}", StatusMessage(drained.status()),
                 Explain());
  }
  RETURN_IF_ERROR(drained.status());
  if (*drained) return TerminateAll(std::min(deadline, clock_.Now() + limits.operation), tick);
  LogWarning("the card is reset with work in flight, which has not ended within {} ms",
             std::chrono::duration_cast<std::chrono::milliseconds>(limits.total).count());
  return OkStatus();
}

Status FirmwareCard::Shutdown(const ShutdownLimits& limits, Tick tick, CardOutput* output) {
  // A card that was reset from elsewhere while it was idle, as a chip of a simulator may be, has nothing to end.
  const bool ended = queues_[0].link == nullptr || (idle() && !device_.CheckPresence().ok());
  Status result = ended ? OkStatus() : DrainAndTerminate(limits, tick);
  const Status reset = device_.Reset();  // whatever happened before: nothing runs any more
  if (result.ok()) result = reset;
  if (capture_ != nullptr && result.ok()) result = capture_->Finish();
  lost_ = Error(StatusCode::kFailedPrecondition, "the card was shut down");
  TakeOutput(output);
  queues_.Forget();
  prints_.Forget();
  return result;
}

Status FirmwareCard::Shutdown(const ShutdownLimits& limits) {
  CardOutput unused;
  return Shutdown(limits, NoTick, &unused);
}

}  // namespace ttfd
