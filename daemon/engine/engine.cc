// One round of the device thread: take requests, submit, poll, retire, watch.
#include "daemon/engine/engine.h"

#include <utility>

namespace ttfd {
namespace {

constexpr StatusCode kUnavailable = StatusCode::kUnavailable;

WorkError ResetError(const std::string& why) { return {kUnavailable, "DEVICE_RESET", why, true}; }

}  // namespace

Engine::Engine(std::unique_ptr<Dispatcher> dispatcher, WorkQueue& queue, DeviceObserver& observer,
               Clock& clock, EngineOptions options)
    : dispatcher_(std::move(dispatcher)),
      queue_(queue),
      observer_(observer),
      clock_(clock),
      options_(std::move(options)),
      operation_timeout_(options_.operation_timeout.count()) {}

Engine::~Engine() {
  if (thread_.joinable()) Stop(clock_.Now()).IgnoreError();
}

Status Engine::Boot() {
  observer_.DeviceStateChanged(DeviceState::kBooting, "");
  RETURN_IF_ERROR(dispatcher_->Boot());
  observer_.DeviceStateChanged(DeviceState::kReady, "");
  return OkStatus();
}

// ---- any thread

void Engine::Enqueue(std::vector<Work>* works) {
  MutexLock lock(&mu_);
  inbox_.works.insert(inbox_.works.end(), std::make_move_iterator(works->begin()),
                      std::make_move_iterator(works->end()));
  works->clear();
  WakeLocked();
}

void Engine::RequestReset(std::function<void(const Status&)> done) {
  MutexLock lock(&mu_);
  inbox_.resets.push_back(std::move(done));
  WakeLocked();
}

void Engine::RequestReport(std::function<void(std::vector<HartReport>)> done) {
  MutexLock lock(&mu_);
  inbox_.reports.push_back(std::move(done));
  WakeLocked();
}

void Engine::WakeLocked() {
  has_requests_.store(true, std::memory_order_release);
  if (asleep_) wake_.NotifyOne();
}

DeviceStats Engine::stats() const {
  return {launches_.load(std::memory_order_relaxed), bytes_written_.load(std::memory_order_relaxed),
          bytes_read_.load(std::memory_order_relaxed), resets_.load(std::memory_order_relaxed)};
}

// ---- device thread

void Engine::TakeRequests() {
  if (!has_requests_.load(std::memory_order_acquire)) return;
  {
    MutexLock lock(&mu_);
    std::swap(inbox_, taken_);
    has_requests_.store(false, std::memory_order_relaxed);
  }
  for (Work& work : taken_.works) queue_.Push(std::move(work));
  queue_empty_ = queue_empty_ && taken_.works.empty();
  taken_.works.clear();  // the two vectors take turns, so that neither allocates in a steady state
}

void Engine::HandleRequests() {
  if (!taken_.reports.empty()) {
    for (auto& done : std::exchange(taken_.reports, {})) done(dispatcher_->Report());
  }
  if (!taken_.resets.empty()) {
    FailInFlight("the card was reset by its administrator");
    lost_ = OkStatus();
    const Status status = Recover("reset by the administrator");
    for (auto& done : std::exchange(taken_.resets, {})) done(status);
  }
}

bool Engine::RunOnce() {
  heartbeat_.fetch_add(1, std::memory_order_relaxed);
  TakeRequests();
  HandleRequests();
  if (lost_.ok()) {
    const TimePoint now = clock_.Now();
    Status status = SubmitReady(now);
    if (status.ok() && (!in_flight_.empty() || holding_)) status = Poll();
    if (!status.ok()) Lose(status);
  }
  if (!lost_.ok()) FailQueued(ResetError(lost_text_));
  const bool idle = in_flight_.empty() && !holding_ && queue_empty_ &&
                    !has_requests_.load(std::memory_order_acquire);
  if (std::exchange(round_had_news_, false) && options_.on_round_end) options_.on_round_end(idle);
  return !idle;
}

// Fills held_ with the next work that is still wanted.
bool Engine::NextWork(TimePoint now) {
  while (!holding_) {
    queue_empty_ = !queue_.Pop(&held_);
    if (queue_empty_) return false;
    if (held_.owner->Start(held_, now)) {
      holding_ = true;
    } else {
      round_had_news_ = true;
      held_ = Work();
    }
  }
  if (auto* write = std::get_if<WriteCommand>(&held_.command)) {
    write->data = std::as_bytes(std::span(held_.payload));
  }
  return true;
}

Status Engine::SubmitReady(TimePoint now) {
  while (in_flight_cost_ < options_.window && in_flight_.size() < options_.window_commands) {
    if (!NextWork(now)) break;
    if (held_.is_launch()) RETURN_IF_ERROR(SendEvent());
    const StatusOr<bool> room = dispatcher_->HasRoomFor(held_.command);
    if (!room.ok()) {
      RETURN_IF_ERROR(RefuseHeld(room.status()));
      continue;
    }
    if (!*room) break;
    RETURN_IF_ERROR(SubmitHeld(now));
  }
  return SendEvent();
}

// The session's decoding let something through that the runtime refuses: our own bug, and its
// command fails with it. Any other error is the device's end.
Status Engine::RefuseHeld(const Status& why) {
  if (why.code() != StatusCode::kInvalidArgument) return why;
  held_.owner->Failed(held_,
                      {StatusCode::kInternal, "INVALID", std::string(StatusMessage(why)), false});
  held_ = Work();
  holding_ = false;
  round_had_news_ = true;
  return OkStatus();
}

Status Engine::SubmitHeld(TimePoint now) {
  const StatusOr<uint64_t> ticket = dispatcher_->Submit(held_.command);
  if (!ticket.ok()) return RefuseHeld(ticket.status());
  holding_ = false;
  if (in_flight_.empty()) progress_time_ = retire_time_ = now;
  in_flight_cost_ += held_.cost;
  std::string().swap(held_.payload);
  const bool launch = held_.is_launch();
  in_flight_.push_back({std::move(held_), *ticket});
  event_owed_ = true;
  return launch ? SendEvent() : OkStatus();
}

Status Engine::SendEvent() {
  return std::exchange(event_owed_, false) ? dispatcher_->Event() : OkStatus();
}

Status Engine::Poll() {
  RETURN_IF_ERROR(dispatcher_->Poll());
  const TimePoint now = clock_.Now();
  if (const uint64_t progress = dispatcher_->progress(); progress != progress_) {
    progress_ = progress;
    progress_time_ = now;
  }
  Retire(dispatcher_->completed(0), now);
  return CheckProgress(now);
}

void Engine::Retire(uint64_t completed, TimePoint now) {
  Duration cost{};
  while (!in_flight_.empty() && in_flight_.front().ticket <= completed) {
    Work& work = in_flight_.front().work;
    cost += work.cost;
    if (work.is_launch()) {
      launches_.fetch_add(1, std::memory_order_relaxed);
    } else {
      (work.read_into ? bytes_read_ : bytes_written_)
          .fetch_add(work.bytes, std::memory_order_relaxed);
    }
    retired_.push_back(std::move(work));
    in_flight_.pop_front();
  }
  if (retired_.empty()) return;
  in_flight_cost_ -= cost;
  // The card's time since the last completion, shared out by what each work was expected to take.
  const double scale = cost > Duration::zero() ? static_cast<double>((now - retire_time_).count()) /
                                                     static_cast<double>(cost.count())
                                               : 0.0;
  progress_time_ = retire_time_ = now;
  for (size_t begin = 0; begin < retired_.size();) {
    size_t end = begin;
    Duration owners_time{};
    WorkOwner* const owner = retired_[begin].owner.get();
    for (; end < retired_.size() && retired_[end].owner.get() == owner; ++end) {
      const Duration took(
          static_cast<Duration::rep>(static_cast<double>(retired_[end].cost.count()) * scale));
      queue_.Used(retired_[end], took);
      owners_time += took;
    }
    owner->Done(std::span(retired_).subspan(begin, end - begin), owners_time);
    begin = end;
  }
  retired_.clear();
  round_had_news_ = true;
}

// A hang is no progress of the pipeline for longer than what runs now may take.
Status Engine::CheckProgress(TimePoint now) const {
  if (in_flight_.empty() && !holding_) return OkStatus();
  const bool launch = !in_flight_.empty() && in_flight_.front().work.is_launch();
  const Duration limit = launch ? in_flight_.front().work.timeout
                                : Duration(operation_timeout_.load(std::memory_order_relaxed));
  if (now - progress_time_ <= limit) return OkStatus();
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(limit).count();
  return launch ? Error(StatusCode::kDeadlineExceeded,
                        "the launch did not end within its kernel timeout of {} ms", milliseconds)
                : Error(StatusCode::kDeadlineExceeded,
                        "the dispatch pipeline made no progress for {} ms (operation timeout)",
                        milliseconds);
}

// ---- the thread

void Engine::Start() {
  thread_ = std::thread([this] { ThreadMain(); });
}

void Engine::ThreadMain() {
  if (options_.on_thread_start) options_.on_thread_start();
  while (true) {
    const bool more = RunOnce();
    if (stop_requested_.load(std::memory_order_acquire)) {
      MutexLock lock(&mu_);
      if (!more || clock_.Now() >= stop_deadline_) return;
    } else if (!more) {
      Sleep();
    }
  }
}

void Engine::Sleep() {
  if (options_.spin > Duration::zero()) {
    const TimePoint until = clock_.Now() + options_.spin;
    while (clock_.Now() < until) {
      if (has_requests_.load(std::memory_order_acquire)) return;
    }
  }
  const TimePoint until = clock_.Now() + options_.idle_tick;
  MutexLock lock(&mu_);
  asleep_ = true;
  while (inbox_.empty() && !stop_requested_.load(std::memory_order_relaxed)) {
    if (!wake_.WaitUntil(&mu_, until)) break;
  }
  asleep_ = false;
}

Status Engine::Stop(TimePoint deadline) {
  {
    MutexLock lock(&mu_);
    stop_deadline_ = deadline;
    stop_requested_.store(true, std::memory_order_release);
    if (asleep_) wake_.NotifyOne();
  }
  if (thread_.joinable()) {
    thread_.join();
  } else {
    while (RunOnce() && clock_.Now() < deadline) continue;
  }
  TakeRequests();
  FailQueued(ResetError("the daemon has stopped"));
  // The shutdown drains: reads in flight may still be delivered, so their works live until it is over.
  Status down = lost_.ok() ? dispatcher_->Shutdown() : lost_;
  FailInFlight("the daemon has stopped");
  return down;
}

}  // namespace ttfd
