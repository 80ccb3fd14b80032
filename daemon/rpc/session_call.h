// One Session call: moves messages between gRPC and a SessionStream, decides nothing.
//
// The poller thread reads: it hands every message to the stream, and pauses while the session waits for its lease. The
// poller thread or the device thread writes what the stream has, one message at a time, with the lock held. Only the
// poller thread ends the call.
#pragma once

#include <memory>

#include "daemon/rpc/call_count.h"
#include "daemon/rpc/poller_tasks.h"
#include "daemon/rpc/server_call.h"
#include "daemon/rpc/session_stream.h"
#include "runtime/base/mutex.h"

namespace ttfd {

// Environment that all calls share. All of it outlives every call.
struct SessionCallEnvironment {
  SessionStreamEnvironment stream;
  CallCount* calls = nullptr;  // those under way
  Duration hello_timeout{};    // from a call's start to its first message
  Duration check_period{};     // between two looks at what a call waits for
};

class SessionCall final : public CallHandler,
                          public SessionOutput,
                          public PollerTask,
                          public std::enable_shared_from_this<SessionCall> {
 public:
  static std::shared_ptr<CallHandler> Start(const SessionCallEnvironment& environment,
                                            ServerCall& call, PeerIdentity peer);

  // Poller thread.
  void OnRead(grpc::ByteBuffer* message) override ABSL_LOCKS_EXCLUDED(mu_);
  void OnWritten(bool ok) override ABSL_LOCKS_EXCLUDED(mu_);
  void OnCancelled() override ABSL_LOCKS_EXCLUDED(mu_);
  void OnDue(TimePoint now) override ABSL_LOCKS_EXCLUDED(mu_);
  void OnEnd() override ABSL_LOCKS_EXCLUDED(mu_);

  // Any thread.
  void OutputReady() override;
  // Writes the next message if there is one, or checks for the end: behind the message that is being written.
  void Run() override ABSL_LOCKS_EXCLUDED(mu_);

 private:
  enum class Input { kReading, kPaused, kEnded };
  // Effect on the session when the call is done.
  enum class Outcome {
    kLost,      // its connection is lost
    kRefused,   // it ends: a protocol error, or a client that does not read
    kReleased,  // nothing: the session has ended by itself
  };

  SessionCall(const SessionCallEnvironment& environment, ServerCall& call, PeerIdentity peer);

  void StreamEnded() ABSL_LOCKS_EXCLUDED(mu_);
  void ReadOn();
  // The ack for what was read is sent in time, though nothing else is.
  void WatchAck() ABSL_LOCKS_EXCLUDED(mu_);
  void WriteOutput() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CheckEnd(TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  bool IsStalled(Duration waited) ABSL_LOCKS_EXCLUDED(mu_);
  void FinishWith(const Status& status, Outcome outcome) ABSL_LOCKS_EXCLUDED(mu_);
  void FinishLocked(const Status& status, Outcome outcome) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Constant after construction.
  const SessionCallEnvironment& environment_;
  ServerCall& call_;
  const std::shared_ptr<PollerTasks> tasks_;

  SessionStream stream_;

  // Poller thread.
  Input input_ = Input::kReading;
  Outcome outcome_ = Outcome::kLost;

  Mutex mu_;
  grpc::ByteBuffer out_ ABSL_GUARDED_BY(mu_);
  bool open_ ABSL_GUARDED_BY(mu_) = false;      // the stream is open
  bool writing_ ABSL_GUARDED_BY(mu_) = false;   // `out_` is being written
  bool again_ ABSL_GUARDED_BY(mu_) = false;     // Run was called meanwhile
  bool finished_ ABSL_GUARDED_BY(mu_) = false;  // nothing may be started: `call_` ends
  // Since when the client is waited for: for Hello, the write under way, or an ack. TimePoint::max(): it is not.
  TimePoint waits_since_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ttfd
