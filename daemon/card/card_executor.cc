// One card of the device thread.
#include "daemon/card/card_executor.h"

#include <algorithm>
#include <utility>

#include "runtime/base/log.h"

namespace ttfd {
namespace {

// For what is on the card when the time to stop is over already: replies under way arrive.
constexpr Duration kLastDrain = std::chrono::seconds(1);

// Stalls of kernels that wait for those of another card are usually shorter.
constexpr Duration kLongStall = std::chrono::milliseconds(20);
constexpr Duration kLongestWait = std::chrono::seconds(1);  // between looks at one

}  // namespace

CardExecutor::CardExecutor(const Parts& parts, uint32_t device, ServedCard served,
                           const InFlight::Schedulers& schedulers)
    : parts_(parts),
      device_(device),
      served_(std::move(served)),
      card_(*served_.card),
      reading_([this] { return ReadCard(); }, parts.clocks.host),
      in_flight_(card_, schedulers, parts.clocks.work, parts.options.independent_window),
      profiler_(card_.probe(), parts.clocks.host),
      submission_(card_, in_flight_, profiler_, parts.clocks.host, parts.options),
      watchdog_(card_.probe(), in_flight_, parts.clocks.work),
      recovery_({device, card_, in_flight_, parts.observer, parts.clocks, parts.options,
                 parts.keep_waiting, parts.stop_is_overdue, served_.behind.has_value(),
                 parts.before_reset}) {}

// ---- any thread

void CardExecutor::RequestReset(std::function<void(const Status&)> done) {
  parts_.requests.Add([this, done = std::move(done)](const Status& stopped) {
    stopped.ok() ? resets_.push_back(done) : done(stopped);
  });
}

void CardExecutor::RequestProfile(Profiler::Request request) {
  parts_.requests.Add([this, request = std::move(request)](const Status& stopped) {
    stopped.ok() ? profiles_.push_back(request) : request.done(stopped);
  });
}

void CardExecutor::RequestQuiet(QuietRequest request) {
  parts_.requests.Add(
      [this, request = std::move(request)](const Status&) { in_flight_.AwaitQuiet(request); });
}

CardReading CardExecutor::reading() {
  return reading_.Read([this] { parts_.requests.Add([](const Status&) {}); });
}

std::vector<HardwareQueueStats> CardExecutor::queue_stats() const {
  std::vector<HardwareQueueStats> stats;
  for (const HardwareQueue& queue : in_flight_.queues()) stats.push_back(queue.Stats());
  return stats;
}

bool CardExecutor::runs_kernels() {
  const auto all = in_flight_.All();
  return std::any_of(all.begin(), all.end(),
                     [](const SubmittedSlice* entry) { return entry->slice.runs_kernels(); });
}

// ---- device thread

Status CardExecutor::Boot() { return recovery_.FirstBoot(); }

void CardExecutor::StartProfile(const Profiler::Request& request) {
  if (!profiler_.Start(request, recovery_.lost())) return;
  for (const SubmittedSlice* entry : in_flight_.All()) profiler_.NameProgramsOf(entry->slice);
}

CardReading CardExecutor::ReadCard() {
  for (HardwareQueue& queue : in_flight_.queues()) queue.ShowRunning(parts_.clocks.work.Now());
  return {0, 0, 0, card_.probe().Harts(), served_.read_device()};
}

void CardExecutor::LookAfter() {
  for (const Profiler::Request& request : std::exchange(profiles_, {})) StartProfile(request);
  begun_resets_ = std::exchange(resets_, {});
  if (!begun_resets_.empty()) {
    recovery_.SetToBeReset("reset by the administrator");
  } else {
    recovery_.LookAtCard();
  }
}

void CardExecutor::NeighbourWillReset(ResetStrength strength) {
  if (strength == ResetStrength::kChip) return recovery_.NeighbourIsReset();
  const Status settled = served_.settle();
  if (settled.ok()) return;
  LogWarning("device {}: the chip it is behind is reset, and writes may be lost: {}", device_,
             StatusMessage(settled));
}

void CardExecutor::Recover() {
  recovery_.RecoverIfStopped();
  const Status& lost = recovery_.lost();
  for (auto& done : std::exchange(begun_resets_, {})) done(lost);
  if (!lost.ok()) recovery_.FailQueued(ResetError(std::string(StatusMessage(lost))));
  in_flight_.CheckQuiet();
  profiler_.Check();
}

bool CardExecutor::idle() const {
  const HardwareQueues& queues = in_flight_.queues();
  return std::all_of(queues.begin(), queues.end(),
                     [](const HardwareQueue& queue) { return queue.idle(); });
}

bool CardExecutor::ShowQueues() {
  for (HardwareQueue& queue : in_flight_.queues()) queue.ShowDepths();
  return idle();
}

void CardExecutor::Run(absl::FunctionRef<bool()> interrupted) {
  motion_ = Motion::kIdle;
  if (!recovery_.CardRuns()) return;
  std::optional<StopPlace> place;
  const Status status = SubmitAndPoll(interrupted, &place);
  // A wait that a stop has cut short: the stop sees to the rest.
  if (!status.ok() && status.code() != StatusCode::kCancelled) recovery_.SetStopped(status, place);
  if (motion_ != Motion::kStalled) stall_.reset();
}

bool CardExecutor::StalledOnFault(bool at_once) {
  if (motion_ != Motion::kStalled) return false;
  const TimePoint now = parts_.clocks.device.Now();
  if (!stall_.has_value()) stall_.emplace(Stall{now + kLongStall, kLongStall});
  if (stall_->on_fault || (!at_once && now < stall_->next_look)) return stall_->on_fault;
  stall_->wait = std::min<Duration>(2 * stall_->wait, kLongestWait);
  stall_->next_look = now + stall_->wait;
  const std::vector<HartReport> harts = card_.probe().Harts();
  stall_->on_fault =
      std::any_of(harts.begin(), harts.end(), [](const HartReport& hart) { return hart.faulted; });
  return stall_->on_fault;
}

Status CardExecutor::SubmitAndPoll(absl::FunctionRef<bool()> interrupted,
                                   std::optional<StopPlace>* place) {
  const TimePoint now = parts_.clocks.device.Now();
  const uint64_t submitted_before = in_flight_.submitted();
  bool busy = false;
  for (HardwareQueue& queue : in_flight_.queues()) {
    Status submitted = submission_.SubmitReady(queue, now);
    if (!submitted.ok()) {
      *place = {.hardware_queue = queue.index, .refused = true};
      return submitted;
    }
    busy = busy || !queue.in_flight.empty() || queue.refused != nullptr;
  }
  if (!busy) return OkStatus();
  ASSIGN_OR_RETURN(const bool moves, card_.Poll(interrupted, &in_flight_.output()));
  const bool news = in_flight_.submitted() != submitted_before ||
                    !in_flight_.output().ended.empty() || !in_flight_.output().prints.empty();
  motion_ = moves || news ? Motion::kMoves : Motion::kStalled;
  in_flight_.Retire(parts_.clocks.device.Now());
  return watchdog_.Check(parts_.clocks.device.Now(), parts_.timeouts.operation(), place);
}

Status CardExecutor::Shutdown(TimePoint deadline) {
  const SliceError stopped = ResetError("the daemon has stopped");
  profiler_.End();
  const Status unavailable = Error(StatusCode::kUnavailable, "{}", stopped.message);
  for (const Profiler::Request& request : std::exchange(profiles_, {})) request.done(unavailable);
  for (auto* resets : {&begun_resets_, &resets_}) {
    for (const auto& done : std::exchange(*resets, {})) done(unavailable);
  }
  recovery_.FailQueued(stopped);
  // The shutdown drains: reads in flight may still be delivered, so their slices live until it is over.
  const Duration left = std::max(deadline - parts_.clocks.host.Now(), kLastDrain);
  const ShutdownLimits limits = {left, parts_.timeouts.operation(), parts_.timeouts.kernel()};
  const Status down = card_.Shutdown(limits, parts_.keep_waiting,
                                     &in_flight_.output());  // a lost card is held in reset at once
  in_flight_.Retire(parts_.clocks.device.Now());
  in_flight_.Fail(stopped);
  const Status& lost = recovery_.lost();
  return lost.ok() || lost.code() == StatusCode::kCancelled ? down : lost;
}

}  // namespace ttfd
