// The sessions of the daemon and their users.
#include "daemon/core/sessions.h"

#include <algorithm>
#include <utility>

#include "daemon/core/attachment.h"
#include "daemon/core/hello_check.h"
#include "daemon/session/errors.h"

namespace ttfd {
namespace {

constexpr size_t kTokenBytes = 16;

}  // namespace

StatusOr<std::shared_ptr<ClientSession>> Sessions::Open(
    const PeerIdentity& peer, const HelloRequest& hello, std::vector<DeviceReply> devices,
    SessionOutput* output, std::shared_ptr<SessionTransport> transport, LeaseOf lease_of) {
  WelcomeReply welcome;
  welcome.revision = kApiRevision;
  welcome.daemon_version = options_.identity.version;
  welcome.token = options_.random_bytes(kTokenBytes);
  welcome.devices = std::move(devices);
  welcome.limits = environment_.limits;
  std::string user = peer.certificate.empty() ? options_.user_name(peer.uid) : peer.certificate;
  std::shared_ptr<Session> session;
  {
    MutexLock lock(&mu_);
    RETURN_IF_ERROR(CheckAdmission(peer));
    welcome.session = next_id_++;
    ASSIGN_OR_RETURN(const SessionLease lease,
                     lease_of({welcome.session, hello.client_name, user, peer.uid, peer.pid}));
    users_.Admit(peer, user);
    session = std::make_shared<Session>(environment_, peer, hello, lease, welcome, std::move(user),
                                        users_.UseOf(peer.uid), output, std::move(transport));
    sessions_.emplace(session->id(), session);
    session->Post([](Session& opened) { opened.UpdateQuarantine(); });
    options_.set_in_use(true);
  }
  welcome.window_bytes = session->window_bytes();
  return std::make_shared<Attachment>(std::move(session), output, std::move(welcome));
}

Status Sessions::CheckAdmission(const PeerIdentity& peer) const {
  for (const Status& closed : closed_) RETURN_IF_ERROR(closed);
  RETURN_IF_ERROR(users_.Check(peer));
  const auto of_user =
      std::count_if(sessions_.begin(), sessions_.end(),
                    [&peer](const auto& entry) { return entry.second->uid() == peer.uid; });
  const uint64_t most = environment_.limits.sessions_per_user;
  if (static_cast<uint64_t>(of_user) < most) return OkStatus();
  return ToStatus(LimitError("hello", "sessions_per_user", most, static_cast<uint64_t>(of_user),
                             "no more sessions of this user"));
}

StatusOr<std::shared_ptr<ClientSession>> Sessions::Resume(const PeerIdentity& peer,
                                                          const HelloRequest& hello,
                                                          SessionOutput* output) {
  std::shared_ptr<Session> session = Find(hello.resume.session);
  if (session == nullptr) return SessionLost(hello.resume.session);
  ASSIGN_OR_RETURN(WelcomeReply welcome,
                   session->Attach(peer, hello, options_.random_bytes(kTokenBytes), output));
  return std::make_shared<Attachment>(std::move(session), output, std::move(welcome));
}

void Sessions::Remove(uint64_t session) {
  MutexLock lock(&mu_);
  sessions_.erase(session);
  options_.set_in_use(!sessions_.empty());
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

}  // namespace ttfd
