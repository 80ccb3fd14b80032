// Input, output, the device thread's answers and the end of a session.
#include "daemon/session/session.h"

#include <algorithm>
#include <utility>

#include "daemon/session/lease_wait.h"
#include "daemon/session/status_reason.h"

namespace ttfd {
namespace {

// How often a session without a connection checks whether its client's process still exists.
constexpr Duration kProcessCheck = std::chrono::milliseconds(100);
// How often a session whose window is reduced asks for the rest.
constexpr Duration kWindowRetry = std::chrono::milliseconds(100);

}  // namespace

Session::Session(SessionEnvironment& environment, const PeerIdentity& peer,
                 const HelloRequest& hello, const SessionLease& lease, WelcomeReply welcome,
                 std::string user, std::shared_ptr<UserUse> user_use, SessionOutput* output,
                 std::shared_ptr<SessionTransport> transport)
    : environment_(environment),
      peer_(peer),
      welcome_(std::move(welcome)),
      client_{welcome_.session, hello.client_name, std::move(user), peer.uid, peer.pid},
      weight_(hello.weight.value_or(1)),
      priority_(hello.priority),
      opened_(environment.clock->Now()),
      lease_(lease.id),
      transport_(std::move(transport)),
      executor_(environment, outbox_, {welcome_.session, peer.uid, weight_, priority_, lease.id},
                lease.workers, user_use),
      inbox_(executor_.window_account().window(), welcome_.token, output, lease.waiting),
      output_(output),
      waiting_(lease.waiting),
      reconnect_timeout_(ReconnectTimeout(hello)),
      pid_(peer.pid),
      advertised_window_(executor_.window().granted()),
      last_data_(opened_),
      last_command_(opened_) {
  transport_->unacknowledged.Attach(environment.limits, std::move(user_use));
  transport_->newest = output;
}

Duration Session::ReconnectTimeout(const HelloRequest& hello) const {
  return std::chrono::milliseconds(
      std::min(hello.reconnect_timeout_ms, environment_.limits.reconnect_timeout_ms));
}

// ---- input

Status Session::Accept(const SessionOutput* from, MessageRequest message,
                       absl::FunctionRef<void()> accepted) {
  message.arrived = environment_.clock->Now();
  ASSIGN_OR_RETURN(const bool first, inbox_.Post(from, std::move(message), accepted));
  if (first) environment_.input->Add(shared_from_this());
  return OkStatus();
}

bool Session::HandleInput(InputBudget* budget) {
  MutexLock lock(&mu_);
  bool more = true;
  while (more && !budget->spent()) more = HandleOne(budget);
  Advance();
  ReleaseIfIdle();
  return more;
}

bool Session::HandleOne(InputBudget* budget) {
  MessageDecoder& decoder = executor_.decoder();
  if (decoder.done()) {
    std::optional<Input> input = inbox_.Take();
    if (!input) return false;
    budget->Spend(1, 0);
    if (Task* const* task = std::get_if<Task*>(&*input)) {
      executor_.HostWorkEnded(**task);
      return true;
    }
    auto& message = std::get<MessageRequest>(*input);
    if (!open()) return true;
    if (!message.data.empty()) last_data_ = message.arrived;
    if (!message.batches.empty()) last_command_ = message.arrived;
    decoder.Begin(std::move(message));
  }
  const StatusOr<MessageDecoder::End> end = decoder.Continue(budget);
  if (!end.ok()) {
    EndLocked(end.status());
  } else if (*end == MessageDecoder::End::kLeave) {
    EndLocked(ClientLeft());
  } else if (*end == MessageDecoder::End::kFinish && phase_ == Phase::kActive) {
    phase_ = Phase::kFinishing;
  }
  return true;
}

// ---- output

SessionOutputBatch Session::TakeOutput(const SessionOutput* from, uint64_t max_bytes) {
  MutexLock lock(&mu_);
  if (from != output_) return {};
  SessionOutputBatch batch = outbox_.Take(max_bytes);
  executor_.window_account().CountOutput();
  if (!outbox_.has_results()) executor_.window_account().ResultsTaken();
  executor_.window_account().Advance();
  // A Welcome has the window itself, and comes alone.
  if (!waiting_ && !batch.has_welcome && (batch.has_content() || WindowDue())) {
    const uint64_t granted = executor_.window().granted();
    if (granted > advertised_window_) batch.window_bytes = advertised_window_ = granted;
  }
  if (batch.empty()) {
    output_announced_ = false;
    EndIfDrained();
    ScheduleCheck();
    return batch;
  }
  // There is space for what it reads.
  if (executor_.read_blocked() && inbox_.Wake()) environment_.input->Add(shared_from_this());
  return batch;
}

uint64_t Session::window_bytes() const {
  MutexLock lock(&mu_);
  return executor_.window().granted();
}

bool Session::NothingLeft() const {
  return executor_.queues().finished() && executor_.decoder().done() && inbox_.empty();
}

bool Session::AllDone() const { return NothingLeft() && outbox_.empty(); }

void Session::PassWorksOn() {
  std::vector<Work>& works = executor_.works();
  std::vector<HostJob>& jobs = executor_.host_jobs();
  if (works.empty() && jobs.empty()) return;
  const std::shared_ptr<Session> self = shared_from_this();
  for (Work& work : works) work.owner = self;
  if (!works.empty()) environment_.host->Enqueue(&works);
  for (HostJob& job : std::exchange(jobs, {})) {
    environment_.host_work->Add(id(), [self, job = std::move(job)] {
      if (!job.task->unwanted.load(std::memory_order_relaxed)) job.work();
      if (self->inbox_.Post(job.task)) self->environment_.input->Add(self);
    });
  }
}

void Session::Advance() {
  if (!WaitsForData()) last_data_ = environment_.clock->Now();
  if (open()) executor_.Pump();
  PassWorksOn();
  const uint64_t ended = executor_.queues().commands_ended();
  if (ended != ended_counted_) last_command_ = environment_.clock->Now();
  environment_.commands_ended.fetch_add(ended - std::exchange(ended_counted_, ended),
                                        std::memory_order_relaxed);
  EndIfDrained();
  NotifyOutput();
  ScheduleCheck();
}

void Session::ScheduleCheck() {
  if (!open()) return;
  TimePoint next = std::min({executor_.queues().next_deadline(), resume_until_, suspended_until_});
  if (WaitsForData()) next = std::min(next, last_data_ + StalledTimeout());
  const TimePoint now = environment_.clock->Now();
  if (detached() && pid_ != 0) next = std::min(next, now + kProcessCheck);
  if (!detached() && executor_.window().reduced()) next = std::min(next, now + kWindowRetry);
  if (next >= next_check_) return;
  next_check_ = next;
  environment_.host->LookAgainAt(next);
}

bool Session::WaitsForData() const { return !detached() && executor_.queues().wait_for_data(); }

// A detached client does not hold up the daemon's end with results it has not received.
void Session::EndIfDrained() {
  if (!draining_ || !open()) return;
  const bool done = detached() ? NothingLeft() : phase_ == Phase::kActive && AllDone();
  if (done) EndLocked(ToStatus(DrainingError()));
}

void Session::NotifyOutput() {
  executor_.window_account().CountOutput();
  if (output_ == nullptr) return;
  executor_.window_account().Advance();
  const bool ended = phase_ == Phase::kEnded || (phase_ == Phase::kFinishing && NothingLeft());
  if (output_announced_ || !(ended || !outbox_.empty() || WindowDue())) return;
  output_announced_ = true;
  output_->OutputReady();
}

// Nothing more is released by itself when the device thread has nothing of the session: a client that waits for a part
// of its window must have it.
bool Session::WindowDue() const {
  if (waiting_ || !open()) return false;
  const ReceiveWindow& window = executor_.window();
  const uint64_t growth = window.granted() - advertised_window_;
  return growth > 0 && (growth >= window.size() / 4 || !executor_.outstanding());
}

// ---- the device thread

bool Session::Start(const Work& work, TimePoint now) {
  MutexLock lock(&mu_);
  const bool wanted = executor_.Start(static_cast<Task&>(*work.context), work, now);
  if (!wanted) {
    Advance();
    ReleaseIfIdle();
  }
  return wanted;
}

void Session::Done(std::span<Work> works) {
  MutexLock lock(&mu_);
  for (Work& work : works) {
    account_.Add(work);
    executor_.Done(static_cast<Task&>(*work.context), work);
  }
  Advance();
  ReleaseIfIdle();
}

void Session::Failed(const Work& work, const WorkError& error) {
  MutexLock lock(&mu_);
  executor_.Failed(static_cast<Task&>(*work.context), work, error);
  Advance();
  ReleaseIfIdle();
}

void Session::Printed(const Work& work, KernelPrint print) {
  MutexLock lock(&mu_);
  executor_.Printed(static_cast<const Task&>(*work.context), std::move(print));
  NotifyOutput();
}

// ---- the end

void Session::End(const Status& status) {
  MutexLock lock(&mu_);
  EndLocked(status);
  NotifyOutput();
}

void Session::EndLocked(const Status& status) {
  if (open()) {
    phase_ = Phase::kEnded;
    end_status_ = status;
    inbox_.Close(status);
    executor_.DropAll();
  }
  ReleaseIfIdle();
}

// Memory is given back when neither the call nor the device can reach it any more.
void Session::ReleaseIfIdle() {
  if (output_ != nullptr || phase_ != Phase::kEnded || executor_.outstanding()) return;
  phase_ = Phase::kReleased;
  executor_.Release();
  environment_.host->MemoryFreed();
  environment_.host->SessionReleased(id());
}

void Session::Drain() {
  MutexLock lock(&mu_);
  if (!open() || draining_) return;
  if (waiting_) {
    EndLocked(ToStatus(DrainingError()));
    NotifyOutput();
    return;
  }
  draining_ = true;
  executor_.decoder().RefuseNew(DrainingError());
  EndIfDrained();
  NotifyOutput();
}

void Session::Undrain() {
  MutexLock lock(&mu_);
  if (!std::exchange(draining_, false)) return;
  executor_.AcceptNew();
}

void Session::LeaseGranted(std::string token) {
  MutexLock lock(&mu_);
  if (phase_ != Phase::kActive || !std::exchange(waiting_, false)) return;
  last_data_ = last_command_ = environment_.clock->Now();
  inbox_.Open();
  outbox_.SetWelcome(std::move(token));
  NotifyOutput();
}

void Session::NotifyWaiting(const LeaseWaitReply& wait) {
  MutexLock lock(&mu_);
  if (!open() || (wait.position != 0 && !waiting_)) return;
  outbox_.SetWaiting(wait);
  NotifyOutput();
}

std::optional<TileSet> Session::BlockedByLeases(const LeaseGate& gate, bool settled) const {
  MutexLock lock(&mu_);
  if (!open()) return std::nullopt;
  return ttfd::BlockedByLeases(executor_.queues().all(), gate, settled);
}

TimePoint Session::LastAtWork(TimePoint now) const {
  MutexLock lock(&mu_);
  return NothingLeft() ? last_command_ : now;
}

TimePoint Session::CheckDeadlines(TimePoint now) {
  MutexLock lock(&mu_);
  next_check_ = TimePoint::max();
  if (!open()) return next_check_;
  if (now >= resume_until_) {
    EndLocked(SessionLost(id()));
    return next_check_;
  }
  if (detached() && environment_.process_ended(pid_)) {
    EndLocked(Error(StatusCode::kCancelled, "the client's process has ended"));
    return next_check_;
  }
  if (WaitsForData() && now - last_data_ > StalledTimeout()) {
    EndLocked(WithReason(Error(StatusCode::kDeadlineExceeded,
                               "the client has not sent the data of its commands for {} ms",
                               MillisecondsOf(StalledTimeout())),
                         reason::kDeadline));
    NotifyOutput();
    return next_check_;
  }
  if (now >= suspended_until_) Unsuspend();
  executor_.CheckDeadlines(now);
  Advance();
  const TimePoint idle_until = CheckIdle(now);
  return std::min(next_check_, idle_until);
}

TimePoint Session::CheckIdle(TimePoint now) {
  const uint64_t limit_ms = environment_.limits.idle_ms;
  // A lease has an idle time of its own, which the work of others under it counts for.
  if (limit_ms == 0 || lease_ != 0 || phase_ != Phase::kActive) return TimePoint::max();
  const Duration limit = std::chrono::milliseconds(limit_ms);
  if (!NothingLeft()) return now + limit;
  if (now - last_command_ < limit) return last_command_ + limit;
  EndLocked(ToStatus(LimitError("", "idle_ms", limit_ms, MillisecondsOf(now - last_command_),
                                "the session has had no command for too long")));
  NotifyOutput();
  return TimePoint::max();
}

TimeoutsReply Session::timeouts() const {
  MutexLock lock(&mu_);
  return timeouts_;
}

void Session::SetTimeouts(const TimeoutsReply& timeouts) {
  MutexLock lock(&mu_);
  const auto set = [](uint32_t from, uint32_t* to) {
    if (from != 0) *to = from;
  };
  set(timeouts.operation_ms, &timeouts_.operation_ms);
  set(timeouts.kernel_ms, &timeouts_.kernel_ms);
  set(timeouts.start_ms, &timeouts_.start_ms);
  set(timeouts.stalled_client_ms, &timeouts_.stalled_client_ms);
  executor_.set_operation_timeout(std::chrono::milliseconds(timeouts_.operation_ms));
  executor_.set_kernel_timeout(std::chrono::milliseconds(timeouts_.kernel_ms));
  executor_.decoder().set_start_timeout(std::chrono::milliseconds(timeouts_.start_ms));
  ScheduleCheck();
}

Duration Session::StalledTimeout() const {
  const uint32_t own = timeouts_.stalled_client_ms;
  return std::chrono::milliseconds(
      own != 0 ? own : environment_.stalled_client_ms.load(std::memory_order_relaxed));
}

ErrorReply Session::DrainingError() {
  ErrorReply error = MakeError(StatusCode::kUnavailable, reason::kDraining, "",
                               "the daemon is going down and takes no new commands");
  error.retryable = true;
  return error;
}

}  // namespace ttfd
