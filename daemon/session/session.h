// One session: the connection that drives it (gRPC threads) posts its input, the device thread decodes that, orders
// commands and completes them.
//
// A session is attached to at most one connection at a time, known by its SessionOutput; when another connection
// resumes the session, calls of the one before are refused. Without a connection it is detached: a session with a
// reconnect timeout waits so long for its client, any other ends. What was taken from it before is the transport's to
// send again.
//
// One mutex guards everything but the inbox. The executor decides what becomes of commands, this class locks, passes
// works to the engine and to host threads, and notifies the connection when there is output.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "daemon/engine/work.h"
#include "daemon/scheduler/lease_gate.h"
#include "daemon/session/account.h"
#include "daemon/session/environment.h"
#include "daemon/session/executor.h"
#include "daemon/session/inbox.h"
#include "daemon/session/input_budget.h"
#include "daemon/session/outbox.h"
#include "daemon/session/service.h"
#include "runtime/base/mutex.h"

namespace ttfd {

// The lease under which a session works, or for which it waits.
struct SessionLease {
  uint64_t id = 0;  // 0: none
  TileSet workers;  // none: all
  bool waiting = false;
};

class Session final : public WorkOwner, public std::enable_shared_from_this<Session> {
 public:
  // `environment` outlives the session, `output` until its connection's last call.
  Session(SessionEnvironment& environment, const PeerIdentity& peer, const HelloRequest& hello,
          const SessionLease& lease, WelcomeReply welcome, std::string user,
          std::shared_ptr<UserUse> user_use, SessionOutput* output,
          std::shared_ptr<SessionTransport> transport);

  // Attaches the session to another connection, which must be of the same user and present the token; a connection that
  // it still has is refused from here on. Returns the connection's Welcome. NOT_FOUND with reason SESSION_LOST: it may
  // not be resumed, or not so.
  StatusOr<WelcomeReply> Attach(const PeerIdentity& peer, const HelloRequest& hello,
                                std::string next_token, SessionOutput* output)
      ABSL_LOCKS_EXCLUDED(mu_);

  // ---- What its connection calls (ClientSession): gRPC threads.
  Status Accept(const SessionOutput* from, MessageRequest message,
                absl::FunctionRef<void()> accepted) ABSL_LOCKS_EXCLUDED(mu_);
  SessionOutputBatch TakeOutput(const SessionOutput* from, uint64_t max_bytes)
      ABSL_LOCKS_EXCLUDED(mu_);
  ClientSession::Ending CheckEnd(const SessionOutput* from, bool acknowledged, Status* status)
      ABSL_LOCKS_EXCLUDED(mu_);
  void Abandon(const SessionOutput* from, bool lost) ABSL_LOCKS_EXCLUDED(mu_);
  const std::shared_ptr<SessionTransport>& transport() const { return transport_; }
  // What its client may have sent in total.
  uint64_t window_bytes() const ABSL_LOCKS_EXCLUDED(mu_);

  // ---- Device thread: handles input that was posted until the budget is spent. False: there is none left.
  bool HandleInput(InputBudget* budget) ABSL_LOCKS_EXCLUDED(mu_);

  // ---- WorkOwner: device thread
  const SessionClient& client() const override { return client_; }
  bool Start(const Work& work, TimePoint now) override ABSL_LOCKS_EXCLUDED(mu_);
  void Done(std::span<Work> works) override ABSL_LOCKS_EXCLUDED(mu_);
  void Failed(const Work& work, const WorkError& error) override ABSL_LOCKS_EXCLUDED(mu_);
  void Printed(const Work& work, KernelPrint print) override ABSL_LOCKS_EXCLUDED(mu_);

  // ---- the daemon: any thread

