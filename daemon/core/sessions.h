// The sessions of the daemon and their users: opens, resumes, finds and removes them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "daemon/core/user_table.h"
#include "daemon/session/environment.h"
#include "daemon/session/service.h"
#include "daemon/session/session.h"
#include "runtime/base/mutex.h"

namespace ttfd {

// Thread-safe. Its lock is taken before those of sessions and of leases.
class Sessions {
 public:
  struct Options {
    DaemonIdentity identity;
    std::function<std::string(size_t bytes)> random_bytes;
    std::function<std::string(uint32_t uid)> user_name;  // must not block
    // There are sessions from now on, or none. Called with the lock held: must not block.
    std::function<void(bool)> set_in_use;
  };
  // Reasons for which no session is opened.
  enum class Closed { kStopping, kDraining, kDeviceFailed, kCount };

  // `environment` outlives it.
  Sessions(SessionEnvironment& environment, Options options)
      : environment_(environment), options_(std::move(options)) {}

  // The lease that a new session requests or joins; called with the lock held.
  using LeaseOf = absl::FunctionRef<StatusOr<SessionLease>(const SessionClient& who)>;
  // REQUIRES CheckHello. The session keeps `transport`.
  StatusOr<std::shared_ptr<ClientSession>> Open(const PeerIdentity& peer, const HelloRequest& hello,
                                                std::vector<DeviceReply> devices,
                                                SessionOutput* output,
                                                std::shared_ptr<SessionTransport> transport,
                                                LeaseOf lease) ABSL_LOCKS_EXCLUDED(mu_);
  // Also while the daemon drains: it is no new session.
  StatusOr<std::shared_ptr<ClientSession>> Resume(const PeerIdentity& peer,
                                                  const HelloRequest& hello, SessionOutput* output)
      ABSL_LOCKS_EXCLUDED(mu_);
  // It holds nothing any more.
  void Remove(uint64_t session) ABSL_LOCKS_EXCLUDED(mu_);

  // No session is opened while any reason has an error; OK: the reason is over. Calls `each` for those that are open.
  void SetClosed(Closed reason, const Status& why, absl::FunctionRef<void(Session&)> each)
      ABSL_LOCKS_EXCLUDED(mu_);

  // Null: there is none.
  std::shared_ptr<Session> Find(uint64_t session) const ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<std::shared_ptr<Session>> All() const ABSL_LOCKS_EXCLUDED(mu_);
  size_t size() const ABSL_LOCKS_EXCLUDED(mu_);
  std::shared_ptr<UserUse> UseOf(uint32_t uid) ABSL_LOCKS_EXCLUDED(mu_);
  bool AnyUses(Resource resource) const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // A new session of this user may be opened now.
  Status CheckAdmission(const PeerIdentity& peer) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  SessionEnvironment& environment_;
  const Options options_;
  mutable Mutex mu_;
  std::map<uint64_t, std::shared_ptr<Session>> sessions_ ABSL_GUARDED_BY(mu_);
  UserTable users_ ABSL_GUARDED_BY(mu_){options_.identity.one_user};
  uint64_t next_id_ ABSL_GUARDED_BY(mu_) = 1;
  std::array<Status, static_cast<size_t>(Closed::kCount)> closed_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ttfd
