// One Session call: moves messages between gRPC and a SessionStream, decides nothing.
//
// Two roles, each held by one thread at a time. The READING role reads a message and hands it to the stream; it pauses
// while the session waits for its lease. The WRITING role writes what the stream has, one message at a time; the thread
// that completes a write continues. gRPC calls OnReadDone, OnWriteDone, OnCancel and OnDone on its threads; the session
// calls OutputReady on any thread, which only queues the call for Pump.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <memory>

#include "daemon/rpc/call_deadlines.h"
#include "daemon/rpc/reply_threads.h"
#include "daemon/rpc/session_stream.h"
#include "runtime/base/mutex.h"

namespace ttfd {

// Environment that all calls share. All of it outlives every call.
struct SessionCallEnvironment {
  SessionStreamEnvironment stream;
  ReplyThreads* replies = nullptr;
  CallDeadlines* deadlines = nullptr;
  Duration hello_timeout{};
};

class SessionCall final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                          public SessionOutput,
                          public ReplyTask,
                          public DeadlineTask,
                          public std::enable_shared_from_this<SessionCall> {
 public:
  // The call owns itself until gRPC is done with it. `peer` failed: the call is refused with it.
  static SessionCall* Start(const SessionCallEnvironment& environment,
                            grpc::CallbackServerContext* context, StatusOr<PeerIdentity> peer);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

  void OutputReady() override;
  void Pump() override;
  void CheckDeadlines(TimePoint now) override;

 private:
  enum class Input { kReading, kProcessing, kPaused, kEnded };
  enum class Phase {
    kRunning,
    kFinished,  // Finish was called: nothing may be started
    kDone,      // gRPC is done with the call
  };
  // Effect on the session when the call is done.
  enum class Outcome {
    kLost,      // its connection is lost
    kRefused,   // it ends: a protocol error, or a client that does not read
    kReleased,  // nothing: the session has ended by itself
  };

  SessionCall(const SessionCallEnvironment& environment, grpc::CallbackServerContext* context,
              PeerIdentity peer);

  // Reading role.
  void StreamEnded(bool open) ABSL_LOCKS_EXCLUDED(mu_);
  void ReadOn(bool was_open) ABSL_LOCKS_EXCLUDED(mu_);
  void StartNextRead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The ack for what was read is sent in time, though nothing else is.
  void WatchAck() ABSL_LOCKS_EXCLUDED(mu_);

  // Writing role.
  void WriteOutput() ABSL_LOCKS_EXCLUDED(mu_);

  bool IsStalled(Duration waited) ABSL_LOCKS_EXCLUDED(mu_);
  void FinishWith(const Status& status, Outcome outcome) ABSL_LOCKS_EXCLUDED(mu_);
  void FinishLocked(const Status& status, Outcome outcome) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ReleaseIfLast() ABSL_LOCKS_EXCLUDED(mu_);
  bool finished() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return phase_ != Phase::kRunning; }
  TimePoint Now() const { return environment_.deadlines->Now(); }

  // Constant after construction.
  const SessionCallEnvironment& environment_;
  grpc::CallbackServerContext* const context_;

  SessionStream stream_;
  grpc::ByteBuffer in_;                   // reading role
  grpc::ByteBuffer out_;                  // writing role
  std::atomic<bool> ack_watched_{false};  // CheckDeadlines will look whether an ack is due

  Mutex mu_;
  std::shared_ptr<SessionCall> self_ ABSL_GUARDED_BY(mu_);  // until the last role is given up
  Input input_ ABSL_GUARDED_BY(mu_) = Input::kReading;
  bool open_ ABSL_GUARDED_BY(mu_) = false;          // the stream is open
  bool writing_ ABSL_GUARDED_BY(mu_) = false;       // the writing role is taken
  bool output_again_ ABSL_GUARDED_BY(mu_) = false;  // OutputReady came while the role was taken
  Phase phase_ ABSL_GUARDED_BY(mu_) = Phase::kRunning;
  Outcome outcome_ ABSL_GUARDED_BY(mu_) = Outcome::kLost;
  // Since when the client is waited for: for Hello, the write under way, or an ack. TimePoint::max(): it is not.
  TimePoint waits_since_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ttfd
