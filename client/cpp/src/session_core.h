// One session, behind Session, Queue and the resources: what goes out, what has come in, and who
// moves the stream.
//
// Thread-safe. The stream is moved by one thread at a time, the one that holds the pump role: a
// caller that waits takes the role itself when it is free (so a single-threaded client never wakes
// another thread) and otherwise sleeps until the holder has news.
//
// Queue 0 is the session's own: creation and freeing of resources, so that their errors touch no
// queue of the user. Queue 1 is Session::queue().
//
// A broken transport is not the end (session_resume.cc): whoever moves the stream makes a new one,
// the daemon tells again what was not received, and what it may have missed is sent again.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client/cpp/src/comeback.h"
#include "client/cpp/src/mutex.h"
#include "client/cpp/src/outbox.h"
#include "client/cpp/src/stream.h"
#include "client/cpp/src/timeline.h"
#include "ttfd/session.h"
#include "ttfd/status.h"

namespace ttfd::client {

class SessionCore {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  static constexpr uint32_t kControlQueue = 0;
  static constexpr uint32_t kFirstUserQueue = 1;

  // `options.address` is resolved already. Handles are greater than `handles_before`, so that those of a
  // session before this one mean nothing here.
  explicit SessionCore(const ConnectOptions& options, uint64_t handles_before = 0);
  ~SessionCore();

  // Greets the daemon and waits for its welcome. Once, before anything else.
  Status Connect();
  // Half-closes and waits until the daemon has finished and said how.
  Status Close();
  // Ends the session at once. No other thread may be inside the session, but for the background
  // thread, which this ends.
  void Shutdown();

  // ---- Of the welcome; constant after Connect.
  const ConnectOptions& options() const { return options_; }
  uint64_t session_id() const { return session_id_; }
  const std::string& daemon_version() const { return daemon_version_; }
  const std::vector<DeviceInfo>& devices() const { return devices_; }
  const Limits& limits() const { return limits_; }
  const std::string& lease_token() const { return lease_token_; }  // as text

  // ---- Commands. `fill` is called once with the v1::Command to fill in, under the lock; `bytes` is
  // an estimate of the command's size, never too small, without the `payload` it carries inline.
  template <typename Fill>
  Result<Position> Enqueue(uint32_t queue, size_t bytes, size_t payload, Fill&& fill) {
    MutexLock lock(&mu_);
    if (Status status = AwaitRoom(queue); !status.ok()) {
      return status;
    }
    return Append(queue, bytes, payload, std::forward<Fill>(fill));
  }
  // A command that creates something: on the control queue, waited for.
  template <typename Fill>
  Status Create(size_t bytes, Fill&& fill) {
    Result<Position> position = Enqueue(kControlQueue, bytes, 0, std::forward<Fill>(fill));
    return position.ok() ? WaitTold(*position) : position.status();
  }
  // A Read whose bytes go to `into`.
  Result<Position> EnqueueRead(uint32_t queue, uint64_t buffer, uint64_t offset,
                               std::span<std::byte> into);
  // The payload of a streamed command, in chunks, as fast as credit allows.
  Status Supply(Position command, std::span<const std::byte> payload);
  // Records `launches` as trace `handle`, in pieces with nothing between them; waited for.
  Status RecordTrace(uint32_t queue, uint64_t handle, std::span<const LaunchRequest> launches);
  void FreeHandle(uint64_t handle);
  // What was made is there.
  void Own(uint64_t handle, Owned kind);
  uint64_t NewHandle();
  uint64_t last_handle() const;
  uint32_t NewQueue();
  Status Cancel(Position from);

  // ---- Waiting. Outcome of the command, DEADLINE_EXCEEDED with reason WAIT, or the session's end.
  Status Wait(Position position, std::chrono::milliseconds timeout);
  // For blocking forms: waits for call_timeout, and opens the queue again if the command at
  // `position` is what failed it.
  Status WaitTold(Position position);
  Status Flush();
  Status Poll(std::chrono::milliseconds timeout);

  // ---- State of queues.
  uint64_t Submitted(uint32_t queue) const;
  uint64_t Completed(uint32_t queue) const;
  Status QueueError(uint32_t queue) const;
  Status ClearError(uint32_t queue);
  Status SetNextHeader(uint32_t queue, const std::function<void(BatchHeader*)>& set);
  Status status() const;
  // The session ended, and a new one may do better.
  bool lost() const;
  uint64_t reconnects() const;

  void OnProgress(std::function<void(Position)> callback);
  void OnTransfer(std::function<void(uint64_t, uint64_t)> callback);
  void OnPrint(std::function<void(const KernelPrint&)> callback);

 private:
  // A message is held below this; a chunk of payload may exceed it by its own size.
  static constexpr size_t kMessageBytes = 512 << 10;
  // Commands that may gather while a write is in flight.
  static constexpr uint64_t kMaxCommandsPerMessage = 4096;

  struct PendingFree {
    uint64_t value;
    uint64_t handle;
  };
  struct News {  // for callbacks, which run without the lock
    std::vector<Position> progress;
    std::vector<std::pair<uint64_t, uint64_t>> transfers;
  };

