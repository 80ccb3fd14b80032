// Opens, lists and ends sessions; boots and stops.
#include "daemon/core/daemon_core.h"

#include <malloc.h>
#include <sys/random.h>

#include <algorithm>
#include <utility>

#include "daemon/core/attachment.h"
#include "daemon/core/process.h"
#include "daemon/session/errors.h"
#include "daemon/session/status_reason.h"
#include "runtime/boot/kernel_elf.h"

namespace ttfd {
namespace {

constexpr uint32_t kRevision = 1;
constexpr uint32_t kMaxWeight = 1000;  // of any session: a share, not a way to exclude others
constexpr size_t kTokenBytes = 16;

std::string RandomBytes(size_t count) {
  std::string bytes(count, '\0');
  if (getrandom(bytes.data(), count, 0) != static_cast<ssize_t>(count)) bytes.clear();
  return bytes;
}

Status Unsupported(const char* field, const char* what) {
  return ToStatus(UnsupportedError(field, what));
}

Status DrainingStatus() {
  return WithReason(
      Error(StatusCode::kUnavailable, "the daemon is going down and opens no new sessions"),
      reason::kDraining);
}

CardExecutorOptions WithHangs(CardExecutorOptions options, HangKeeper* hangs) {
  if (hangs != nullptr) options.hangs = hangs;
  return options;
}

Status NoSuchSession(uint64_t session) {
  return WithReason(Error(StatusCode::kNotFound, "there is no session {}", session),
                    reason::kInvalid, "session");
}

}  // namespace

StatusOr<std::unique_ptr<DaemonCore>> DaemonCore::Create(std::unique_ptr<Card> card, Clock& clock,
                                                         DaemonOptions options) {
  if (card == nullptr) return InvalidArgument("a daemon needs a card");
  if (!options.load_kernel) options.load_kernel = LoadKernel;
  if (!options.random_bytes) options.random_bytes = RandomBytes;
  if (!options.process_ended) options.process_ended = ProcessHasEnded;
  if (!options.trim_memory) options.trim_memory = [] { malloc_trim(0); };
  options.scheduler.workers = card->geometry().worker_count();
  return std::unique_ptr<DaemonCore>(new DaemonCore(std::move(card), clock, std::move(options)));
}

DaemonCore::DaemonCore(std::unique_ptr<Card> card, Clock& clock, DaemonOptions options)
    : clock_(clock),
      options_(std::move(options)),
      created_(clock.Now()),
      leases_({std::chrono::milliseconds(options_.limits.lease_ms),
               std::chrono::milliseconds(options_.limits.lease_idle_ms),
               std::chrono::milliseconds(options_.limits.lease_wait_ms),
               options_.limits.leases_per_user}),
      hang_store_(std::make_shared<HangStore>(options_.hang_store)),
      hang_writer_(options_.hang_store.folder.empty()
                       ? nullptr
                       : std::make_unique<HangWriter>(hang_store_, options_.hang_writer)),
      schedulers_{Scheduler(options_.scheduler, &gate_), Scheduler(options_.scheduler, &gate_)},
      input_(
          clock, [this] { executor_.Wake(); },
          [this](uint64_t session, Duration time) {
            for (Scheduler& scheduler : schedulers_) scheduler.Charge(session, time);
          }),
      executor_(std::move(card), {&schedulers_[0], &schedulers_[1]}, *this, environment_.timeouts,
                clock, WithHangs(options_.card, hang_writer_.get())) {
  environment_.limits = options_.limits;
  environment_.windows = options_.windows;
  environment_.kernels =
      std::make_unique<KernelStore>(options_.kernel_store_bytes, options_.load_kernel);
  environment_.host_work = &host_work_;
  environment_.input = &input_;
  environment_.clock = &clock;
  environment_.process_ended = options_.process_ended;
  environment_.host = this;
  environment_.timeouts.Set(options_.timeouts);
}

DaemonCore::~DaemonCore() {
  if (started_) Stop(clock_.Now()).IgnoreError();
}

Status DaemonCore::Boot() {
  RETURN_IF_ERROR(executor_.Boot());
  device_ = {0, executor_.device_info(), executor_.description()};
  environment_.card = device_.card;
  environment_.geometry = &executor_.geometry();
  environment_.memory = std::make_unique<DeviceMemory>(
      device_.card, device_.info.memory_is_zero_after_power_on, executor_.kernel_bounds());
  booted_ = true;
  return OkStatus();
}

Status DaemonCore::Start() {
  if (!booted_) RETURN_IF_ERROR(Boot());
  executor_.Start();
  host_work_.Start();
  started_ = true;
  return OkStatus();
}

Status DaemonCore::Stop(TimePoint deadline) {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
    for (const auto& [id, session] : sessions_) {
      session->Post([](Session& ended) { ended.End(DrainingStatus()); });
    }
  }
  host_work_.Stop();
  started_ = false;
  return executor_.Stop(deadline);
}

