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
      backoff_(options_.spin),
      profiler_(*dispatcher_, clock) {
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
  MutexLock lock(&mu_);
  inbox_.resets.push_back(std::move(done));
  WakeLocked();
}

void Engine::RequestProfile(ProfileRequest request) {
  MutexLock lock(&mu_);
  inbox_.profiles.push_back(std::move(request));
  WakeLocked();
}

void Engine::RequestQuiet(QuietRequest request) {
  MutexLock lock(&mu_);
  inbox_.quiets.push_back(std::move(request));
  WakeLocked();
}

void Engine::LookAgain() {
  MutexLock lock(&mu_);
  WakeLocked();
}

void Engine::SetInUse(bool in_use) {
  MutexLock lock(&mu_);
  inbox_.in_use = in_use;
  WakeLocked();
}

CardReading Engine::reading() {
  return reading_.Read([this] {
    MutexLock lock(&mu_);
    WakeLocked();
  });
}

void Engine::SetTimeouts(Duration operation, Duration kernel) {
  operation_timeout_.store(operation.count(), std::memory_order_relaxed);
  kernel_timeout_.store(kernel.count(), std::memory_order_relaxed);
  timeouts_changed_.store(true, std::memory_order_release);
}

void Engine::WakeLocked() {
  has_requests_.store(true, std::memory_order_release);
  if (asleep_) wake_.NotifyOne();
}

DeviceStats Engine::stats() const {
  return {launches_.load(std::memory_order_relaxed), bytes_written_.load(std::memory_order_relaxed),
          bytes_read_.load(std::memory_order_relaxed), resets_.load(std::memory_order_relaxed)};
}

std::vector<HardwareQueueStats> Engine::queue_stats() const {
  std::vector<HardwareQueueStats> stats;
  for (const HardwareQueue& queue : queues_) stats.push_back(queue.Stats());
  return stats;
}

// ---- device thread

void Engine::TakeRequests() {
  if (!has_requests_.load(std::memory_order_acquire)) return;
  backoff_.Restart();
  MutexLock lock(&mu_);
  std::swap(inbox_, taken_);
  has_requests_.store(false, std::memory_order_relaxed);
}

void Engine::HandleRequests() {
  const std::optional<bool> in_use = std::exchange(taken_.in_use, std::nullopt);
  if (in_use.has_value() && options_.set_in_use) options_.set_in_use(*in_use);
  for (QuietRequest& request : std::exchange(taken_.quiets, {})) {
    quiets_.push_back(std::move(request));
  }
  for (ProfileRequest& request : std::exchange(taken_.profiles, {})) {
    if (!profiler_.Start(std::move(request), lost_)) continue;
    for (const HardwareQueue& queue : queues_) {
      for (const SubmittedSlice& entry : queue.in_flight) profiler_.NameProgramsOf(entry.slice);
    }
  }
  if (!taken_.resets.empty()) {
    dispatcher_->HaltAndDiagnose();
    dispatcher_->SalvagePrints();
    for (HardwareQueue& queue : queues_) Retire(queue, device_clock_.Now());
    const SliceError error = ResetError("the card was reset by its administrator");
    if (lost_.ok() && dispatcher_->device_info().memory_survives_reset) {
      const std::vector<SubmittedSlice*> entries = SlicesInFlight();
      CarryOut(PlanReset(Stopped(entries)), entries, error);
    } else {
      FailInFlight(error);
    }
    lost_ = OkStatus();
    const Status status = Recover("reset by the administrator");
    for (auto& done : std::exchange(taken_.resets, {})) done(status);
  }
}

CardReading Engine::ReadCard() {
  for (HardwareQueue& queue : queues_) queue.ShowRunning(work_clock_.Now());
  return {0, 0, 0, dispatcher_->Report(), options_.read_health()};
}

