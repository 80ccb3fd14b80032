// Locks, passes on, tells.
#include "daemon/session/session.h"

#include <algorithm>
#include <utility>

#include "daemon/session/sha256.h"
#include "daemon/session/status_reason.h"

namespace ttfd {
namespace {

// How often a session without a connection looks whether its client can still come back.
constexpr Duration kProcessLook = std::chrono::milliseconds(100);

uint64_t Milliseconds(Duration duration) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

}  // namespace

Session::Session(SessionEnvironment& environment, const PeerIdentity& peer,
                 const HelloRequest& hello, const SessionLease& lease, WelcomeReply welcome,
                 std::string user, std::shared_ptr<UserUse> user_use, SessionOutput* output)
    : environment_(environment),
      peer_(peer),
      welcome_(std::move(welcome)),
      client_name_(hello.client_name),
      weight_(std::max(hello.weight, 1u)),
      priority_(hello.priority),
      user_(std::move(user)),
      opened_(environment.clock->Now()),
      lease_(lease.id),
      executor_(environment, buffer_, {welcome_.session, peer.uid, weight_, priority_, lease.id},
                lease.workers, std::move(user_use)),
      output_(output),
      waiting_(lease.waiting),
      grace_(std::chrono::milliseconds(hello.resume_grace_ms)),
      token_(welcome_.token),
      pid_(peer.pid),
      credit_told_(welcome_.credit),
      last_sign_of_client_(opened_),
      last_command_(opened_) {
  MutexLock lock(&mu_);
  buffer_.set_keep(grace_ > Duration::zero());
}

std::string Session::Name() const {
  return fmt::format("session {} (client '{}', user {}, uid {}, pid {})", welcome_.session,
                     client_name_, user_, peer_.uid, peer_.pid);
}

// ---- input

LoadedKernel Session::Load(const std::string& bytes, const std::string& name) const {
  LoadedKernel loaded{Sha256(bytes), nullptr};
  if (auto known = environment_.kernels->Find(peer_.uid, loaded.sha256)) {
    loaded.image = std::move(known);
    return loaded;
  }
  loaded.image = environment_.load_kernel(std::as_bytes(std::span(bytes)), name);
  if (loaded.image.ok()) environment_.kernels->Insert(peer_.uid, loaded.sha256, *loaded.image);
  return loaded;
}

Status Session::Submit(uint64_t attachment, BatchRequest batch) {
  std::vector<LoadedKernel> loaded;
  for (const Request& request : batch.commands) {
    const auto* load = std::get_if<LoadKernelRequest>(&request);
    if (load == nullptr || !load->is_inline) continue;
    // One beyond the limit is refused when it is decoded: not worth a look.
    if (load->inline_bytes.size() > environment_.limits.inline_bytes) {
      loaded.push_back({"", InvalidArgument("too large")});
    } else {
      loaded.push_back(Load(load->inline_bytes, load->name));
    }
  }
  MutexLock lock(&mu_);
  RETURN_IF_ERROR(HearClient(attachment));
  if (phase_ != Phase::kActive) return InvalidArgument("commands after the end of commands");
  if (!batch.commands.empty()) last_command_ = last_sign_of_client_;
  RETURN_IF_ERROR(executor_.Append(batch, loaded, last_sign_of_client_));
  GoOn();
  return OkStatus();
}

Status Session::Supply(uint64_t attachment, DataChunk chunk) {
  Executor::StreamedKernel kernel;
  {
    MutexLock lock(&mu_);
    RETURN_IF_ERROR(HearClient(attachment));
    RETURN_IF_ERROR(executor_.Supply(chunk, &kernel));
    if (!kernel.complete) GoOn();
  }
  if (!kernel.complete) return OkStatus();
  LoadedKernel loaded = Load(kernel.bytes, kernel.name);
  MutexLock lock(&mu_);
  executor_.KernelLoaded(kernel, std::move(loaded));
  GoOn();
  return OkStatus();
}

Status Session::Cancel(uint64_t attachment, const CancelRequest& cancel) {
  MutexLock lock(&mu_);
  RETURN_IF_ERROR(HearClient(attachment));
  RETURN_IF_ERROR(executor_.Cancel(cancel));
  GoOn();
  return OkStatus();
}

Status Session::Received(uint64_t attachment, const ReceivedRequest& received) {
  MutexLock lock(&mu_);
  RETURN_IF_ERROR(HearClient(attachment));
  RETURN_IF_ERROR(executor_.CheckReceived(received));
  buffer_.Received(received);
  GoOn();  // a read, or the end, may have waited for it
  return OkStatus();
}

void Session::FinishInput(uint64_t attachment, bool half_closed) {
  MutexLock lock(&mu_);
  if (!HearClient(attachment).ok()) return;
  half_closed_ |= half_closed;
  if (phase_ == Phase::kActive) {
    phase_ = Phase::kFinishing;
    executor_.FinishInput();
  }
  GoOn();
}

void Session::Leave(uint64_t attachment) {
  MutexLock lock(&mu_);
  if (!HearClient(attachment).ok()) return;
  EndLocked(WithReason(Error(StatusCode::kCancelled, "the client has left"), reason::kCancelled));
  Tell();
}

bool Session::resumable() {
  MutexLock lock(&mu_);
  return grace_ > Duration::zero();
}

bool Session::WantsInput(uint64_t attachment) {
  MutexLock lock(&mu_);
  if (attachment != attached_) return true;  // it hears that it was replaced when it says something
  const bool wanted = !waiting_ && executor_.wants_input();
  input_refused_ = !wanted;
  return wanted;
}

// ---- output

SessionOutputBatch Session::TakeOutput(uint64_t attachment, uint64_t max_bytes) {
  MutexLock lock(&mu_);
  if (attachment != attached_) return {};
  TellCredit();
  SessionOutputBatch batch = buffer_.Take(max_bytes);
  if (batch.empty()) {
    told_ = false;
    EndIfDrained();
    LookAgain();
    return batch;
  }
  last_sign_of_client_ = environment_.clock->Now();
  // A client that acknowledges nothing is not kept for: it cannot resume any more.
  if (buffer_.kept_errors() > environment_.windows.errors) {
    grace_ = Duration::zero();
    buffer_.set_keep(false);
  }
  if (executor_.read_blocked()) GoOn();
  return batch;
}

bool Session::AllDone() const { return executor_.finished() && buffer_.empty(); }

// What every change is followed by: go on, hand works over, answer the call.
void Session::GoOn() {
  if (open()) executor_.Pump();
  std::vector<Work>& works = executor_.works();
  if (!works.empty()) {
    const std::shared_ptr<Session> self = shared_from_this();
    for (Work& work : works) work.owner = self;
    environment_.host->Enqueue(&works);
  }
  LookAgain();
  const uint64_t ended = executor_.commands_ended();
  if (ended != ended_counted_) last_command_ = environment_.clock->Now();
  environment_.commands_ended.fetch_add(ended - std::exchange(ended_counted_, ended),
                                        std::memory_order_relaxed);
  EndIfDrained();
  Tell();
}

void Session::LookAgain() {
  if (!open()) return;
  TimePoint next = std::min({executor_.next_deadline(), resume_until_, suspended_until_});
  if (WaitsForClient()) next = std::min(next, last_sign_of_client_ + StalledTimeout());
  if (detached() && pid_ != 0) {
    next = std::min(next, environment_.clock->Now() + kProcessLook);
  }
  if (next >= look_again_at_) return;
  look_again_at_ = next;
  environment_.host->LookAgainAt(next);
}

bool Session::WaitsForClient() const {
  if (detached()) return false;
  if (executor_.waits_for_data()) return true;
  if (buffer_.all_received() || !buffer_.empty()) return false;
  return executor_.read_blocked() || (phase_ == Phase::kFinishing && executor_.finished());
}

// A client that is away would hold up the daemon's end for what it has not received.
void Session::EndIfDrained() {
  if (!draining_ || !open()) return;
  const bool done = detached() ? executor_.finished() : phase_ == Phase::kActive && AllDone();
  if (done) EndLocked(ToStatus(DrainingError()));
}

void Session::Tell() {
  if (output_ == nullptr) return;
  TellCredit();  // also when nothing else is to be said: a streamed write waits for it
  const bool ended =
      phase_ == Phase::kEnded || (phase_ == Phase::kFinishing && executor_.finished());
  const bool input_again = input_refused_ && !waiting_ && executor_.wants_input();
  if (input_again) input_refused_ = false;
  if (input_again || (!told_ && (ended || !buffer_.empty()))) {
    told_ = true;
    output_->OutputReady();
  }
}

// ---- the device thread

bool Session::Start(const Work& work, TimePoint now) {
  MutexLock lock(&mu_);
  const bool wanted = executor_.Start(static_cast<Task&>(*work.context), work, now);
  if (!wanted) {
    GoOn();
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
  GoOn();
  ReleaseIfIdle();
}

void Session::Failed(const Work& work, const WorkError& error) {
  MutexLock lock(&mu_);
  executor_.Failed(static_cast<Task&>(*work.context), work, error);
  GoOn();
  ReleaseIfIdle();
}

void Session::Printed(const Work& work, KernelPrint print) {
  MutexLock lock(&mu_);
  executor_.Printed(static_cast<const Task&>(*work.context), std::move(print));
  Tell();
}

// ---- the end

void Session::End(const Status& status) {
  MutexLock lock(&mu_);
  EndLocked(status);
  Tell();
}

void Session::EndLocked(const Status& status) {
  if (open()) {
    phase_ = Phase::kEnded;
    end_status_ = status;
    executor_.DropAll();
    GiveUpTurn();
  }
  ReleaseIfIdle();
}

// Memory is given back when neither the call nor the device can reach it any more.
void Session::ReleaseIfIdle() {
  if (attached_ != 0 || phase_ != Phase::kEnded || executor_.outstanding()) return;
  phase_ = Phase::kReleased;
  executor_.Release();
  environment_.host->SessionReleased(id());
}

void Session::Drain(uint32_t within_ms) {
  MutexLock lock(&mu_);
  if (!open() || draining_) return;
  if (waiting_) {
    EndLocked(ToStatus(DrainingError()));
    Tell();
    return;
  }
  draining_ = true;
  executor_.RefuseNewCommands(DrainingError());
  buffer_.SetDraining(within_ms);
  EndIfDrained();
  Tell();
}

bool Session::waiting() {
  MutexLock lock(&mu_);
  return waiting_;
}

void Session::LeaseGranted(std::string token) {
  MutexLock lock(&mu_);
  if (phase_ != Phase::kActive || !std::exchange(waiting_, false)) return;
  last_sign_of_client_ = last_command_ = environment_.clock->Now();
  buffer_.SetWelcome(std::move(token));
  Tell();
}

void Session::TellWaiting(const LeaseWaitReply& wait) {
  MutexLock lock(&mu_);
  if (phase_ != Phase::kActive || (wait.position != 0 && !waiting_)) return;
  buffer_.SetWaiting(wait);
  Tell();
}

TimePoint Session::LastAtWork(TimePoint now) const {
  MutexLock lock(&mu_);
  return executor_.finished() ? last_command_ : now;
}

TimePoint Session::CheckDeadlines(TimePoint now) {
  MutexLock lock(&mu_);
  look_again_at_ = TimePoint::max();
  if (!open()) return look_again_at_;
  if (now >= resume_until_) {
    EndLocked(SessionLost(id()));
    return look_again_at_;
  }
  if (detached() && environment_.process_ended(pid_)) {
    EndLocked(Error(StatusCode::kCancelled, "the client's process has ended"));
    return look_again_at_;
  }
  if (WaitsForClient() && now - last_sign_of_client_ > StalledTimeout()) {
    EndLocked(
        WithReason(Error(StatusCode::kDeadlineExceeded, "the client has not {} for {} ms",
                         executor_.waits_for_data() ? "sent the data of its commands"
                                                    : "said that it received what it was told",
                         Milliseconds(StalledTimeout())),
                   reason::kDeadline));
    Tell();
    return look_again_at_;
  }
  if (now >= suspended_until_) Unsuspend();
  executor_.CheckDeadlines(now);
  GoOn();
  const TimePoint idle_until = CheckIdle(now);
  return std::min(look_again_at_, idle_until);
}

TimePoint Session::CheckIdle(TimePoint now) {
  const uint64_t limit_ms = environment_.limits.idle_ms;
  // A lease has an idle time of its own, which the work of others under it counts for.
  if (limit_ms == 0 || lease_ != 0 || phase_ != Phase::kActive) return TimePoint::max();
  const Duration limit = std::chrono::milliseconds(limit_ms);
  if (!executor_.finished()) return now + limit;
  if (now - last_command_ < limit) return last_command_ + limit;
  EndLocked(ToStatus(LimitError("", "idle_ms", limit_ms, Milliseconds(now - last_command_),
                                "the session has had no command for too long")));
  Tell();
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
  executor_.set_start_timeout(std::chrono::milliseconds(timeouts_.start_ms));
  LookAgain();
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
