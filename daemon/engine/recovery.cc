// What the device thread does when the card hangs or faults: say who did it, fail what was in flight, boot again.
#include <algorithm>
#include <utility>

#include "daemon/engine/engine.h"
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

}  // namespace

// The launch at the head had the card to itself: an event stood before it and none has followed it.
// Whatever else was in flight had not begun, or is a transfer nobody can vouch for.
void Engine::Lose(const Status& why) {
  Retire(dispatcher_->completed(0), clock_.Now());
  const std::string report = Describe(dispatcher_->Report(), StatusMessage(why));
  const bool hang = why.code() == StatusCode::kDeadlineExceeded;
  std::string reset =
      fmt::format("{}: {}", hang ? "the card hung" : "the card faulted", StatusMessage(why));
  if (!report.empty()) reset += " [" + report + "]";
  LogError("device lost: {}", reset);
  if (!in_flight_.empty() && in_flight_.front().work.is_launch()) {
    Work culprit = std::move(in_flight_.front().work);
    in_flight_.pop_front();
    in_flight_cost_ -= culprit.cost;
    const Duration took = clock_.Now() - retire_time_;
    queue_.Used(culprit, took);
    culprit.owner->Failed(culprit,
                          {StatusCode::kAborted, hang ? "HANG" : "DEVICE_FAULT", reset, false});
  }
  FailInFlight(fmt::format("the card was reset under this command, send it again ({})", reset));
  Recover(reset).IgnoreError();
}

void Engine::FailInFlight(const std::string& why) {
  const WorkError error{StatusCode::kUnavailable, "DEVICE_RESET", why, true};
  for (const InFlight& entry : std::exchange(in_flight_, {}))
    entry.work.owner->Failed(entry.work, error);
  if (std::exchange(holding_, false)) {
    held_.owner->Failed(held_, error);
    held_ = Work();
  }
  in_flight_cost_ = Duration::zero();
  event_owed_ = false;
  round_had_news_ = true;
}

// Everything that has not started, when there is no card to run it.
void Engine::FailQueued(const WorkError& error) {
  Work work;
  while (queue_.Pop(&work)) {
    work.owner->Failed(work, error);
    round_had_news_ = true;
  }
  queue_empty_ = true;
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
