// Life of one session: attached, detached, finishing, ended.
//
// Connections (the poller thread) post input to its channel and take output from it; the device thread decodes the
// input, orders commands and completes them. Without a connection a session is detached: one with a reconnect timeout
// waits so long for its client, any other ends.
//
// The channel, the figures and the timeouts are thread-safe; everything else belongs to the device thread. The pipeline
// decides what becomes of commands; this class lists their slices with the scheduler.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "daemon/session/input_budget.h"
#include "daemon/session/operation_pipeline.h"
#include "daemon/session/session_channel.h"
#include "daemon/session/session_deadlines.h"
#include "daemon/session/session_figures.h"
#include "daemon/session/session_parts.h"
#include "daemon/session/slice.h"
#include "daemon/session/timeouts.h"

namespace ttfd {

// The lease under which a session works, or for which it waits.
struct SessionLease {
  uint64_t id = 0;                     // 0: none
  uint32_t device = 0;                 // of queues that name none
  std::vector<uint32_t> devices = {};  // its devices, ascending; without a lease none
  TileSet workers;                     // none: all
  bool waiting = false;
};

class Session final : public std::enable_shared_from_this<Session> {
 public:
  // `parts` and `cards` outlive the session. It is opened on the device of the welcome.
  Session(const SessionParts& parts, std::span<CardResources* const> cards,
          SessionChannel::Opening opening, const SessionLease& lease, std::string user,
          const std::shared_ptr<UserUse>& user_use);

  // ---- Any thread.

  SessionChannel& channel() { return channel_; }
  // The device thread calls the control before it handles further messages of the session.
  void Post(Control control) { channel_.Post(std::move(control)); }
  TimeoutsReply timeouts() const { return timeouts_.Get(); }
  // Also called without changes when those of the daemon have changed.
  void SetTimeouts(const TimeoutsReply& timeouts);
  SessionInfoReply Info(TimePoint now) const { return figures_.Info(now, channel_.has_output()); }
  LimitUsageReply LimitUsage() const;
  uint64_t id() const { return client_.session; }
  uint32_t uid() const { return client_.uid; }
  uint64_t lease() const { return share_.lease; }
  // The card of its queues that name none.
  uint32_t device() const { return pipeline_.cards().device; }
  const std::string& user() const { return client_.user; }

  // ---- Device thread.

  // Handles input that was posted until the budget is spent. False: there is none left.
  bool HandleInput(InputBudget* budget);
  // Publishes figures and output of what has changed (ChangedSessions), and ends what ends with it.
  void Publish();
  // Its queues that have progressed have more commands: Publish may come later.
  bool continues() const;
  // It has a queue on the device, or none anywhere and would open the first there.
  bool Uses(uint32_t device) const { return pipeline_.Uses(device); }

  // Client that is charged, for reports and the log; constant.
  const SessionClient& client() const { return client_; }
  const SessionQueues& queues() const { return pipeline_.queues(); }

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
  bool detached() const { return deadlines_.detached() && open(); }

  SessionState State() const;
  void PublishFigures();

  void CheckConnection();
  // False: there is no message.
  bool HandleMessage(InputBudget* budget);
  // After every change: begins what is ready, passes host work on, lists slices.
  void Advance();
  // Has Publish called at the end of the round.
  void Changed();
  void PassHostWorkOn();
  void ListSlices();
  void ScheduleCheck();
  void EndIfDrained();
  void ReleaseIfIdle();
  bool WaitsForData() const;
  // Everything that was posted is handled, and has ended.
  bool NothingLeft() const;

  // Constant after construction.
  const SessionParts& parts_;
  const SessionClient client_;
  const SessionShare share_;

  // Thread-safe.
  Timeouts timeouts_;
  SessionChannel channel_;
  SessionFigures figures_;

  // Device thread.
  OperationPipeline pipeline_;
  SessionDeadlines deadlines_;
  TakenInput input_;
  Phase phase_ = Phase::kActive;
  bool waiting_;  // for its lease
  bool draining_ = false;
  bool changed_ = false;  // Publish will be called
  uint64_t connection_changes_ = 0;
  uint64_t ended_counted_ = 0;  // in parts_.commands_ended
};

}  // namespace ttfd
