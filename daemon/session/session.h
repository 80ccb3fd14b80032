// One session as both its sides see it: the call that drives it (gRPC threads) and the device
// thread that answers.
//
// Calls come and go, each an attachment with a number; the session obeys the newest. A resumable one
// waits for the next when a call is lost, and keeps what its client may not have received.
//
// One mutex guards everything; what needs long (loading a kernel's ELF) is done before it is taken.
// The executor decides what happens, this class only locks, passes works to the engine and tells
// the call when there is output.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "daemon/engine/work.h"
#include "daemon/session/account.h"
#include "daemon/session/environment.h"
#include "daemon/session/executor.h"
#include "daemon/session/output_buffer.h"
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
  static constexpr uint64_t kFirstAttachment = 1;

  // `environment` outlives the session, `output` until the first attachment's last call.
  Session(SessionEnvironment& environment, const PeerIdentity& peer, const HelloRequest& hello,
          const SessionLease& lease, WelcomeReply welcome, std::string user,
          std::shared_ptr<UserUse> user_use, SessionOutput* output);

  // Another call takes over, which must be of the same user and know the token. The one before, if it is
  // still there, is ended. NOT_FOUND with reason SESSION_LOST if that may not be.
  struct Attached {
    uint64_t attachment = 0;
    WelcomeReply welcome;
  };
  StatusOr<Attached> Attach(const PeerIdentity& peer, const HelloRequest& hello,
                            std::string next_token, SessionOutput* output) ABSL_LOCKS_EXCLUDED(mu_);

  // ---- What attachments do (ClientSession): gRPC threads. One that has been replaced is told so.
  Status Submit(uint64_t attachment, BatchRequest batch) ABSL_LOCKS_EXCLUDED(mu_);
  Status Supply(uint64_t attachment, DataChunk chunk) ABSL_LOCKS_EXCLUDED(mu_);
  Status Cancel(uint64_t attachment, const CancelRequest& cancel) ABSL_LOCKS_EXCLUDED(mu_);
  Status Received(uint64_t attachment, const ReceivedRequest& received) ABSL_LOCKS_EXCLUDED(mu_);
  void FinishInput(uint64_t attachment, bool half_closed) ABSL_LOCKS_EXCLUDED(mu_);
  void Leave(uint64_t attachment) ABSL_LOCKS_EXCLUDED(mu_);
  bool waiting() ABSL_LOCKS_EXCLUDED(mu_);
  bool resumable() ABSL_LOCKS_EXCLUDED(mu_);
  bool WantsInput(uint64_t attachment) ABSL_LOCKS_EXCLUDED(mu_);
  SessionOutputBatch TakeOutput(uint64_t attachment, uint64_t max_bytes) ABSL_LOCKS_EXCLUDED(mu_);
  bool finished(uint64_t attachment, Status* status) ABSL_LOCKS_EXCLUDED(mu_);
  void Abandon(uint64_t attachment, bool lost) ABSL_LOCKS_EXCLUDED(mu_);

  // ---- WorkOwner: device thread
  std::string Name() const override;
  bool Start(const Work& work, TimePoint now) override ABSL_LOCKS_EXCLUDED(mu_);
  void Done(std::span<Work> works) override ABSL_LOCKS_EXCLUDED(mu_);
  void Failed(const Work& work, const WorkError& error) override ABSL_LOCKS_EXCLUDED(mu_);
  void Printed(const Work& work, KernelPrint print) override ABSL_LOCKS_EXCLUDED(mu_);

  // ---- the daemon: any thread

  // Ends the session: what has not started is dropped, the call ends with `status`.
  void End(const Status& status) ABSL_LOCKS_EXCLUDED(mu_);
  // No new commands; ends the session once those it has are done. The client is told.
  void Drain(uint32_t within_ms) ABSL_LOCKS_EXCLUDED(mu_);
  // The lease it waited for is its own now, and others join it with this.
  void LeaseGranted(std::string token) ABSL_LOCKS_EXCLUDED(mu_);
  // How it stands with what it waits for.
  void TellWaiting(const LeaseWaitReply& wait) ABSL_LOCKS_EXCLUDED(mu_);
  // When it last had a command: `now`, if it has one.
  TimePoint LastAtWork(TimePoint now) const ABSL_LOCKS_EXCLUDED(mu_);
  // A launch of this session hung or faulted, which a report tells of. Too many within a while suspend the session:
  // what has not started and what it sends from then on is refused, until an administrator resumes it or as much time
  // has passed again.
  void Hung(const std::string& report, const HangPolicy& policy) ABSL_LOCKS_EXCLUDED(mu_);
  // FAILED_PRECONDITION if it is not suspended.
  Status Resume() ABSL_LOCKS_EXCLUDED(mu_);
  // It waited for the host to let it have more data sent.
  void TurnCame() ABSL_LOCKS_EXCLUDED(mu_);
  // It had its turn for the longest time and has not sent what it was told of.
  void TurnOver() ABSL_LOCKS_EXCLUDED(mu_);
  // Returns when to be called again.
  TimePoint CheckDeadlines(TimePoint now) ABSL_LOCKS_EXCLUDED(mu_);
  TimeoutsReply timeouts() const ABSL_LOCKS_EXCLUDED(mu_);
  void SetTimeouts(const TimeoutsReply& timeouts) ABSL_LOCKS_EXCLUDED(mu_);
  SessionInfoReply Info(TimePoint now) const ABSL_LOCKS_EXCLUDED(mu_);
  LimitUsesReply LimitUses() const ABSL_LOCKS_EXCLUDED(mu_);
  uint64_t id() const { return welcome_.session; }
  uint32_t uid() const { return peer_.uid; }
  uint64_t lease() const { return lease_; }
  const std::string& user() const { return user_; }

 private:
  enum class Phase { kActive, kFinishing, kEnded, kReleased };
  // To have more data sent.
  enum class Turn { kNone, kWaits, kCame, kHas };

  static Status Replaced();
  bool open() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return phase_ == Phase::kActive || phase_ == Phase::kFinishing;
  }
  bool detached() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return attached_ == 0 && open(); }
  // Before anything the client says. Not OK: it is not listened to.
  Status HearClient(uint64_t attachment) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool KnowsToken(const std::string& token) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  CreditReply Credit() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // For data, or for word that it has what was told.
  bool WaitsForClient() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void LookAgain() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  LoadedKernel Load(const std::string& bytes, const std::string& name) const;
  void GoOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Tell() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // session_credit.cc
  void TellCredit() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool HasTurn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndTurn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void GiveUpTurn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndLocked(const Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndIfDrained() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // When an idle session is to end; ends one that is.
  TimePoint CheckIdle(TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ReleaseIfIdle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Duration StalledTimeout() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  static ErrorReply DrainingError();
  void Unsuspend() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool AllDone() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Constant after construction.
  SessionEnvironment& environment_;
  const PeerIdentity peer_;
  const WelcomeReply welcome_;
  const std::string client_name_;
  const uint32_t weight_;
  const Priority priority_;
  const std::string user_;
  const TimePoint opened_;
  const uint64_t lease_;

  mutable Mutex mu_;
  OutputBuffer buffer_ ABSL_GUARDED_BY(mu_);
  Executor executor_ ABSL_GUARDED_BY(mu_);
  SessionOutput* output_ ABSL_GUARDED_BY(mu_);
  Phase phase_ ABSL_GUARDED_BY(mu_) = Phase::kActive;
  bool waiting_ ABSL_GUARDED_BY(mu_);
  uint64_t attached_ ABSL_GUARDED_BY(mu_) = kFirstAttachment;  // 0: the call is gone
  uint64_t last_attachment_ ABSL_GUARDED_BY(mu_) = kFirstAttachment;
  Duration grace_ ABSL_GUARDED_BY(mu_);                             // zero: not resumable
  TimePoint resume_until_ ABSL_GUARDED_BY(mu_) = TimePoint::max();  // while detached
  std::string token_ ABSL_GUARDED_BY(mu_);
  uint32_t pid_
      ABSL_GUARDED_BY(mu_);  // of the process that opened or last resumed it; 0: not known
  // The one that token_ replaced is good until the client is heard to have received the Welcome with token_.
  std::string used_token_ ABSL_GUARDED_BY(mu_);
  bool half_closed_ ABSL_GUARDED_BY(mu_) = false;
  Status end_status_ ABSL_GUARDED_BY(mu_);
  bool told_ ABSL_GUARDED_BY(mu_) =
      false;  // OutputReady was called and not answered by an empty TakeOutput
  bool input_refused_ ABSL_GUARDED_BY(mu_) = false;  // WantsInput said no
  bool draining_ ABSL_GUARDED_BY(mu_) = false;
  uint32_t hangs_ ABSL_GUARDED_BY(mu_) = 0;
  // Those that count toward a suspension: when, and which report.
  std::deque<std::pair<TimePoint, std::string>> recent_hangs_ ABSL_GUARDED_BY(mu_);
  std::string suspended_ ABSL_GUARDED_BY(mu_);  // why; empty: it is not
  TimePoint suspended_until_ ABSL_GUARDED_BY(mu_) = TimePoint::max();
  CreditReply credit_told_ ABSL_GUARDED_BY(mu_);
  Turn turn_ ABSL_GUARDED_BY(mu_) = Turn::kNone;
  std::optional<uint64_t> unused_at_ ABSL_GUARDED_BY(mu_);  // payload received when a turn was over
  TimeoutsReply timeouts_ ABSL_GUARDED_BY(mu_);             // 0: the daemon's
  TimePoint look_again_at_ ABSL_GUARDED_BY(mu_) = TimePoint::max();
  TimePoint last_sign_of_client_ ABSL_GUARDED_BY(mu_);
  TimePoint last_command_ ABSL_GUARDED_BY(mu_);  // that came, or ended
  SessionAccount account_ ABSL_GUARDED_BY(mu_);
  uint64_t ended_counted_ ABSL_GUARDED_BY(mu_) = 0;  // in environment_.commands_ended
};

}  // namespace ttfd