  template <typename Fill>
  Position Append(uint32_t queue, size_t bytes, size_t payload, Fill&& fill)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    Timeline& timeline = queues_[queue];
    const uint64_t value = timeline.NextValue();
    BatchHeader& header = timeline.next_header();
    fill(outbox_.AddCommand(queue, value, header, max_batch_, bytes, payload));
    if (!header.plain()) {
      header = BatchHeader();
    }
    if (outbox_.commands() >= options_.batch_commands || outbox_.bytes() >= kMessageBytes) {
      flush_wanted_ = true;
      TrySend();
    }
    return {queue, value};
  }

  // ---- Coming back (session_resume.cc).
  Status Greet() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool CanReconnect(const Status& status) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void TransportLost() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // A new stream when it is time for one. False: there is none to be moved.
  bool Revive(Instant deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void GiveUp() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Resumed(const v1::Welcome& welcome) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Status LossOf(const Status& end) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::string WhatIsGone() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool AllEnded() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool ReceiptsUrgent() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void AddReceipts(v1::ClientMessage* message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ForgetSent() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool resumable() const { return options_.reconnect_for.count() > 0; }

  // ---- Sending.
  bool Full() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool CreditAllows() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void TrySend() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Write(const Stream::Encoded& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // When there is nothing else to be sent, or to be kept from being sent.
  void SendEnding() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Until a command may be added to `queue`: nobody is recording there, and ...
  Status AwaitRoom(uint32_t queue) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // ... there is space in the message.
  Status AwaitSpace() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // ---- Moving the stream.
  // Until `done` (called under the lock), the session's end or the deadline; returns done().
  template <typename Done>
  bool PumpUntil(Instant deadline, Done&& done) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    while (!done() && !ended_ && std::chrono::steady_clock::now() < deadline) {
      PumpOnce(deadline);
    }
    return done();
  }
  void PumpOnce(Instant deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Calls back with what kernels printed, before anybody sees that their launches have ended, and with lease waits.
  void TellNotices(const v1::ServerMessage& message) ABSL_LOCKS_EXCLUDED(mu_);
  void Handle(Stream::Event event, News* news) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void HandleMessage(const v1::ServerMessage& message, News* news)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void HandleEnd() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void HandleWelcome(const v1::Welcome& welcome) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void HandleProgress(Position position, News* news) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void HandleData(const v1::Data& data, News* news) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RetireFrees() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void AppendFree(uint64_t handle) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RunBackground();
  Status DeadlineStatus(const std::string& what) const;
  Instant CallDeadline() const;

  // ---- Constant after Connect.
  const ConnectOptions options_;
  uint64_t session_id_ = 0;
  std::string daemon_version_;
  std::vector<DeviceInfo> devices_;
  Limits limits_;
  std::string lease_token_;
  uint64_t max_commands_ = kMaxCommandsPerMessage;  // of one message: never above the credit window
  uint64_t max_payload_bytes_ = UINT64_MAX;
  uint32_t max_batch_ = 1;  // commands
  size_t chunk_bytes_ = 256 << 10;

  mutable Mutex mu_;
  Condition news_;                  // the pump has handled an event or has been left
  Condition recorded_;              // recording_ has become smaller
  std::unique_ptr<Stream> stream_;  // set by Connect; its own threading rules
  bool pumping_ ABSL_GUARDED_BY(mu_) = false;
  int sleepers_ ABSL_GUARDED_BY(mu_) = 0;
  bool started_ ABSL_GUARDED_BY(mu_) = false;
  bool waits_for_lease_ ABSL_GUARDED_BY(mu_) = false;
  bool welcomed_ ABSL_GUARDED_BY(mu_) = false;
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  bool broken_ ABSL_GUARDED_BY(mu_) = false;  // a write was not taken: the end is near
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  Goodbye bye_ ABSL_GUARDED_BY(mu_);
  bool stop_background_ ABSL_GUARDED_BY(mu_) = false;
  Status end_status_ ABSL_GUARDED_BY(mu_);

  Comeback back_ ABSL_GUARDED_BY(mu_);
  Outbox outbox_ ABSL_GUARDED_BY(mu_);
  bool flush_wanted_ ABSL_GUARDED_BY(mu_) = false;
  uint64_t sent_commands_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t ended_commands_ ABSL_GUARDED_BY(mu_) = 0;  // of all queues
  uint64_t sent_bytes_ ABSL_GUARDED_BY(mu_) = 0;      // of payload, with this connection
  uint64_t credit_commands_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t credit_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  std::deque<Timeline> queues_ ABSL_GUARDED_BY(mu_);
  std::set<uint32_t> recording_ ABSL_GUARDED_BY(mu_);  // queues with half a trace in the outbox
  uint64_t next_handle_ ABSL_GUARDED_BY(mu_);
  std::deque<PendingFree> frees_ ABSL_GUARDED_BY(mu_);
  std::function<void(Position)> on_progress_ ABSL_GUARDED_BY(mu_);
  std::function<void(uint64_t, uint64_t)> on_transfer_ ABSL_GUARDED_BY(mu_);
  std::function<void(const KernelPrint&)> on_print_ ABSL_GUARDED_BY(mu_) = WriteToStandardError;
  std::thread background_;
};

}  // namespace ttfd::client