// ---- sessions

// A share is taken from others: more than the administrator gives everybody is for those who may administer.
Status DaemonCore::CheckShare(const PeerIdentity& peer, const HelloRequest& hello) const {
  const SessionLimits& limits = environment_.limits;
  const uint32_t most = peer.may_raise ? kMaxWeight : limits.weight;
  const uint32_t weight = hello.weight.value_or(1);
  if (weight == 0) {
    return ToStatus(
        InvalidError("hello.weight", "weight 0; 1 to {} are allowed, unset is 1", most));
  }
  if (weight > most) {
    return ToStatus(LimitError("hello.weight", "weight", most, weight,
                               fmt::format("weight {}; {} is the highest{}", weight, most,
                                           peer.may_raise ? "" : " without the role admin")));
  }
  if (!hello.priority_known) {
    return Unsupported("hello.priority", "a priority is low, normal or high");
  }
  if (hello.priority > limits.priority && !peer.may_raise) {
    return ToStatus(
        LimitError("hello.priority", "priority", static_cast<uint64_t>(limits.priority),
                   static_cast<uint64_t>(hello.priority),
                   fmt::format("priority {}; {} is the highest without the role admin",
                               PriorityName(hello.priority), PriorityName(limits.priority))));
  }
  return OkStatus();
}

Status DaemonCore::CheckHello(const PeerIdentity& peer, const HelloRequest& hello) const {
  if (hello.min_revision > kRevision || hello.max_revision < kRevision) {
    return WithReason(
        Error(StatusCode::kFailedPrecondition,
              "the client speaks revisions {} to {} of the API, this daemon revision {}",
              hello.min_revision, hello.max_revision, kRevision),
        reason::kUnsupported, "hello.min_revision");
  }
  // A session that resumes keeps what it was given when it began; if there is none any more, that is the answer.
  if (hello.attach == AttachKind::kResume) return OkStatus();
  if (hello.client_name.size() > environment_.limits.client_name_bytes) {
    return ToStatus(LimitError("hello.client_name", "client_name_bytes",
                               environment_.limits.client_name_bytes, 0,
                               fmt::format("a client name of {} bytes", hello.client_name.size())));
  }
  if (const Refusal refusal = CheckName("hello.client_name", hello.client_name)) {
    return ToStatus(*refusal);
  }
  return CheckShare(peer, hello);
}

StatusOr<std::shared_ptr<ClientSession>> DaemonCore::Open(
    const PeerIdentity& peer, const HelloRequest& hello, SessionOutput* output,
    std::shared_ptr<SessionTransport> transport) {
  RETURN_IF_ERROR(CheckHello(peer, hello));
  if (hello.attach == AttachKind::kResume) return Resume(peer, hello, output);
  WelcomeReply welcome;
  welcome.revision = kRevision;
  welcome.daemon_version = options_.identity.version;
  welcome.token = options_.random_bytes(kTokenBytes);
  welcome.devices = ListDevices().devices;
  welcome.limits = environment_.limits;
  std::string user = peer.certificate.empty() ? options_.user_name(peer.uid) : peer.certificate;
  std::shared_ptr<Session> session;
  {
    MutexLock lock(&mu_);
    RETURN_IF_ERROR(CheckAdmission(peer));
    welcome.session = next_session_++;
    ASSIGN_OR_RETURN(const SessionLease lease, FindLease(hello, {welcome.session, hello.client_name,
                                                                 user, peer.uid, peer.pid}));
    RETURN_IF_ERROR(users_.Admit(peer, user));
    session = std::make_shared<Session>(environment_, peer, hello, lease, welcome, std::move(user),
                                        users_.UseOf(peer.uid), output, std::move(transport));
    sessions_.emplace(session->id(), session);
    session->Post([](Session& opened) { opened.UpdateQuarantine(); });
    executor_.SetInUse(true);
    const uint64_t idle_ms = environment_.limits.idle_ms;
    if (idle_ms != 0) CheckSessionsAt(clock_.Now() + std::chrono::milliseconds(idle_ms));
  }
  welcome.window_bytes = session->window_bytes();
  return std::make_shared<Attachment>(std::move(session), output, std::move(welcome));
}

