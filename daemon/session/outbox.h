// Output of a session between the device thread, which adds it, and the transport, which takes it; the connection that
// takes it; the receive window that is granted with it; and how the session ends behind it.
//
// The transport (daemon/rpc/link.h) keeps what it has taken, and sends it again if it must.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/api/session_port.h"
#include "daemon/session/output_buffer.h"
#include "daemon/session/receive_window.h"
#include "daemon/session/usage.h"
#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"

namespace ttfd {

// The connection of a session, or how it was left without one.
struct Connection {
  SessionOutput* output = nullptr;  // null: none
  bool gone = false;                // no other will come
  uint32_t pid = 0;                 // of the newest client's process; 0: not known
  Duration reconnect_timeout{};     // zero: the session cannot be resumed

  bool connected() const { return output != nullptr; }
};

// Thread-safe.
class Outbox {
 public:
  // `window`, `limits` and `newest` outlive the outbox. `newest` is set to the newest connection. With
  // `waits_for_lease` nothing but notices is taken before SetWelcome.
  Outbox(ReceiveWindow& window, const SessionLimits& limits, std::shared_ptr<UserUse> user,
         std::atomic<const SessionOutput*>& newest, const Connection& connection,
         bool waits_for_lease);

  // ---- Device thread: adds output, of which Announce notifies the connection.

  void AddPrint(KernelPrintReply print, uint64_t max_bytes) ABSL_LOCKS_EXCLUDED(mu_);
  void AddData(DataChunk chunk) ABSL_LOCKS_EXCLUDED(mu_);
  // A read of so many bytes begins, or has ended: until then they count as data.
  void BeginRead(uint64_t bytes) ABSL_LOCKS_EXCLUDED(mu_);
  void EndRead(uint64_t bytes) ABSL_LOCKS_EXCLUDED(mu_);
  void AddError(uint32_t queue, uint64_t first_value, uint64_t last_value, const ErrorReply& error)
      ABSL_LOCKS_EXCLUDED(mu_);
  void SetOpenError(uint32_t queue, const ErrorReply& error) ABSL_LOCKS_EXCLUDED(mu_);
  void SetWaiting(const LeaseWaitReply& wait) ABSL_LOCKS_EXCLUDED(mu_);
  void SetWelcome(std::string lease_token) ABSL_LOCKS_EXCLUDED(mu_);
  // A command that held so much of the window has ended. It is released once the client has taken its results, which
  // are in memory in place of the command.
  void ReleaseEnded(uint64_t cost) ABSL_LOCKS_EXCLUDED(mu_);
  // State of the session that decides about notices.
  struct Activity {
    bool idle = true;  // nothing of it is under way, so that nothing more is released by itself
    bool awaits_take = false;  // Take is to wake it
  };
  // Commands that have ended: everything of these queues up to these values.
  struct Progress {
    std::vector<QueuePosition> queues;
    uint64_t cost = 0;  // they held so much of the window: see ReleaseEnded
  };
  // Adds the progress, which is empty then. Grants what has been released, and notifies the connection if there is
  // something for it. True: the session awaits a Take, and one since the last Announce has not woken it.
  bool Announce(const Activity& session, Progress* progress) ABSL_LOCKS_EXCLUDED(mu_);
  // The session is to end when everything has been taken and acknowledged.
  void EndAfterOutput() ABSL_LOCKS_EXCLUDED(mu_);
  // That is so.
  bool acknowledged() const { return acknowledged_.load(std::memory_order_acquire); }
  // The session has ended, with whatever was not taken.
  void EndNow(const Status& status) ABSL_LOCKS_EXCLUDED(mu_);

  bool empty() const ABSL_LOCKS_EXCLUDED(mu_);
  // Memory of the data: payload, and the chunks themselves; of reads under way.
  uint64_t data_bytes() const ABSL_LOCKS_EXCLUDED(mu_);

  // ---- The transport.

  // As SessionPort::TakeOutput. `wake`: the session is to be given to the device thread.
  SessionOutputBatch Take(const SessionOutput* from, uint64_t max_bytes, bool* wake)
      ABSL_LOCKS_EXCLUDED(mu_);
  // As SessionPort::CheckEnd. Once it has returned kEnded the connection is gone. What it finds may be new to the
  // session, which is to be given to the device thread.
  SessionPort::Ending CheckEnd(const SessionOutput* from, bool acknowledged, Status* status)
      ABSL_LOCKS_EXCLUDED(mu_);
  // The connection is gone: `lost`, or for good. None: it was not the session's any more.
  std::optional<Connection> Disconnect(const SessionOutput* from, bool lost)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Another connection takes the output from here on; the one before is notified. Returns the window that its Welcome
  // advertises; none: the session cannot be resumed.
  std::optional<uint64_t> Connect(SessionOutput* connection, uint32_t pid,
                                  Duration reconnect_timeout) ABSL_LOCKS_EXCLUDED(mu_);

  // ---- Any thread.

  // The window that was advertised last, by Welcome or after it.
  uint64_t advertised() const ABSL_LOCKS_EXCLUDED(mu_);
  // Grows with every change of the connection.
  uint64_t connection_changes() const { return changes_.load(std::memory_order_acquire); }
  Connection connection() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void AnnounceLocked(bool window_due) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Disconnected(bool gone) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The window has grown so far, or the client may be waiting for so little, that it is sent by itself.
  bool WindowDue(const ReceiveWindow::Reading& window) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Counts what is held among what the user has.
  void Count() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  ReceiveWindow& window_;
  std::atomic<const SessionOutput*>& newest_;
  OutputUse use_;
  mutable Mutex mu_;
  OutputBuffer buffer_ ABSL_GUARDED_BY(mu_);
  Connection connection_ ABSL_GUARDED_BY(mu_);
  std::atomic<uint64_t> changes_{0};  // set under mu_
  bool waits_for_lease_ ABSL_GUARDED_BY(mu_);
  bool announced_ ABSL_GUARDED_BY(mu_) = false;  // and no Take since then has been the last
  uint64_t advertised_ ABSL_GUARDED_BY(mu_);
  uint64_t unreported_cost_ ABSL_GUARDED_BY(mu_) = 0;  // of ended commands whose results are here
  Activity activity_ ABSL_GUARDED_BY(mu_);
  bool ends_after_output_ ABSL_GUARDED_BY(mu_) = false;
  std::atomic<bool> acknowledged_{false};  // set under mu_
  std::optional<Status> end_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ttfd