bool Engine::RunOnce() {
  heartbeat_.fetch_add(1, std::memory_order_relaxed);
  round_had_news_ |= observer_.HandleInput();
  TakeRequests();
  HandleRequests();
  if (timeouts_changed_.exchange(false, std::memory_order_acquire)) {
    dispatcher_->SetTimeouts(Duration(operation_timeout_.load(std::memory_order_relaxed)),
                             Duration(kernel_timeout_.load(std::memory_order_relaxed)));
  }
  LookAtCard();
  if (lost_.ok()) {
    const Status status = SubmitAndPoll();
    // A wait that a stop has cut short: the stop sees to the rest.
    if (!status.ok() && status.code() != StatusCode::kCancelled && CardIsThere()) Lose(status);
  }
  if (!lost_.ok()) FailQueued(ResetError(std::string(StatusMessage(lost_))));
  if (!quiets_.empty()) CheckQuiet();
  profiler_.Check();
  bool idle = !has_requests_.load(std::memory_order_acquire) && !observer_.has_input();
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

Status Engine::SubmitAndPoll() {
  const TimePoint now = device_clock_.Now();
  bool busy = false;
  for (HardwareQueue& queue : queues_) {
    Status submitted = SubmitReady(queue, now);
    if (!submitted.ok()) {
      stop_place_ = {.hardware_queue = queue.index, .refused = true};
      return submitted;
    }
    busy = busy || !queue.in_flight.empty() || queue.refused != nullptr;
  }
  return busy ? Poll() : OkStatus();
}

// ---- the thread

void Engine::Start() {
  thread_ = std::thread([this] { ThreadMain(); });
}

void Engine::ThreadMain() {
  if (options_.on_thread_start) options_.on_thread_start();
  while (true) {
    const bool more = RunOnce();
    if (stop_requested_.load(std::memory_order_acquire) && (!more || StopIsOverdue())) return;
    Pause(more);
  }
}

void Engine::Pause(bool more) {
  if (more && !device_info().runs_by_itself) return;  // the next round lets it run
  const TimePoint now = clock_.Now();
  const Duration pause = backoff_.Next(now);
  if (pause == Duration::zero()) return;
  const TimePoint tick = now + (profiler_.active() ? kProfileTick : options_.idle_tick);
  const TimePoint until = more ? now + pause : std::min({next_look_, tick, observer_.InputDue()});
  MutexLock lock(&mu_);
  if (has_requests_ || (!more && stop_requested_)) return;
  asleep_ = true;
  wake_.WaitUntil(&mu_, until);
  asleep_ = false;
}

Status Engine::KeepWaiting() {
  heartbeat_.fetch_add(1, std::memory_order_relaxed);
  if (observer_.HandleInput() && options_.on_round_end) options_.on_round_end(/*idle=*/false);
  if (!StopIsOverdue()) return OkStatus();
  return Error(StatusCode::kCancelled, "the daemon stops and waits for the card no longer");
}

bool Engine::StopIsOverdue() const {
  return stop_requested_.load(std::memory_order_acquire) &&
         clock_.Now().time_since_epoch().count() >= stop_by_.load(std::memory_order_relaxed);
}

Status Engine::Stop(TimePoint deadline) {
  if (options_.hangs != nullptr) options_.hangs->WaitNoLongerThan(deadline);
  stop_by_.store(deadline.time_since_epoch().count(), std::memory_order_relaxed);
  {
    MutexLock lock(&mu_);
    stop_requested_.store(true, std::memory_order_release);
    if (asleep_) wake_.NotifyOne();
  }
  if (thread_.joinable()) {
    thread_.join();
  } else {
    while (RunOnce() && clock_.Now() < deadline) continue;
  }
  while (observer_.has_input()) observer_.HandleInput();
  TakeRequests();
  profiler_.End();
  for (ProfileRequest& request : taken_.profiles) {
    request.done(Error(StatusCode::kUnavailable, "the daemon has stopped"));
  }
  FailQueued(ResetError("the daemon has stopped"));
  // The shutdown drains: reads in flight may still be delivered, so their slices live until it is over.
  const Duration left = std::max(deadline - clock_.Now(), kLastDrain);
  stop_by_.store(TimePoint::max().time_since_epoch().count(), std::memory_order_relaxed);
  const Status down = dispatcher_->ShutDownWithin(
      left, [this] { return KeepWaiting(); });  // a lost card is held in reset at once
  FailInFlight(ResetError("the daemon has stopped"));
  return lost_.ok() || lost_.code() == StatusCode::kCancelled ? down : lost_;
}

}  // namespace ttfd
