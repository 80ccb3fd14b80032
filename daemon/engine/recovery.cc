// What the device thread does when the card hangs or faults: say who did it, fail what was in flight, boot again.
#include <algorithm>
#include <utility>

#include "daemon/engine/engine.h"
#include "runtime/abi/hart_status.h"
#include "runtime/base/log.h"

namespace ttfd {
namespace {

constexpr size_t kReportedHarts = 8;  // in an error's message; GetStatus shows all

// Where the pipeline stood, as one line for an error message. Empty when the card, or who runs it,
// has said so already: a card that faulted cannot be read, a quiescent one is described with the hang.
std::string Describe(const std::vector<HartReport>& harts, std::string_view said) {
  std::string text;
  size_t shown = 0;
  for (const HartReport& hart : harts) {
    if (hart.text.empty() || shown == kReportedHarts) continue;
    if (said.find(hart.text) != said.npos || hart.text.find(said) != hart.text.npos) continue;
    text += fmt::format("{}{}: {}", shown == 0 ? "" : "; ", hart.where, hart.text);
    if (hart.pc != 0) text += fmt::format(" (waypoint {}, pc {:#x})", hart.waypoint, hart.pc);
    ++shown;
  }
  return text;
}

bool Contains(const std::vector<uint32_t>& programs, uint32_t program) {
  return std::find(programs.begin(), programs.end(), program) != programs.end();
}

}  // namespace

// A launch that faulted is named by the worker that stopped, or stands at the head of its queue: before it everything
// has ended, behind it nothing that shares its workers has begun. `queue` gets the queue it is in; null: nobody is to
// blame.
WorkInFlight* Engine::FindCulprit(const StallReport& stall, HardwareQueue** queue) {
  for (const HartReport& hart : stall.harts) {
    if (late_ != nullptr || hart.program == 0 || hart.state != abi::kHartFaulted) continue;
    for (HardwareQueue& one : queues_) {
      for (WorkInFlight& entry : one.in_flight) {
        if (!entry.work.runs_kernels() || !Contains(*entry.work.programs, hart.program)) continue;
        *queue = &one;
        return &entry;
      }
    }
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

// Whatever else was in flight had not begun, or is a transfer nobody can vouch for.
void Engine::Lose(const Status& why) {
  const TimePoint now = device_clock_.Now();
  const StallReport stall = dispatcher_->Diagnose();
  dispatcher_->SalvagePrints();
  for (HardwareQueue& queue : queues_) Retire(queue, now);
  const bool hang = why.code() == StatusCode::kDeadlineExceeded;
  std::string text =
      fmt::format("{}: {}", hang ? "the card hung" : "the card faulted", StatusMessage(why));
  const std::string_view said = StatusMessage(why);
  if (!stall.text.empty() && text.find(stall.text) == text.npos &&
      (said.empty() || stall.text.find(said) == stall.text.npos)) {
    text += "; " + stall.text;
  }
  const std::string report = Describe(stall.harts, text);
  if (!report.empty()) text += " [" + report + "]";
  LogError("device lost: {}", text);
  HardwareQueue* queue = nullptr;
  if (const WorkInFlight* found = FindCulprit(stall, &queue)) {
    auto entry = queue->in_flight.begin();
    while (&*entry != found) ++entry;
    const Work culprit = std::move(entry->work);
    queue->in_flight.erase(entry);
    queue->order.Used(culprit, now - queue->retire_time);
    culprit.track->Ended(culprit.number);
    culprit.owner->Failed(culprit,
                          {StatusCode::kAborted, hang ? "HANG" : "DEVICE_FAULT", text, false});
  }
  late_ = nullptr;
  FailInFlight(fmt::format("the card was reset under this command, send it again ({})", text));
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
    queue.in_flight_cost = Duration::zero();
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