Status DaemonCore::CheckAdmission(const PeerIdentity& peer) const {
  if (draining_ != nullptr || stopping_) return DrainingStatus();
  if (state_ == DeviceState::kFailed) return DeviceResetStatus(last_error_.first);
  const auto of_user =
      std::count_if(sessions_.begin(), sessions_.end(),
                    [&peer](const auto& entry) { return entry.second->uid() == peer.uid; });
  if (static_cast<uint64_t>(of_user) < environment_.limits.sessions_per_user) return OkStatus();
  return ToStatus(LimitError("hello", "sessions_per_user", environment_.limits.sessions_per_user,
                             static_cast<uint64_t>(of_user), "no more sessions of this user"));
}

// Also while the daemon drains: it is no new session.
StatusOr<std::shared_ptr<ClientSession>> DaemonCore::Resume(const PeerIdentity& peer,
                                                            const HelloRequest& hello,
                                                            SessionOutput* output) {
  std::shared_ptr<Session> session = Find(hello.resume.session);
  if (session == nullptr) return SessionLost(hello.resume.session);
  ASSIGN_OR_RETURN(WelcomeReply welcome,
                   session->Attach(peer, hello, options_.random_bytes(kTokenBytes), output));
  return std::make_shared<Attachment>(std::move(session), output, std::move(welcome));
}

void DaemonCore::SessionReleased(uint64_t session) {
  for (Scheduler& scheduler : schedulers_) scheduler.RemoveSession(session);
  MutexLock lock(&mu_);
  sessions_.erase(session);
  executor_.SetInUse(!sessions_.empty());
  last_wait_notices_.erase(session);
  if (!leases_.empty()) {
    leases_.Leave(session, clock_.Now());
    LeasesChanged();
  }
  if (draining_ != nullptr) RunChecksAt(TimePoint::min());
}

std::shared_ptr<Session> DaemonCore::Find(uint64_t session) {
  MutexLock lock(&mu_);
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<Session>> DaemonCore::Sessions() {
  MutexLock lock(&mu_);
  std::vector<std::shared_ptr<Session>> sessions;
  for (const auto& entry : sessions_) sessions.push_back(entry.second);
  return sessions;
}

std::vector<SessionInfoReply> DaemonCore::ListSessions() {
  const TimePoint now = clock_.Now();
  std::vector<SessionInfoReply> infos;
  for (const auto& session : Sessions()) infos.push_back(session->Info(now));
  return infos;
}

Status DaemonCore::TerminateSession(uint64_t session, const std::string& reason) {
  const std::shared_ptr<Session> found = Find(session);
  if (found == nullptr) return NoSuchSession(session);
  const Status why =
      WithReason(Error(StatusCode::kAborted, "an administrator terminated the session: {}", reason),
                 reason::kCancelled);
  found->Post([why](Session& ended) { ended.End(why); });
  return OkStatus();
}

Status DaemonCore::ReleaseSession(uint64_t session) {
  const std::shared_ptr<Session> found = Find(session);
  if (found == nullptr) return NoSuchSession(session);
  if (found->Info(clock_.Now()).quarantine_reason.empty()) {
    return WithReason(
        Error(StatusCode::kFailedPrecondition, "session {} is not quarantined", session),
        reason::kInvalid, "session");
  }
  found->Post([this](Session& released) {
    environment_.quarantine.End(released.uid());
    UpdateQuarantine(released.uid());
  });
  return OkStatus();
}

// ---- timeouts

StatusOr<TimeoutsReply> DaemonCore::GetTimeouts(uint64_t session) {
  if (session == 0) return environment_.timeouts.Get();
  const std::shared_ptr<Session> found = Find(session);
  if (found == nullptr) return NoSuchSession(session);
  return found->timeouts();
}

StatusOr<TimeoutsReply> DaemonCore::SetTimeouts(uint64_t session, const TimeoutsReply& timeouts) {
  if (session != 0) {
    const std::shared_ptr<Session> found = Find(session);
    if (found == nullptr) return NoSuchSession(session);
    found->SetTimeouts(timeouts);
    return found->timeouts();
  }
  environment_.timeouts.Set(timeouts);
  for (const auto& found : Sessions()) found->SetTimeouts({});
  return environment_.timeouts.Get();
}

}  // namespace ttfd
