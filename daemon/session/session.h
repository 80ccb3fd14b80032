// One session: the threads of its connection (gRPC) post its input and take its output, the device thread decodes the
// input, orders commands and completes them.
//
// A session is attached to at most one connection at a time, known by its SessionOutput; when another connection
// resumes the session, calls of the one before are refused. Without a connection it is detached: a session with a
// reconnect timeout waits so long for its client, any other ends. What was taken from it before is the transport's to
// send again.
//
// Everything but its inbox, outbox, window, figures and timeouts, which are thread-safe, belongs to the device thread.
// The executor decides what becomes of commands; this class lists their slices with the scheduler.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "daemon/session/environment.h"
#include "daemon/session/executor.h"
#include "daemon/session/inbox.h"
#include "daemon/session/input_budget.h"
#include "daemon/session/outbox.h"
#include "daemon/session/receive_window.h"
#include "daemon/session/service.h"
#include "daemon/session/session_figures.h"
#include "daemon/session/slice.h"
#include "daemon/session/timeouts.h"

namespace ttfd {

// The lease under which a session works, or for which it waits.
struct SessionLease {
  uint64_t id = 0;  // 0: none
  TileSet workers;  // none: all
  bool waiting = false;
};

class Session final : public std::enable_shared_from_this<Session> {
 public:
  // `environment` outlives the session, `output` until its connection's last call.
  Session(SessionEnvironment& environment, const PeerIdentity& peer, const HelloRequest& hello,
          const SessionLease& lease, WelcomeReply welcome, std::string user,
          const std::shared_ptr<UserUse>& user_use, SessionOutput* output,
          std::shared_ptr<SessionTransport> transport);

  // ---- Any thread.

  // Attaches the session to another connection, which must be of the same user and present the token; a connection that
  // it still has is refused from here on. Returns the connection's Welcome. NOT_FOUND with reason SESSION_LOST: it may
  // not be resumed, or not so.
  StatusOr<WelcomeReply> Attach(const PeerIdentity& peer, const HelloRequest& hello,
                                const std::string& next_token, SessionOutput* output);

  // Functions that its connection calls (ClientSession).
  Status Accept(const SessionOutput* from, MessageRequest message,
                absl::FunctionRef<void()> accepted);
  SessionOutputBatch TakeOutput(const SessionOutput* from, uint64_t max_bytes);
  ClientSession::Ending CheckEnd(const SessionOutput* from, bool acknowledged, Status* status);
  void Abandon(const SessionOutput* from, bool lost);
  const std::shared_ptr<SessionTransport>& transport() const { return transport_; }
  // Bytes that its client may have sent in total.
  uint64_t window_bytes() const { return outbox_.advertised(); }

  // The device thread calls the control before it handles further messages of the session.
  void Post(Control control);
  TimeoutsReply timeouts() const { return timeouts_.Get(); }
  // Also called without changes when those of the daemon have changed.
  void SetTimeouts(const TimeoutsReply& timeouts);
  SessionInfoReply Info(TimePoint now) const { return figures_.Info(now); }
  LimitUsageReply LimitUsage() const;
  uint64_t id() const { return welcome_.session; }
  uint32_t uid() const { return peer_.uid; }
  uint64_t lease() const { return share_.lease; }
  const std::string& user() const { return client_.user; }

  // ---- Device thread.

  // Handles input that was posted until the budget is spent. False: there is none left.
  bool HandleInput(InputBudget* budget);

  // Client that is charged, for reports and the log; constant.
  const SessionClient& client() const { return client_; }
  const SessionQueues& queues() const { return executor_.queues(); }

  // The next slice of the queue may go to the card. False: it is there no more, its start deadline has passed.
  bool MayStart(SessionQueue& queue, TimePoint now);
  // The card has taken the next slice of the queue, which ends exactly once: Done, Failed or Requeue.
  Slice Submitted(SessionQueue& queue, const Ticket& ticket);
  // The next slice of the queue is given up: its command fails.
  void Refused(SessionQueue& queue, const SliceError& error);
  // Slices have ended well, in the order of their submission. Their data may be taken.
  void Done(std::span<Slice> slices);
  void Failed(const Slice& slice, const SliceError& error);
  // A reset removed the slice from the card: it is the next of its queue again. The youngest first.
  void Requeue(const Ticket& ticket, Slice slice);
  // A kernel that the slice launched has printed; before the slice ends.
  void Printed(const Slice& slice, KernelPrint print);

  // Ends the session: what has not started is dropped, the call ends with `status`.
  void End(const Status& status);
  // No new commands; ends the session once those it has are done.
  void Drain();
  // Accepts new commands again, if it has not ended meanwhile.
  void Undrain();
  // The lease it waited for is its own now, and others join it with this.
  void LeaseGranted(std::string token);
  // Sends its client a notice of what it waits for.
  void NotifyWaiting(const LeaseWaitReply& wait);
  // When it last had a command: `now`, if it has one.
  TimePoint LastAtWork(TimePoint now) const;
  // A launch of this session hung or faulted.
  void CountHang();
  // Begins and ends the quarantine of the session with that of its user.
  void UpdateQuarantine();
  // Ends what is late. Returns when to be called again; an earlier call does nothing.
  TimePoint CheckDeadlines(TimePoint now);

 private:
  enum class Phase { kActive, kFinishing, kEnded, kReleased };
  bool open() const { return phase_ == Phase::kActive || phase_ == Phase::kFinishing; }
  bool detached() const { return !connection_.connected() && open(); }

  Duration ReconnectTimeout(const HelloRequest& hello) const;
  SessionState State() const;
  void PublishFigures();

  void Wake();
  void CheckConnection();
  // False: there is no message.
  bool HandleMessage(InputBudget* budget);
  // After every change: begins what is ready, passes host work on, lists slices, notifies the connection.
  void Advance();
  void PassHostWorkOn();
  void ListSlices();
  void Announce();
  void ScheduleCheck();
  void EndIfDrained();
  // When an idle session is to end; ends one that is.
  TimePoint CheckIdle(TimePoint now);
  void ReleaseIfIdle();
  bool WaitsForData() const;
  static ErrorReply DrainingError();
  // Everything that was posted is handled, and has ended.
  bool NothingLeft() const;

  // Constant after construction.
  SessionEnvironment& environment_;
  const PeerIdentity peer_;
  const WelcomeReply welcome_;
  const SessionClient client_;
  const SessionShare share_;
  const std::shared_ptr<SessionTransport> transport_;

  // Thread-safe.
  Timeouts timeouts_;
  ReceiveWindow window_;
  Outbox outbox_;
  Inbox inbox_;
  SessionFigures figures_;

  // Device thread.
  Executor executor_;
  TakenInput input_;
  Phase phase_ = Phase::kActive;
  Connection connection_;  // as it was at its last change
  uint64_t connection_changes_ = 0;
  TimePoint resume_until_ = TimePoint::max();  // while detached
  bool waiting_;                               // for its lease
  bool draining_ = false;
  TimePoint next_check_ = TimePoint::max();
  TimePoint last_data_;         // when the client last sent data, or had none to send
  TimePoint last_command_;      // that came, or ended
  uint64_t ended_counted_ = 0;  // in environment_.commands_ended
};

}  // namespace ttfd
