// Times at which a session ends by itself: its client does not come back, its process has ended, it does not send the
// data of its commands, it has had no command for too long.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "daemon/api/reply.h"
#include "daemon/session/outbox.h"
#include "daemon/session/timeouts.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"

namespace ttfd {

// Device thread.
class SessionDeadlines {
 public:
  // Constant properties of the session. `limits` and `timeouts` outlive this.
  struct Session {
    uint64_t id = 0;
    bool leased =
        false;  // its lease has an idle time of its own, for which the work of all its sessions counts
    const SessionLimits& limits;
    const Timeouts& timeouts;
    std::function<bool(uint32_t pid)> process_ended;
  };
  SessionDeadlines(Session session, const Connection& connection, TimePoint now);

  // The session is attached to another connection, or to none.
  void SetConnection(const Connection& connection, TimePoint now);
  const Connection& connection() const { return connection_; }
  bool detached() const { return !connection_.connected(); }

  // The client has sent data then, or has none to send.
  void DataArrived(TimePoint when) { last_data_ = when; }
  // A command has come, or ended.
  void CommandSeen(TimePoint when) { last_command_ = when; }
  TimePoint last_command() const { return last_command_; }

  // State of the session on which the next check depends.
  struct Waits {
    bool for_data = false;    // of commands, from its client
    bool for_window = false;  // its window is smaller than it wanted
    TimePoint until;  // the earliest deadline of its commands, and the end of its quarantine
  };
  // The next check, if it is earlier than the one that is set; it is set then.
  std::optional<TimePoint> Schedule(const Waits& waits, TimePoint now);
  TimePoint next_check() const { return next_check_; }
  // The check begins: none is set. False: it is not due.
  bool TakeIfDue(TimePoint now);

  // Why the session ends now; none: it does not.
  std::optional<Status> Late(bool waits_for_data, TimePoint now) const;
  // The same of a session that has had nothing to do for too long. `busy`: it has commands.
  std::optional<Status> Idle(bool busy, TimePoint now);

 private:
  const Session session_;
  Connection connection_;                      // as it was at its last change
  TimePoint resume_until_ = TimePoint::max();  // while detached
  TimePoint last_data_;
  TimePoint last_command_;
  TimePoint next_check_ = TimePoint::max();
};

}  // namespace ttfd