  // Ends the session: what has not started is dropped, the call ends with `status`.
  void End(const Status& status) ABSL_LOCKS_EXCLUDED(mu_);
  // No new commands; ends the session once those it has are done.
  void Drain() ABSL_LOCKS_EXCLUDED(mu_);
  // Accepts new commands again, if it has not ended meanwhile.
  void Undrain() ABSL_LOCKS_EXCLUDED(mu_);
  // The lease it waited for is its own now, and others join it with this.
  void LeaseGranted(std::string token) ABSL_LOCKS_EXCLUDED(mu_);
  // Sends its client a notice of what it waits for.
  void NotifyWaiting(const LeaseWaitReply& wait) ABSL_LOCKS_EXCLUDED(mu_);
  // Of a session without a lease: see lease_wait.h.
  std::optional<TileSet> BlockedByLeases(const LeaseGate& gate, bool settled) const
      ABSL_LOCKS_EXCLUDED(mu_);
  // When it last had a command: `now`, if it has one.
  TimePoint LastAtWork(TimePoint now) const ABSL_LOCKS_EXCLUDED(mu_);
  // A launch of this session hung or faulted, which a report tells of. Too many within a while suspend the session:
  // what has not started and what it sends from then on is refused, until an administrator resumes it or as much time
  // has passed again.
  void Hung(const std::string& report, const HangPolicy& policy) ABSL_LOCKS_EXCLUDED(mu_);
  // FAILED_PRECONDITION if it is not quarantined.
  Status Release() ABSL_LOCKS_EXCLUDED(mu_);
  // Returns when to be called again.
  TimePoint CheckDeadlines(TimePoint now) ABSL_LOCKS_EXCLUDED(mu_);
  TimeoutsReply timeouts() const ABSL_LOCKS_EXCLUDED(mu_);
  void SetTimeouts(const TimeoutsReply& timeouts) ABSL_LOCKS_EXCLUDED(mu_);
  SessionInfoReply Info(TimePoint now) const ABSL_LOCKS_EXCLUDED(mu_);
  LimitUsageReply LimitUsage() const ABSL_LOCKS_EXCLUDED(mu_);
  uint64_t id() const { return welcome_.session; }
  uint32_t uid() const { return peer_.uid; }
  uint64_t lease() const { return lease_; }
  const std::string& user() const { return client_.user; }

 private:
  enum class Phase { kActive, kFinishing, kEnded, kReleased };
  bool open() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return phase_ == Phase::kActive || phase_ == Phase::kFinishing;
  }
  bool detached() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return output_ == nullptr && open(); }
  // False: there is no input.
  bool HandleOne(InputBudget* budget) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool WaitsForData() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ScheduleCheck() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  Duration ReconnectTimeout(const HelloRequest& hello) const;
  // After every change: issues what is ready, passes works on, notifies the connection.
  void Advance() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void PassWorksOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void NotifyOutput() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The window has grown so far, or the client may be waiting for so little, that it is sent by itself.
  bool WindowDue() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndLocked(const Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndIfDrained() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // When an idle session is to end; ends one that is.
  TimePoint CheckIdle(TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ReleaseIfIdle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Duration StalledTimeout() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  static ErrorReply DrainingError();
  void Unsuspend() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Everything that was posted is handled, and has ended.
  bool NothingLeft() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool AllDone() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Constant after construction.
  SessionEnvironment& environment_;
  const PeerIdentity peer_;
  const WelcomeReply welcome_;
  const SessionClient client_;
  const uint32_t weight_;
  const Priority priority_;
  const TimePoint opened_;
  const uint64_t lease_;
  const std::shared_ptr<SessionTransport> transport_;

  mutable Mutex mu_;
  Outbox outbox_ ABSL_GUARDED_BY(mu_);
  Executor executor_ ABSL_GUARDED_BY(mu_);
  Inbox inbox_;
  // The connection it is attached to. Null: none.
  SessionOutput* output_ ABSL_GUARDED_BY(mu_);
  Phase phase_ ABSL_GUARDED_BY(mu_) = Phase::kActive;
  bool waiting_ ABSL_GUARDED_BY(mu_);                               // for its lease
  Duration reconnect_timeout_ ABSL_GUARDED_BY(mu_);                 // zero: it cannot be resumed
  TimePoint resume_until_ ABSL_GUARDED_BY(mu_) = TimePoint::max();  // while detached
  // Of the process that opened or last resumed it; 0: not known.
  uint32_t pid_ ABSL_GUARDED_BY(mu_);
  Status end_status_ ABSL_GUARDED_BY(mu_);
  // OutputReady was called, and no TakeOutput since then has been empty.
  bool output_announced_ ABSL_GUARDED_BY(mu_) = false;
  uint64_t advertised_window_ ABSL_GUARDED_BY(mu_);
  bool draining_ ABSL_GUARDED_BY(mu_) = false;
  uint32_t hangs_ ABSL_GUARDED_BY(mu_) = 0;
  // Those that count toward a suspension: when, and which report.
  std::deque<std::pair<TimePoint, std::string>> recent_hangs_ ABSL_GUARDED_BY(mu_);
  std::string suspended_ ABSL_GUARDED_BY(mu_);  // why; empty: it is not
  TimePoint suspended_until_ ABSL_GUARDED_BY(mu_) = TimePoint::max();
  TimeoutsReply timeouts_ ABSL_GUARDED_BY(mu_);  // 0: the daemon's
  TimePoint next_check_ ABSL_GUARDED_BY(mu_) = TimePoint::max();
  // When the client last sent data, or had none to send.
  TimePoint last_data_ ABSL_GUARDED_BY(mu_);
  TimePoint last_command_ ABSL_GUARDED_BY(mu_);  // that came, or ended
  SessionAccount account_ ABSL_GUARDED_BY(mu_);
  uint64_t ended_counted_ ABSL_GUARDED_BY(mu_) = 0;  // in environment_.commands_ended
};

}  // namespace ttfd
