// One round of the device thread: take requests, submit, poll, retire, watch.
#include "daemon/card/engine.h"

#include <algorithm>
#include <utility>

#include "runtime/base/log.h"

namespace ttfd {
namespace {

// For what is on the card when the time to stop is over already: replies under way arrive.
constexpr Duration kLastDrain = std::chrono::seconds(1);

// While a profile is taken, which has an end and may be cancelled.
constexpr Duration kProfileTick = std::chrono::milliseconds(20);

}  // namespace

Engine::Engine(std::unique_ptr<Dispatcher> dispatcher, const Orders& orders,
               DeviceObserver& observer, Clock& clock, EngineOptions options)
    : dispatcher_(std::move(dispatcher)),
      observer_(observer),
      clock_(clock),
      options_(std::move(options)),
      bounds_(dispatcher_->kernel_bounds()),
      device_clock_(options_.device_clock != nullptr ? *options_.device_clock : clock),
      work_clock_(options_.work_clock != nullptr ? *options_.work_clock : device_clock_),
      operation_timeout_(options_.operation_timeout.count()),
      kernel_timeout_(options_.kernel_timeout.count()),
      reading_([this] { return ReadCard(); }, clock),
      queues_{{{0, *orders[0], options_.apart_window}, {1, *orders[1], options_.apart_window}}},
      watchdog_(*dispatcher_, queues_, work_clock_),
      backoff_(options_.spin),
      profiler_(*dispatcher_, clock),
      recovery_({*dispatcher_, queues_, observer_, stats_, ended_, clock_, work_clock_, options_,
                 [this] { RetireAll(); }, [this] { return KeepWaiting(); },
                 [this] { return StopIsOverdue(); }}) {
  dispatcher_->OnPrint(
      [this](const Ticket& ticket, KernelPrint print) { Printed(ticket, std::move(print)); });
}

Engine::~Engine() {
  if (thread_.joinable()) Stop(clock_.Now()).IgnoreError();
}

Status Engine::Boot() {
  observer_.DeviceStateChanged(DeviceState::kBooting, "");
  const auto boot = [this](ResetStrength strength) {
    return dispatcher_->Boot(strength, [this] { return KeepWaiting(); });
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

void Engine::RequestReset(std::function<void(const Status&)> done) {
  requests_.Add([&](CardRequests::Requests* to) { to->resets.push_back(std::move(done)); });
}

void Engine::RequestProfile(ProfileRequest request) {
  requests_.Add([&](CardRequests::Requests* to) { to->profiles.push_back(std::move(request)); });
}

void Engine::RequestQuiet(QuietRequest request) {
  requests_.Add([&](CardRequests::Requests* to) { to->quiets.push_back(std::move(request)); });
}

void Engine::SetInUse(bool in_use) {
  requests_.Add([&](CardRequests::Requests* to) { to->in_use = in_use; });
}

CardReading Engine::reading() {
  return reading_.Read([this] { requests_.Wake(); });
}

void Engine::SetTimeouts(Duration operation, Duration kernel) {
  operation_timeout_.store(operation.count(), std::memory_order_relaxed);
  kernel_timeout_.store(kernel.count(), std::memory_order_relaxed);
  timeouts_changed_.store(true, std::memory_order_release);
}

std::vector<HardwareQueueStats> Engine::queue_stats() const {
  std::vector<HardwareQueueStats> stats;
  for (const HardwareQueue& queue : queues_) stats.push_back(queue.Stats());
  return stats;
}

// ---- device thread

void Engine::HandleRequests() {
  if (!requests_.pending()) return;
  backoff_.Restart();
  CardRequests::Requests taken = requests_.Take();
  if (taken.in_use.has_value() && options_.set_in_use) options_.set_in_use(*taken.in_use);
  for (QuietRequest& request : taken.quiets) quiets_.push_back(std::move(request));
  for (ProfileRequest& request : taken.profiles) {
    if (!profiler_.Start(std::move(request), recovery_.lost())) continue;
    for (const HardwareQueue& queue : queues_) {
      for (const SubmittedSlice& entry : queue.in_flight) profiler_.NameProgramsOf(entry.slice);
    }
  }
  if (taken.resets.empty()) return;
  const Status status = recovery_.Reset("reset by the administrator");
  for (auto& done : taken.resets) done(status);
}

CardReading Engine::ReadCard() {
  for (HardwareQueue& queue : queues_) queue.ShowRunning(work_clock_.Now());
  return {0, 0, 0, dispatcher_->Report(), options_.read_health()};
}

bool Engine::RunOnce() {
  heartbeat_.fetch_add(1, std::memory_order_relaxed);
  round_had_news_ |= observer_.HandleInput();
  HandleRequests();
  if (timeouts_changed_.exchange(false, std::memory_order_acquire)) {
    dispatcher_->SetTimeouts(Duration(operation_timeout_.load(std::memory_order_relaxed)),
                             Duration(kernel_timeout_.load(std::memory_order_relaxed)));
  }
  recovery_.LookAtCard();
  if (recovery_.lost().ok()) {
    std::optional<StopPlace> place;
    const Status status = SubmitAndPoll(&place);
    // A wait that a stop has cut short: the stop sees to the rest.
    const bool stopped = !status.ok() && status.code() != StatusCode::kCancelled;
    if (stopped && recovery_.CardIsThere()) recovery_.Recover(status, place);
  }
  const Status& lost = recovery_.lost();
  if (!lost.ok()) recovery_.FailQueued(ResetError(std::string(StatusMessage(lost))));
  round_had_news_ |= recovery_.TakeNews();
  if (!quiets_.empty()) CheckQuiet();
  profiler_.Check();
  bool idle = !requests_.pending() && !observer_.has_input();
  for (HardwareQueue& queue : queues_) {
    idle = idle && queue.idle();
    queue.ShowDepths();
  }
  const bool news = std::exchange(round_had_news_, false);
  if (news) backoff_.Restart();
  if (news && options_.on_round_end) options_.on_round_end(idle);
  reading_.ReadIfRequested();
  if (idle && options_.attend) idle = !options_.attend();
  return !idle;
}

Status Engine::SubmitAndPoll(std::optional<StopPlace>* place) {
  const TimePoint now = device_clock_.Now();
  bool busy = false;
  for (HardwareQueue& queue : queues_) {
    Status submitted = SubmitReady(queue, now);
    if (!submitted.ok()) {
      *place = {.hardware_queue = queue.index, .refused = true};
      return submitted;
    }
    busy = busy || !queue.in_flight.empty() || queue.refused != nullptr;
  }
  return busy ? Poll(place) : OkStatus();
}

Status Engine::Poll(std::optional<StopPlace>* place) {
  RETURN_IF_ERROR(dispatcher_->Poll([this] { return observer_.has_input(); }));
  RetireAll();
  return watchdog_.Check(device_clock_.Now(),
                         Duration(operation_timeout_.load(std::memory_order_relaxed)), place);
}

void Engine::RetireAll() {
  const TimePoint now = device_clock_.Now();
  for (HardwareQueue& queue : queues_) Retire(queue, now);
}

// ---- the thread

void Engine::Start() {
  thread_ = std::thread([this] { ThreadMain(); });
}

void Engine::ThreadMain() {
  if (options_.on_thread_start) options_.on_thread_start();
  while (true) {
    const bool more = RunOnce();
    if (requests_.stopping() && (!more || StopIsOverdue())) return;
    Pause(more);
  }
}

void Engine::Pause(bool more) {
  if (more && !device_info().runs_by_itself) return;  // the next round lets it run
  const TimePoint now = clock_.Now();
  const Duration pause = backoff_.Next(now);
  if (pause == Duration::zero()) return;
  const TimePoint tick = now + (profiler_.active() ? kProfileTick : options_.idle_tick);
  const TimePoint until =
      more ? now + pause : std::min({recovery_.next_look(), tick, observer_.InputDue()});
  requests_.Sleep(until, more);
}

Status Engine::KeepWaiting() {
  heartbeat_.fetch_add(1, std::memory_order_relaxed);
  if (observer_.HandleInput() && options_.on_round_end) options_.on_round_end(/*idle=*/false);
  if (!StopIsOverdue()) return OkStatus();
  return Error(StatusCode::kCancelled, "the daemon stops and waits for the card no longer");
}

Status Engine::Stop(TimePoint deadline) {
  if (options_.hangs != nullptr) options_.hangs->WaitNoLongerThan(deadline);
  requests_.Stop(deadline);
  if (thread_.joinable()) {
    thread_.join();
  } else {
    while (RunOnce() && clock_.Now() < deadline) continue;
  }
  while (observer_.has_input()) observer_.HandleInput();
  profiler_.End();
  CardRequests::Requests left_over = requests_.Take();
  for (ProfileRequest& request : left_over.profiles) {
    request.done(Error(StatusCode::kUnavailable, "the daemon has stopped"));
  }
  recovery_.FailQueued(ResetError("the daemon has stopped"));
  // The shutdown drains: reads in flight may still be delivered, so their slices live until it is over.
  const Duration left = std::max(deadline - clock_.Now(), kLastDrain);
  requests_.SetStopTime(TimePoint::max());
  const Status down = dispatcher_->ShutDownWithin(
      left, [this] { return KeepWaiting(); });  // a lost card is held in reset at once
  recovery_.FailInFlight(ResetError("the daemon has stopped"));
  const Status& lost = recovery_.lost();
  return lost.ok() || lost.code() == StatusCode::kCancelled ? down : lost;
}

}  // namespace ttfd
