// What the device thread does when the card hangs or faults: say who did it, fail what was in flight, boot again.
#include <algorithm>
#include <utility>

#include "daemon/engine/engine.h"
#include "daemon/engine/stall_text.h"
#include "runtime/base/log.h"
#include "runtime/command/program_layout.h"

namespace ttfd {
namespace {

bool Contains(const std::vector<uint32_t>& programs, uint32_t program) {
  return std::find(programs.begin(), programs.end(), program) != programs.end();
}

// "program 42 of session 3 (...)"
std::string RunnerText(const Work& work) {
  constexpr size_t kNamed = 4;
  std::string programs;
  for (size_t i = 0; i < std::min(work.programs->size(), kNamed); ++i) {
    programs += fmt::format("{}{}", i == 0 ? "" : ", ", (*work.programs)[i]);
  }
  const bool more = work.programs->size() > kNamed;
  return fmt::format("program{} {}{} of {}", work.programs->size() > 1 ? "s" : "", programs,
                     more ? ", ..." : "", work.owner->Name());
}

bool MayUse(const Work& work, int32_t worker) {
  const TileSet& tiles = work.route.workers;  // none: all
  return worker == HartReport::kNoWorker || tiles.none() || tiles.test(static_cast<size_t>(worker));
}

// Is it a launch of a program with a kernel on this worker?
bool Uses(const Work& work, int32_t worker) {
  const auto* const launch = std::get_if<LaunchCommand>(&work.command);
  return launch != nullptr && worker != HartReport::kNoWorker &&
         launch->program->tiles.test(static_cast<size_t>(worker));
}

}  // namespace

// The work that runs what the hart runs: the program its tile began last; else the eldest that has a kernel there; else
// the eldest that may. A kernel may also have brought down a tile that is not its own: nobody can tell.
WorkInFlight* Engine::FindRunner(const HartReport& hart, HardwareQueue** queue) {
  WorkInFlight* found = nullptr;
  int found_rank = 3;
  for (HardwareQueue& one : queues_) {
    for (WorkInFlight& entry : one.in_flight) {
      const Work& work = entry.work;
      if (!work.runs_kernels() || !MayUse(work, hart.worker)) continue;
      int rank = hart.worker == HartReport::kNoWorker ? 3 : 2;
      if (Uses(work, hart.worker)) rank = 1;
      if (hart.program != 0 && Contains(*work.programs, hart.program)) rank = 0;
      const bool elder = found == nullptr || entry.turn < found->turn;
      if (rank > found_rank || rank == 3 || (rank == found_rank && !elder)) continue;
      found = &entry;
      found_rank = rank;
      *queue = &one;
    }
  }
  return found;
}

// A launch that faulted is named by the worker that stopped, or stands at the head of its queue: before it everything
// has ended, behind it nothing that shares its workers has begun. `queue` gets the queue it is in; null: nobody is to
// blame.
WorkInFlight* Engine::FindCulprit(const StallReport& stall, HardwareQueue** queue) {
  const HartReport* const faulted = FaultedHart(stall);
  if (faulted != nullptr) {
    if (WorkInFlight* const runner = FindRunner(*faulted, queue)) return runner;
  }
  WorkInFlight* culprit = nullptr;
  for (HardwareQueue& one : queues_) {
    if (one.in_flight.empty() || (late_ != nullptr && late_ != &one)) continue;
    WorkInFlight& head = one.in_flight.front();
    if (!head.work.runs_kernels()) continue;
    const bool stalled = stall.stage != StalledStage::kNone && stall.hardware_queue == one.index;
    if (culprit != nullptr && !stalled && culprit->turn < head.turn) continue;
    culprit = &head;
    *queue = &one;
    if (stalled) break;
  }
  return culprit;
}

// Whatever else was in flight had not begun, or is a transfer nobody can vouch for. Others hear what happened, but not
// in whose code.
void Engine::Lose(const Status& why) {
  const TimePoint now = device_clock_.Now();
  const StallReport stall = dispatcher_->Diagnose();
  dispatcher_->SalvagePrints();
  for (HardwareQueue& queue : queues_) Retire(queue, now);
  const std::string summary = StallSummary(why, stall);
  std::string text = summary;
  HardwareQueue* queue = nullptr;
  const WorkInFlight* const found = FindCulprit(stall, &queue);
  if (found != nullptr) text += "; it ran " + RunnerText(found->work);
  const std::string places = StallPlaces(stall, summary);
  if (!places.empty()) text += " [" + places + "]";
  LogError("device lost: {}", text);
  if (found != nullptr) {
    const bool hang = why.code() == StatusCode::kDeadlineExceeded && FaultedHart(stall) == nullptr;
    auto entry = queue->in_flight.begin();
    while (&*entry != found) ++entry;
    const Work culprit = std::move(entry->work);
    queue->in_flight.erase(entry);
    queue->order.Used(culprit, work_clock_.Now() - queue->retire_work_time);
    culprit.track->Ended(culprit.number);
    culprit.owner->Failed(culprit,
                          {StatusCode::kAborted, hang ? "HANG" : "DEVICE_FAULT", text, false});
  }
  late_ = nullptr;
  FailInFlight(fmt::format("the card was reset under this command, send it again ({})", summary));
  Recover(text).IgnoreError();
}

void Engine::FailInFlight(const std::string& why) {
  const WorkError error{StatusCode::kUnavailable, "DEVICE_RESET", why, true};
  for (HardwareQueue& queue : queues_) {
    for (const WorkInFlight& entry : std::exchange(queue.in_flight, {})) {
      entry.work.track->Ended(entry.work.number);
      entry.work.owner->Failed(entry.work, error);
    }
    if (std::exchange(queue.holding, false)) {
      queue.held.track->GivenUp(queue.held.number);
      queue.held.owner->Failed(queue.held, error);
      queue.held = Work();
    }
    queue.in_flight_cost = queue.apart_cost = Duration::zero();
    queue.uncovered = 0;
    queue.apart = false;
  }
  round_had_news_ = true;
}

// Everything that has not started, when there is no card to run it.
void Engine::FailQueued(const WorkError& error) {
  Work work;
  bool again = true;
  while (std::exchange(again, false)) {  // what was waited for frees what waited
    for (HardwareQueue& queue : queues_) {
      while (queue.order.Pop(&work)) {
        again = true;
        work.track->GivenUp(work.number);
        work.owner->Failed(work, error);
        round_had_news_ = true;
      }
    }
  }
}

Status Engine::Recover(const std::string& why) {
  observer_.DeviceStateChanged(DeviceState::kRecovering, why);
  resets_.fetch_add(1, std::memory_order_relaxed);
  Status status;
  for (uint32_t attempt = 0; attempt < std::max(options_.boot_attempts, 1u); ++attempt) {
    status = dispatcher_->Boot();
    heartbeat_.fetch_add(1,
                         std::memory_order_relaxed);  // the waits of a boot have deadlines: alive
    if (status.ok()) {
      observer_.DeviceStateChanged(DeviceState::kReady, why);
      return status;
    }
    LogError("boot after a reset failed: {}", StatusMessage(status));
  }
  lost_ = status;
  lost_text_ = fmt::format("the card does not come back after a reset: {}", StatusMessage(status));
  observer_.DeviceStateChanged(DeviceState::kFailed, lost_text_);
  return status;
}

}  // namespace ttfd
