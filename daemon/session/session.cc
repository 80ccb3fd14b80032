// Input, output, the device thread's answers and the end of a session.
#include "daemon/session/session.h"

#include <algorithm>
#include <utility>

#include "daemon/session/errors.h"
#include "daemon/session/status_reason.h"

namespace ttfd {
namespace {

// How often a session without a connection checks whether its client's process still exists.
constexpr Duration kProcessCheck = std::chrono::milliseconds(100);
// Interval at which a session whose window is reduced requests the rest.
constexpr Duration kWindowRetry = std::chrono::milliseconds(100);

Status ConnectionGone() { return Error(StatusCode::kCancelled, "the connection is gone"); }

}  // namespace

Session::Session(SessionEnvironment& environment, const PeerIdentity& peer,
                 const HelloRequest& hello, const SessionLease& lease, WelcomeReply welcome,
                 std::string user, const std::shared_ptr<UserUse>& user_use, SessionOutput* output,
                 std::shared_ptr<SessionTransport> transport)
    : environment_(environment),
      peer_(peer),
      welcome_(std::move(welcome)),
      client_{welcome_.session, hello.client_name, std::move(user), peer.uid, peer.pid},
      share_{this, welcome_.session, peer.uid, hello.weight.value_or(1), hello.priority, lease.id},
      transport_(std::move(transport)),
      timeouts_(&environment.timeouts),
      window_(environment.limits, std::shared_ptr<WindowPool>(user_use, &user_use->window_pool()),
              [host = environment.host] { host->MemoryFreed(); }),
      outbox_(window_, environment.limits, user_use, transport_->newest,
              {output, false, peer.pid, ReconnectTimeout(hello)}, lease.waiting),
      inbox_(window_, welcome_.token, output, lease.waiting),
      figures_(share_, client_, environment.clock->Now()),
      executor_(environment, outbox_, window_, timeouts_, share_, lease.workers, user_use),
      connection_(outbox_.connection()),
      waiting_(lease.waiting),
      last_data_(environment.clock->Now()),
      last_command_(last_data_) {
  transport_->unacknowledged.Attach(environment.limits, user_use);
  const Duration idle = std::chrono::milliseconds(environment.limits.idle_ms);
  if (idle > Duration::zero()) next_check_ = last_command_ + idle;
  PublishFigures();
}

Duration Session::ReconnectTimeout(const HelloRequest& hello) const {
  return std::chrono::milliseconds(
      std::min(hello.reconnect_timeout_ms, environment_.limits.reconnect_timeout_ms));
}

// ---- any thread

StatusOr<WelcomeReply> Session::Attach(const PeerIdentity& peer, const HelloRequest& hello,
                                       const std::string& next_token, SessionOutput* output) {
  // One answer for all: it says nothing about sessions of others.
  const bool same_user = peer.uid == peer_.uid && peer.certificate == peer_.certificate;
  std::optional<uint64_t> window;
  const auto connect = [&] {
    window = outbox_.Connect(output, peer.pid, ReconnectTimeout(hello));
    return window.has_value();
  };
  if (!same_user || next_token.empty() ||
      !inbox_.Attach(hello.resume.token, next_token, output, connect)) {
    return SessionLost(hello.resume.session);
  }
  Wake();
  WelcomeReply welcome = welcome_;
  welcome.token = next_token;
  welcome.window_bytes = *window;
  return welcome;
}

Status Session::Accept(const SessionOutput* from, MessageRequest message,
                       absl::FunctionRef<void()> accepted) {
  message.arrived = environment_.clock->Now();
  ASSIGN_OR_RETURN(const bool first, inbox_.Post(from, std::move(message), accepted));
  if (first) environment_.input->Add(shared_from_this());
  return OkStatus();
}

SessionOutputBatch Session::TakeOutput(const SessionOutput* from, uint64_t max_bytes) {
  bool wake = false;
  SessionOutputBatch batch = outbox_.Take(from, max_bytes, &wake);
  if (wake) Wake();
  return batch;
}

ClientSession::Ending Session::CheckEnd(const SessionOutput* from, bool acknowledged,
                                        Status* status) {
  const ClientSession::Ending ending = outbox_.CheckEnd(from, acknowledged, status);
  if (ending == ClientSession::Ending::kEnded || outbox_.acknowledged()) Wake();
  return ending;
}

void Session::Abandon(const SessionOutput* from, bool lost) {
  const std::optional<Connection> left = outbox_.Disconnect(from, lost);
  if (!left) return;
  if (left->gone) inbox_.Close(ConnectionGone());
  Wake();
}

void Session::Post(Control control) {
  if (inbox_.Post(std::move(control))) environment_.input->Add(shared_from_this());
}

void Session::Wake() {
  if (inbox_.Wake()) environment_.input->Add(shared_from_this());
}

void Session::SetTimeouts(const TimeoutsReply& timeouts) {
  timeouts_.Set(timeouts);
  Wake();  // a shorter one may have passed
}

LimitUsageReply Session::LimitUsage() const {
  LimitUsageReply uses = executor_.use().Describe(client_);
  const auto set = [&uses](Resource resource, uint64_t used) {
    uses.uses[static_cast<size_t>(resource)].used = used;
  };
  set(Resource::kWindowBytes, window_.held());
  // The session's own limit is of what is sent.
  set(Resource::kUnacknowledgedBytes, transport_->unacknowledged.bytes());
  return uses;
}

// ---- input

bool Session::HandleInput(InputBudget* budget) {
  inbox_.Take(&input_);
  CheckConnection();
  if (outbox_.acknowledged()) End(OkStatus());
  for (const Control& control : std::exchange(input_.controls, {})) {
    budget->Spend(1, 0);
    control(*this);
  }
  while (!budget->spent() && HandleMessage(budget)) continue;
  Advance();
  ReleaseIfIdle();
  return !input_.messages.empty() || !executor_.decoder().done() || !inbox_.BecomeIdle();
}

void Session::CheckConnection() {
  const uint64_t changes = outbox_.connection_changes();
  if (std::exchange(connection_changes_, changes) == changes) return;
  connection_ = outbox_.connection();
  if (connection_.connected()) {
    resume_until_ = TimePoint::max();
    last_data_ = environment_.clock->Now();
  } else if (connection_.gone) {
    End(ConnectionGone());
  } else if (open()) {
    resume_until_ = environment_.clock->Now() + connection_.reconnect_timeout;
  }
}

bool Session::HandleMessage(InputBudget* budget) {
  MessageDecoder& decoder = executor_.decoder();
  if (decoder.done()) {
    if (input_.messages.empty()) return false;
    MessageRequest message = std::move(input_.messages.front());
    input_.messages.pop_front();
    budget->Spend(1, 0);
    if (!message.data.empty()) last_data_ = message.arrived;
    if (!message.batches.empty()) last_command_ = message.arrived;
    decoder.Begin(std::move(message));
  }
  const StatusOr<MessageDecoder::End> end = decoder.Continue(budget);
  if (!end.ok()) {
    End(end.status());
  } else if (*end == MessageDecoder::End::kLeave) {
    End(ClientLeft());
  } else if (*end == MessageDecoder::End::kFinish && phase_ == Phase::kActive) {
    phase_ = Phase::kFinishing;
  }
  return true;
}

bool Session::NothingLeft() const {
  return executor_.queues().finished() && executor_.decoder().done() && input_.messages.empty() &&
         inbox_.empty();
}

void Session::PassHostWorkOn() {
  if (executor_.host_jobs().empty()) return;
  const std::shared_ptr<Session> self = shared_from_this();
  for (HostJob& job : std::exchange(executor_.host_jobs(), {})) {
    environment_.host_work->Add(id(), [self, job = std::move(job)] {
      if (!job.operation->host_work_cancelled.load(std::memory_order_relaxed)) job.work();
      self->Post([operation = job.operation](Session& session) {
        session.executor_.HostWorkEnded(*operation);
      });
    });
  }
}

void Session::ListSlices() {
  for (auto& [number, queue] : executor_.queues().all()) {
    if (queue.slices.listing_changed()) environment_.host->NextSliceChanged(queue);
  }
}

void Session::Advance() {
  if (!WaitsForData()) last_data_ = environment_.clock->Now();
  if (open()) executor_.Advance();
  PassHostWorkOn();
  ListSlices();
  const uint64_t ended = executor_.queues().commands_ended();
  if (ended != ended_counted_) last_command_ = environment_.clock->Now();
  environment_.commands_ended.fetch_add(ended - std::exchange(ended_counted_, ended),
                                        std::memory_order_relaxed);
  EndIfDrained();
  if (phase_ == Phase::kFinishing && NothingLeft()) outbox_.EndAfterOutput();
  PublishFigures();
  Announce();
  ScheduleCheck();
}

void Session::Announce() {
  outbox_.Announce({!executor_.busy(), draining_ || executor_.queues().wait_for_output()});
}

void Session::ScheduleCheck() {
  if (!open()) return;
  TimePoint next = std::min(executor_.queues().next_deadline(), resume_until_);
  if (executor_.quarantine().has_value()) {
    next = std::min(next, environment_.quarantine.Until(share_.uid));
  }
  if (WaitsForData()) next = std::min(next, last_data_ + timeouts_.stalled_client());
  const TimePoint now = environment_.clock->Now();
  if (detached() && connection_.pid != 0) next = std::min(next, now + kProcessCheck);
  if (!detached() && window_.reduced()) next = std::min(next, now + kWindowRetry);
  if (next >= next_check_) return;
  next_check_ = next;
  environment_.host->CheckSessionsAt(next);
}

bool Session::WaitsForData() const { return !detached() && executor_.queues().wait_for_data(); }

// A detached client does not hold up the daemon's end with results it has not received.
void Session::EndIfDrained() {
  if (!draining_ || !open() || !NothingLeft()) return;
  if (detached() || (phase_ == Phase::kActive && outbox_.empty())) End(ToStatus(DrainingError()));
}

// ---- the device thread

bool Session::MayStart(SessionQueue& queue, TimePoint now) {
  if (executor_.MayStart(queue, now)) return true;
  Advance();
  return false;
}

Slice Session::Submitted(SessionQueue& queue, const Ticket& ticket) {
  Slice slice = executor_.Submitted(queue, ticket);
  PassHostWorkOn();
  ListSlices();
  if (executor_.queues().wait_for_output()) Announce();
  return slice;
}

void Session::Refused(SessionQueue& queue, const SliceError& error) {
  executor_.Refused(queue, error);
  Advance();
}

void Session::Done(std::span<Slice> slices) {
  figures_.Add(slices);
  for (Slice& slice : slices) executor_.Done(slice);
  Advance();
  ReleaseIfIdle();
}

void Session::Failed(const Slice& slice, const SliceError& error) {
  executor_.Failed(slice, error);
  Advance();
  ReleaseIfIdle();
}

void Session::Requeue(const Ticket& ticket, Slice slice) {
  executor_.Requeue(ticket, std::move(slice));
  Advance();
  ReleaseIfIdle();
}

void Session::Printed(const Slice& slice, KernelPrint print) {
  executor_.Printed(*slice.operation, std::move(print));
  Announce();
}

// ---- the end

void Session::End(const Status& status) {
  if (open()) {
    phase_ = Phase::kEnded;
    input_.messages.clear();
    inbox_.Close(status);
    executor_.DropAll();
    ListSlices();
    PublishFigures();
    ReleaseIfIdle();
    outbox_.EndNow(status);  // the client receives the end when what it had is free
  }
}

// Memory is freed when the device cannot reach it any more.
void Session::ReleaseIfIdle() {
  if (phase_ != Phase::kEnded || executor_.outstanding()) return;
  phase_ = Phase::kReleased;
  executor_.Release();
  window_.Close();
  environment_.host->MemoryFreed();
  environment_.host->SessionReleased(id());
}

void Session::Drain() {
  if (!open() || draining_) return;
  if (waiting_) return End(ToStatus(DrainingError()));
  draining_ = true;
  executor_.decoder().RefuseNew(DrainingError());
}

void Session::Undrain() {
  if (!std::exchange(draining_, false)) return;
  executor_.decoder().RefuseNew(std::nullopt);
}

void Session::LeaseGranted(std::string token) {
  if (phase_ != Phase::kActive || !std::exchange(waiting_, false)) return;
  last_data_ = last_command_ = environment_.clock->Now();
  inbox_.Open();
  outbox_.SetWelcome(std::move(token));
  PublishFigures();
  Announce();
}

void Session::NotifyWaiting(const LeaseWaitReply& wait) {
  if (!open() || (wait.position != 0 && !waiting_)) return;
  outbox_.SetWaiting(wait);
  Announce();
}

TimePoint Session::LastAtWork(TimePoint now) const { return NothingLeft() ? last_command_ : now; }

void Session::CountHang() {
  figures_.Publish([](SessionInfoReply* info) { ++info->hangs; });
}

void Session::UpdateQuarantine() {
  const Quarantine::Entry* const active =
      environment_.quarantine.Find(share_.uid, environment_.clock->Now());
  const bool was = executor_.quarantine().has_value();
  if (active != nullptr && !was && open()) executor_.BeginQuarantine(active->error);
  if (active == nullptr && was) executor_.EndQuarantine();
  Advance();
}

TimePoint Session::CheckDeadlines(TimePoint now) {
  if (now < next_check_) return next_check_;  // a check passes over all commands
  next_check_ = TimePoint::max();
  if (!open()) return next_check_;
  if (now >= resume_until_) {
    End(SessionLost(id()));
    return next_check_;
  }
  if (detached() && environment_.process_ended(connection_.pid)) {
    End(Error(StatusCode::kCancelled, "the client's process has ended"));
    return next_check_;
  }
  const Duration stalled = timeouts_.stalled_client();
  if (WaitsForData() && now - last_data_ > stalled) {
    End(WithReason(Error(StatusCode::kDeadlineExceeded,
                         "the client has not sent the data of its commands for {} ms",
                         MillisecondsOf(stalled)),
                   reason::kDeadline));
    return next_check_;
  }
  if (executor_.quarantine().has_value()) UpdateQuarantine();
  executor_.CheckDeadlines(now);
  Advance();
  next_check_ = std::min(next_check_, CheckIdle(now));
  return next_check_;
}

TimePoint Session::CheckIdle(TimePoint now) {
  const uint64_t limit_ms = environment_.limits.idle_ms;
  // A lease has an idle time of its own, which the work of others under it counts for.
  if (limit_ms == 0 || share_.lease != 0 || phase_ != Phase::kActive) return TimePoint::max();
  const Duration limit = std::chrono::milliseconds(limit_ms);
  if (!NothingLeft()) return now + limit;
  if (now - last_command_ < limit) return last_command_ + limit;
  End(ToStatus(LimitError("", "idle_ms", limit_ms, MillisecondsOf(now - last_command_),
                          "the session has had no command for too long")));
  return TimePoint::max();
}

ErrorReply Session::DrainingError() {
  ErrorReply error = MakeError(StatusCode::kUnavailable, reason::kDraining, "",
                               "the daemon is going down and takes no new commands");
  error.retryable = true;
  return error;
}

// ---- figures

SessionState Session::State() const {
  if (open() && executor_.quarantine().has_value()) return SessionState::kQuarantined;
  if (detached()) return SessionState::kDetached;
  if (phase_ == Phase::kFinishing) return SessionState::kFinishing;
  if (phase_ != Phase::kActive) return SessionState::kEnding;
  return waiting_ ? SessionState::kWaiting : SessionState::kActive;
}

void Session::PublishFigures() {
  figures_.Publish([this](SessionInfoReply* info) {
    info->pid = connection_.pid;
    info->state = State();
    const Refusal& quarantine = executor_.quarantine();
    info->quarantine_reason = quarantine.has_value() ? quarantine->message : "";
    info->dram_bytes = executor_.handles().dram_bytes();
    info->l1_bytes = executor_.handles().l1_bytes();
    info->handles = static_cast<uint32_t>(executor_.handles().size());
    info->submitted.clear();
    info->completed.clear();
    for (const auto& [number, queue] : executor_.queues().all()) {
      info->submitted.push_back({number, queue.sent});
      info->completed.push_back({number, queue.completed});
    }
  });
}

}  // namespace ttfd
