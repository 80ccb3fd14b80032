// The sessions of the daemon and their users.
#include "daemon/core/sessions.h"

#include <algorithm>
#include <utility>

#include "daemon/api/errors.h"
#include "daemon/core/attachment.h"
#include "daemon/core/hello_check.h"

namespace ttfd {
namespace {

constexpr size_t kTokenBytes = 16;

}  // namespace

Sessions::Sessions(const Parts& parts, Options options)
    : options_(std::move(options)),
      set_in_use_(parts.set_in_use),
      timeouts_(options_.timeouts),
      deadlines_(parts.timers, [this](TimePoint now) { CheckDeadlines(now); }),
      session_parts_{options_.limits,
                     timeouts_,
                     parts.clock,
                     parts.host_work,
                     parts.input,
                     changed_,
                     deadlines_,
                     quarantine_,
                     commands_ended_,
                     options_.process_ended,
                     parts.next_slice_changed,
                     parts.released,
                     parts.lease_text,
                     parts.connect_links,
                     parts.memory_freed} {}

StatusOr<std::shared_ptr<SessionPort>> Sessions::Open(
    const PeerIdentity& peer, const HelloRequest& hello, const DaemonCards& cards,
    SessionOutput* output, std::shared_ptr<SessionTransport> transport, Place place) {
  RETURN_IF_ERROR(CheckHello(options_.limits, peer, hello));
  if (hello.attach == AttachKind::kResume) return Resume(peer, hello, output);
  WelcomeReply welcome;
  welcome.revision = kApiRevision;
  welcome.daemon_version = options_.identity.version;
  welcome.token = options_.random_bytes(kTokenBytes);
  welcome.devices = cards.devices();
  welcome.limits = options_.limits;
  std::string user = peer.certificate.empty() ? options_.user_name(peer.uid) : peer.certificate;
  std::shared_ptr<Session> session;
  {
    MutexLock lock(&mu_);
    RETURN_IF_ERROR(CheckAdmission(peer));
    welcome.session = next_id_++;
    std::vector<DeviceLoad> loads(cards.size());
    for (const auto& [id, other] : sessions_) {
      DeviceLoad& load = loads[other->device()];
      other->uid() == peer.uid ? void(++load.own) : void(load.other_users.insert(other->uid()));
    }
    ASSIGN_OR_RETURN(const SessionLease lease,
                     place({welcome.session, hello.client_name, user, peer.uid, peer.pid}, loads));
    welcome.device = lease.device;
    users_.Admit(peer, user);
    session = std::make_shared<Session>(
        session_parts_, cards.resources(),
        SessionChannel::Opening{peer, hello, welcome, lease.waiting, output, std::move(transport)},
        lease, std::move(user), users_.UseOf(peer.uid));
    sessions_.emplace(session->id(), session);
    session->Post([](Session& opened) { opened.UpdateQuarantine(); });
    set_in_use_(true);
  }
  const Duration idle = std::chrono::milliseconds(options_.limits.idle_ms);
  if (idle > Duration::zero()) deadlines_.RunBy(session_parts_.clock.Now() + idle);
  welcome.window_bytes = session->channel().window_bytes();
  return std::make_shared<Attachment>(std::move(session), output, std::move(welcome));
}

Status Sessions::CheckAdmission(const PeerIdentity& peer) const {
  for (const Status& closed : closed_) RETURN_IF_ERROR(closed);
  RETURN_IF_ERROR(users_.Check(peer));
  const auto of_user =
      std::count_if(sessions_.begin(), sessions_.end(),
                    [&peer](const auto& entry) { return entry.second->uid() == peer.uid; });
  const uint64_t most = options_.limits.sessions_per_user;
  if (static_cast<uint64_t>(of_user) < most) return OkStatus();
  return ToStatus(LimitError("hello", "sessions_per_user", most, static_cast<uint64_t>(of_user),
                             "no more sessions of this user"));
}

StatusOr<std::shared_ptr<SessionPort>> Sessions::Resume(const PeerIdentity& peer,
                                                        const HelloRequest& hello,
                                                        SessionOutput* output) {
  std::shared_ptr<Session> session = Find(hello.resume.session);
  if (session == nullptr) return SessionLost(hello.resume.session);
  ASSIGN_OR_RETURN(
      WelcomeReply welcome,
      session->channel().Attach(peer, hello, options_.random_bytes(kTokenBytes), output));
  return std::make_shared<Attachment>(std::move(session), output, std::move(welcome));
}

void Sessions::Remove(uint64_t session) {
  MutexLock lock(&mu_);
  sessions_.erase(session);
  set_in_use_(!sessions_.empty());
}

void Sessions::SetClosed(Closed reason, const Status& why, absl::FunctionRef<void(Session&)> each) {
  MutexLock lock(&mu_);
  closed_[static_cast<size_t>(reason)] = why;
  for (const auto& [id, session] : sessions_) each(*session);
}

std::shared_ptr<Session> Sessions::Find(uint64_t session) const {
  MutexLock lock(&mu_);
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<Session>> Sessions::All() const {
  MutexLock lock(&mu_);
  std::vector<std::shared_ptr<Session>> sessions;
  for (const auto& [id, session] : sessions_) sessions.push_back(session);
  return sessions;
}

size_t Sessions::size() const {
  MutexLock lock(&mu_);
  return sessions_.size();
}

std::shared_ptr<UserUse> Sessions::UseOf(uint32_t uid) {
  MutexLock lock(&mu_);
  return users_.UseOf(uid);
}

bool Sessions::AnyUses(Resource resource) const {
  MutexLock lock(&mu_);
  return users_.AnyUses(resource);
}

// ---- device thread

void Sessions::CheckDeadlines(TimePoint now) {
  TimePoint next = TimePoint::max();
  for (const auto& session : All()) next = std::min(next, session->CheckDeadlines(now));
  deadlines_.RunBy(next);
}

void Sessions::CountHang(Session& session, const std::string& report) {
  session.CountHang();
  const TimePoint now = session_parts_.clock.Now();
  if (quarantine_.AddHang(session.uid(), report, options_.hangs, now)) {
    UpdateQuarantine(session.uid());
  }
}

void Sessions::EndQuarantine(uint32_t uid) {
  quarantine_.End(uid);
  UpdateQuarantine(uid);
}

void Sessions::UpdateQuarantine(uint32_t uid) {
  for (const auto& session : All()) {
    if (session->uid() == uid) session->UpdateQuarantine();
  }
}

}  // namespace ttfd
