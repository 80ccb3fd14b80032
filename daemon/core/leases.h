// Leases of the cards: requests, grants, ends, and notices to sessions that wait.
//
// A lease is granted in two steps. First no other work may start where it will be (the card's gate); then, when what
// runs there has ended, its session is notified. It ends when the last of its sessions is released, which is when
// nothing of theirs is on the card.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/api/request.h"
#include "daemon/card/device_thread.h"
#include "daemon/core/daemon_cards.h"
#include "daemon/core/lease_table.h"
#include "daemon/core/sessions.h"
#include "daemon/session/session.h"
#include "daemon/session/timers.h"
#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"

namespace ttfd {

// Thread-safe, but for what is said to be of the device thread.
class Leases {
 public:
  // All outlive it.
  struct Parts {
    Sessions& sessions;
    DaemonCards& cards;
    DeviceThread& thread;
    Clock& clock;
    std::function<std::string(size_t bytes)> random_bytes;
    Timers& timers;
  };
  Leases(Parts parts, const LeaseTable::Options& options)
      : parts_(std::move(parts)),
        timer_(parts_.timers, [this](TimePoint now) { Check(now); }),
        table_(options) {}

  // The lease that a new session requests or joins; `device` is that of a session whose lease names none. Called with
  // the lock of the sessions.
  StatusOr<SessionLease> Request(const HelloRequest& hello, const SessionClient& who,
                                 uint32_t device) ABSL_LOCKS_EXCLUDED(mu_);
  // The session was released. Returns its lease if that has ended with it; 0: it has not.
  uint64_t Leave(uint64_t session) ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<LeaseInfoReply> List() ABSL_LOCKS_EXCLUDED(mu_);
  // Text that says what keeps a session under `lease` (0: none) from this part: empty, or begins with "; ".
  std::string Text(uint64_t lease, const LeasedPart& part) ABSL_LOCKS_EXCLUDED(mu_);
  uint64_t CountOf(uint32_t uid) ABSL_LOCKS_EXCLUDED(mu_);

  // ---- Device thread.

  // The slice is the next of its queue: it may have to wait for a lease.
  void SliceIsNext(const Slice& slice) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // To be sent to sessions.
  using WaitNotices = std::vector<std::pair<std::shared_ptr<Session>, LeaseWaitReply>>;

  // Grants and ends leases, notifies sessions that wait.
  void Check(TimePoint now) ABSL_LOCKS_EXCLUDED(mu_);
  void SetGates() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  GridSize GridOf(uint32_t device) const {
    return parts_.cards.at(device).resources.description.grid;
  }
  // A lease is idle when none of its sessions has anything to do.
  void NoteUse(TimePoint now) ABSL_LOCKS_EXCLUDED(mu_);
  // Adds a notice unless the session has had one of the same position and holder.
  void AddNotice(const std::shared_ptr<Session>& session, LeaseWaitReply wait, WaitNotices* notices)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // For sessions without a lease whose commands leases keep from the card.
  WaitNotices CheckBlockedSessions(TimePoint now) ABSL_LOCKS_EXCLUDED(mu_);
  void Grant(uint64_t lease) ABSL_LOCKS_EXCLUDED(mu_);
  void Granted(uint64_t lease) ABSL_LOCKS_EXCLUDED(mu_);

  const Parts parts_;
  Timer timer_;
  Mutex mu_;
  LeaseTable table_ ABSL_GUARDED_BY(mu_);
  // The last notice of each session that waits for a lease, or whose commands do.
  std::map<uint64_t, LeaseWaitReply> last_notices_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ttfd
