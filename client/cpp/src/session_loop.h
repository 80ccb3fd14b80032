// SessionLoop: moves one session. Writes what the SessionQueues have to send when the Connection may
// write it, applies what arrives, and calls the callbacks; on whichever thread has the driver role.
//
// Owned by SessionCore. Thread-safe by its mutex (StreamDriver::mu), which callers hold.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "client/cpp/src/connection.h"
#include "client/cpp/src/convert.h"
#include "client/cpp/src/message_limits.h"
#include "client/cpp/src/session_queues.h"
#include "client/cpp/src/stream_driver.h"
#include "ttfd/session.h"
#include "ttfd/status.h"

namespace ttfd::client {

// Called without the lock, on the thread with the driver role.
struct Callbacks {
  std::function<void(Position)> on_progress = {};
  std::function<void(uint64_t, uint64_t)> on_transfer = {};
  std::function<void(const KernelPrint&)> on_print = WriteToStandardError;
};

class SessionLoop final : public StreamDriver {
 public:
  // `options` outlives this. `hello` is of a new session with them.
  SessionLoop(const ConnectOptions& options, v1::Hello hello, uint64_t handles_before);
  ~SessionLoop() override { Shutdown(); }

  // Waits for the daemon's Welcome. Once, before anything else.
  Status Connect() ABSL_LOCKS_EXCLUDED(mu);
  // No more commands follow: what was enqueued is sent, then Finish.
  void Finish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  // Ends the session at once, and the background thread, on which this is not called. Calls of other threads
  // return CANCELLED. Any number of times.
  void Shutdown() ABSL_LOCKS_EXCLUDED(mu);

  // Requests that all enqueued commands are sent without waiting for more.
  void SendNow() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  // Writes what is to be written next, if anything may be.
  void TrySend() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

  SessionQueues& queues() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) { return queues_; }
  Callbacks& callbacks() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) { return callbacks_; }
  uint64_t reconnects() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) { return connection_.reconnects(); }
  bool ended() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) { return ended_; }
  // Why the session ended; OK while it lives, and after a Finish that has succeeded.
  const Status& end_status() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) { return end_status_; }
  // It ended, and a new session may do better.
  bool lost() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  // For calls that add to the session: OK, or why they cannot.
  Status CheckUsable() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

  // ---- Constant after Connect.
  const WelcomeInfo& info() const { return info_; }
  const DeviceInfo* device() const;  // the session's; null: the welcome does not have it
  const MessageLimits& message_limits() const { return message_limits_; }

 private:
  using Changes = SessionQueues::Changes;

  void Move(Instant deadline) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  bool AtEnd() const override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) { return ended_; }
  void HandleReceived(Connection::Event event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  void HandleWelcome(const v1::Welcome& welcome) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  void HandleEnd() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  // Callbacks; release the lock. Prints and lease waits are delivered before the rest of their message.
  void DeliverNotices(const v1::ServerMessage& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  void Deliver(const Changes& changes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

  const ConnectOptions& options_;
  WelcomeInfo info_;
  MessageLimits message_limits_;

  Connection connection_ ABSL_GUARDED_BY(mu);
  SessionQueues queues_ ABSL_GUARDED_BY(mu);
  Callbacks callbacks_ ABSL_GUARDED_BY(mu);
  bool waits_for_lease_ ABSL_GUARDED_BY(mu) = false;
  bool ended_ ABSL_GUARDED_BY(mu) = false;
  Status end_status_ ABSL_GUARDED_BY(mu);
};

}  // namespace ttfd::client
