// One round of the device thread: take requests, submit, poll, retire, watch.
#include "daemon/card/card_executor.h"

#include <algorithm>
#include <utility>

#include "runtime/base/log.h"

namespace ttfd {
namespace {

// For what is on the card when the time to stop is over already: replies under way arrive.
constexpr Duration kLastDrain = std::chrono::seconds(1);

// Time of rounds on a borrowed role: what else the borrower has to do waits so long.
constexpr Duration kBorrowedRounds = std::chrono::microseconds(100);

// While a profile is taken, which has an end and may be cancelled.
constexpr Duration kProfileTick = std::chrono::milliseconds(20);

CardClocks ClocksOf(const CardExecutorOptions& options, Clock& clock) {
  Clock& device = options.device_clock != nullptr ? *options.device_clock : clock;
  return {clock, device, options.work_clock != nullptr ? *options.work_clock : device};
}

}  // namespace

CardExecutor::CardExecutor(std::unique_ptr<Card> card, const InFlight::Schedulers& schedulers,
                           DeviceObserver& observer, const Timeouts& timeouts, Clock& clock,
                           CardExecutorOptions options)
    : card_(std::move(card)),
      observer_(observer),
      timeouts_(timeouts),
      options_(std::move(options)),
      clocks_(ClocksOf(options_, clock)),
      reading_([this] { return ReadCard(); }, clock),
      in_flight_(*card_, schedulers, clocks_.work, options_.independent_window),
      profiler_(card_->probe(), clock),
      submission_(*card_, in_flight_, profiler_, clock, options_),
      watchdog_(card_->probe(), in_flight_, clocks_.work),
      recovery_({*card_, in_flight_, observer_, clocks_, options_, [this] { return KeepWaiting(); },
                 [this] { return StopIsOverdue(); }}),
      backoff_(options_.spin) {}

CardExecutor::~CardExecutor() {
  if (thread_.joinable()) Stop(clocks_.host.Now()).IgnoreError();
}

Status CardExecutor::Boot() {
  observer_.DeviceStateChanged(DeviceState::kBooting, "");
  const auto boot = [this](ResetStrength strength) {
    return card_->Boot(strength, [this] { return KeepWaiting(); });
  };
  Status booted = boot(ResetStrength::kHarts);
  if (!booted.ok() && device_info().resets_chip && booted.code() != StatusCode::kCancelled) {
    LogError("the card does not boot, its chip is reset: {}", StatusMessage(booted));
    booted = boot(ResetStrength::kChip);
  }
  RETURN_IF_ERROR(booted);
  observer_.DeviceStateChanged(DeviceState::kReady, "");
  return OkStatus();
}

// ---- any thread

void CardExecutor::RequestReset(std::function<void(const Status&)> done) {
  requests_.Add([&](CardRequests::Requests* to) { to->resets.push_back(std::move(done)); });
}

void CardExecutor::RequestProfile(Profiler::Request request) {
  requests_.Add([&](CardRequests::Requests* to) { to->profiles.push_back(std::move(request)); });
}

void CardExecutor::RequestQuiet(QuietRequest request) {
  requests_.Add([&](CardRequests::Requests* to) { to->quiets.push_back(std::move(request)); });
}

void CardExecutor::SetInUse(bool in_use) {
  requests_.Add([&](CardRequests::Requests* to) { to->in_use = in_use; });
}

CardReading CardExecutor::reading() {
  return reading_.Read([this] { requests_.Add([](CardRequests::Requests*) {}); });
}

std::vector<HardwareQueueStats> CardExecutor::queue_stats() const {
  std::vector<HardwareQueueStats> stats;
  for (const HardwareQueue& queue : in_flight_.queues()) stats.push_back(queue.Stats());
  return stats;
}

// ---- device thread

void CardExecutor::HandleRequests() {
  if (!requests_.pending()) return;
  backoff_.Restart();
  CardRequests::Requests taken = requests_.Take();
  if (taken.in_use.has_value() && options_.set_in_use) options_.set_in_use(*taken.in_use);
  for (QuietRequest& request : taken.quiets) in_flight_.AwaitQuiet(std::move(request));
  for (Profiler::Request& request : taken.profiles) {
    if (!profiler_.Start(std::move(request), recovery_.lost())) continue;
    for (const SubmittedSlice* entry : in_flight_.All()) profiler_.NameProgramsOf(entry->slice);
  }
  if (taken.resets.empty()) return;
  const Status status = recovery_.Reset("reset by the administrator");
  for (auto& done : taken.resets) done(status);
}

CardReading CardExecutor::ReadCard() {
  for (HardwareQueue& queue : in_flight_.queues()) queue.ShowRunning(clocks_.work.Now());
  return {0, 0, 0, card_->probe().Harts(), options_.read_device()};
}

bool CardExecutor::RunOnce() {
  heartbeat_.fetch_add(1, std::memory_order_relaxed);
  const bool had_input = observer_.HandleInput();
  HandleRequests();
  recovery_.LookAtCard();
  RunCard(TimePoint::max());
  recovery_.RecoverIfStopped();
  const Status& lost = recovery_.lost();
  if (!lost.ok()) recovery_.FailQueued(ResetError(std::string(StatusMessage(lost))));
  in_flight_.CheckQuiet();
  profiler_.Check();
  bool idle = EndRound(had_input);
  reading_.ReadIfRequested();
  if (idle && options_.serve_debugger) idle = !options_.serve_debugger();
  return !idle;
}

void CardExecutor::RunBorrowed() {
  if (!requests_.borrowed()) return;
  TakeRole();
  const TimePoint until = clocks_.host.Now() + kBorrowedRounds;
  bool more = true;
  do {
    heartbeat_.fetch_add(1, std::memory_order_relaxed);
    requests_.TakeWake();
    const bool had_input = observer_.HandleInput();
    RunCard(until);
    in_flight_.CheckQuiet();
    more = !EndRound(had_input);
  } while (more && recovery_.CardRuns() && clocks_.host.Now() < until);
  LeaveRole();
  requests_.Return(more || !recovery_.CardRuns(), NextDue());
}

bool CardExecutor::EndRound(bool had_input) {
  bool idle = true;
  for (HardwareQueue& queue : in_flight_.queues()) {
    idle = idle && queue.idle();
    queue.ShowDepths();
  }
  const bool published = observer_.Publish(/*all=*/idle);
  idle = idle && !requests_.pending() && !observer_.has_input();
  const bool news = in_flight_.TakeNews() || had_input || published;
  if (news) backoff_.Restart();
  if (news && options_.on_round_end) options_.on_round_end(idle);
  return idle;
}

void CardExecutor::RunCard(TimePoint until) {
  if (!recovery_.CardRuns()) return;
  std::optional<StopPlace> place;
  const Status status = SubmitAndPoll(until, &place);
  // A wait that a stop has cut short: the stop sees to the rest.
  if (!status.ok() && status.code() != StatusCode::kCancelled) recovery_.SetStopped(status, place);
}

Status CardExecutor::SubmitAndPoll(TimePoint until, std::optional<StopPlace>* place) {
  const TimePoint now = clocks_.device.Now();
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
  const auto interrupted = [&] { return observer_.has_input() || clocks_.host.Now() >= until; };
  RETURN_IF_ERROR(card_->Poll(interrupted, &in_flight_.output()));
  in_flight_.Retire(clocks_.device.Now());
  return watchdog_.Check(clocks_.device.Now(), timeouts_.operation(), place);
}

// ---- the thread

void CardExecutor::Start() {
  thread_ = std::thread([this] { ThreadMain(); });
}

void CardExecutor::TakeRole() {
  if (options_.work_clock != nullptr) options_.work_clock->Take();
  if (options_.on_role) options_.on_role(/*taken=*/true);
}

void CardExecutor::LeaveRole() {
  if (options_.on_role) options_.on_role(/*taken=*/false);
  if (options_.work_clock != nullptr) options_.work_clock->Leave();
}

void CardExecutor::ThreadMain() {
  if (options_.on_thread_start) options_.on_thread_start();
  TakeRole();
  while (true) {
    const bool more = RunOnce();
    if (requests_.stopping() && (!more || StopIsOverdue())) break;
    Pause(more);
  }
  LeaveRole();
}

void CardExecutor::Pause(bool more) {
  if (more && !device_info().runs_by_itself) return;  // the next round lets it run
  const TimePoint now = clocks_.host.Now();
  const Duration pause = backoff_.Next(now);
  if (pause == Duration::zero()) return;
  const TimePoint tick = now + (profiler_.active() ? kProfileTick : options_.idle_tick);
  const TimePoint until = more ? now + pause : std::min(tick, NextDue());
  const bool lend =
      !more && recovery_.CardRuns() && !profiler_.active() && !options_.serve_debugger;
  LeaveRole();
  requests_.Sleep(until, more, lend);
  TakeRole();
}

Status CardExecutor::KeepWaiting() {
  heartbeat_.fetch_add(1, std::memory_order_relaxed);
  const bool had_input = observer_.HandleInput();
  const bool news = observer_.Publish(/*all=*/true) || had_input;
  if (news && options_.on_round_end) options_.on_round_end(/*idle=*/false);
  if (!StopIsOverdue()) return OkStatus();
  return Error(StatusCode::kCancelled, "the daemon stops and waits for the card no longer");
}

Status CardExecutor::Stop(TimePoint deadline) {
  if (options_.hangs != nullptr) options_.hangs->WaitNoLongerThan(deadline);
  requests_.Stop(deadline);
  if (thread_.joinable()) {
    thread_.join();
    if (options_.work_clock != nullptr) options_.work_clock->Take();
  } else {
    while (RunOnce() && clocks_.host.Now() < deadline) continue;
  }
  while (observer_.has_input()) observer_.HandleInput();
  profiler_.End();
  CardRequests::Requests left_over = requests_.Take();
  for (Profiler::Request& request : left_over.profiles) {
    request.done(Error(StatusCode::kUnavailable, "the daemon has stopped"));
  }
  recovery_.FailQueued(ResetError("the daemon has stopped"));
  // The shutdown drains: reads in flight may still be delivered, so their slices live until it is over.
  const Duration left = std::max(deadline - clocks_.host.Now(), kLastDrain);
  requests_.SetStopTime(TimePoint::max());
  const ShutdownLimits limits = {left, timeouts_.operation(), timeouts_.kernel()};
  const Status down = card_->Shutdown(
      limits, [this] { return KeepWaiting(); },
      &in_flight_.output());  // a lost card is held in reset at once
  in_flight_.Retire(clocks_.device.Now());
  in_flight_.Fail(ResetError("the daemon has stopped"));
  const Status& lost = recovery_.lost();
  return lost.ok() || lost.code() == StatusCode::kCancelled ? down : lost;
}

}  // namespace ttfd
