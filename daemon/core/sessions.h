// The sessions of the daemon and their users: opens, resumes, finds and removes them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "daemon/api/session_port.h"
#include "daemon/core/daemon_cards.h"
#include "daemon/core/user_table.h"
#include "daemon/session/session.h"
#include "daemon/session/session_parts.h"
#include "runtime/base/mutex.h"

namespace ttfd {

// Thread-safe. Its lock is taken before those of sessions and of leases.
class Sessions {
 public:
  struct Options {
    DaemonIdentity identity;
    SessionLimits limits;
    TimeoutsReply timeouts;  // at the start
    HangPolicy hangs;
    std::function<std::string(size_t bytes)> random_bytes;
    std::function<std::string(uint32_t uid)> user_name;  // must not block
    std::function<bool(uint32_t pid)> process_ended;
  };
  // All outlive it. As in SessionParts, but for `set_in_use`: there are sessions from now on, or none; called with the
  // lock held, must not block.
  struct Parts {
    Clock& clock;
    HostWork& host_work;
    InputTurns& input;
    Timers& timers;
    std::function<void(bool)> set_in_use;
    std::function<void(SessionQueue&)> next_slice_changed;
    std::function<void(uint64_t session)> released;
    std::function<std::string(uint64_t lease, uint32_t device, const TileSet& workers)> lease_text;
    std::function<void(uint64_t lease, std::vector<LinkConnection> links,
                       std::function<void(const Status&)> done)>
        connect_links;
    std::function<void()> memory_freed;
  };
  // Reasons for which no session is opened.
  enum class Closed { kStopping, kDraining, kCount };

  Sessions(const Parts& parts, Options options);

  // The device of a new session, and the lease that it requests or joins. `loads`: of each device, for its user. Called
  // with the lock held.
  using Place = absl::FunctionRef<StatusOr<SessionLease>(const SessionClient& who,
                                                         std::span<const DeviceLoad> loads)>;
  // A new session, or one that is resumed. A new session keeps `transport`. `cards` outlive the session.
  StatusOr<std::shared_ptr<SessionPort>> Open(const PeerIdentity& peer, const HelloRequest& hello,
                                              const DaemonCards& cards, SessionOutput* output,
                                              std::shared_ptr<SessionTransport> transport,
                                              Place place) ABSL_LOCKS_EXCLUDED(mu_);
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
  const SessionLimits& limits() const { return options_.limits; }
  Timeouts& timeouts() { return timeouts_; }  // of all sessions
  uint64_t commands_ended() const { return commands_ended_.load(std::memory_order_relaxed); }

  // ---- Device thread.

  // A launch of this session hung or faulted. Its user may be quarantined from now on.
  void CountHang(Session& session, const std::string& report) ABSL_LOCKS_EXCLUDED(mu_);
  void EndQuarantine(uint32_t uid) ABSL_LOCKS_EXCLUDED(mu_);
  // As ChangedSessions::Publish.
  bool Publish(TimePoint now) ABSL_LOCKS_EXCLUDED(mu_) { return changed_.Publish(now); }

 private:
  // A new session of this user may be opened now.
  Status CheckAdmission(const PeerIdentity& peer) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Also while the daemon drains: it is no new session.
  StatusOr<std::shared_ptr<SessionPort>> Resume(const PeerIdentity& peer, const HelloRequest& hello,
                                                SessionOutput* output) ABSL_LOCKS_EXCLUDED(mu_);
  void CheckDeadlines(TimePoint now) ABSL_LOCKS_EXCLUDED(mu_);
  void UpdateQuarantine(uint32_t uid) ABSL_LOCKS_EXCLUDED(mu_);

  const Options options_;
  const std::function<void(bool)> set_in_use_;
  Timeouts timeouts_;
  std::atomic<uint64_t> commands_ended_{0};
  Quarantine quarantine_;    // device thread
  ChangedSessions changed_;  // device thread
  Timer deadlines_;
  const SessionParts session_parts_;
  mutable Mutex mu_;
  std::map<uint64_t, std::shared_ptr<Session>> sessions_ ABSL_GUARDED_BY(mu_);
  UserTable users_ ABSL_GUARDED_BY(mu_){options_.identity.one_user};
  uint64_t next_id_ ABSL_GUARDED_BY(mu_) = 1;
  std::array<Status, static_cast<size_t>(Closed::kCount)> closed_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ttfd
