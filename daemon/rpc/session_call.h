// One Session call: moves messages between gRPC and a ClientSession, decides nothing.
//
// Two roles, each held by one thread at a time. The INPUT role reads a message and hands it to the
// session; it pauses while the session wants no input. The OUTPUT role takes what the session has
// to say and writes it, one message at a time; whoever completes a write goes on taking. gRPC
// calls OnReadDone, OnWriteDone, OnCancel and OnDone on its threads; the session says OutputReady
// on any thread, which only queues the call for Pump.
#pragma once

#include <google/protobuf/arena.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <array>
#include <atomic>
#include <memory>

#include "daemon/rpc/call_deadlines.h"
#include "daemon/rpc/reply_threads.h"
#include "daemon/session/service.h"
#include "runtime/base/mutex.h"
#include "ttfd/v1/ttfd.pb.h"

namespace ttfd {

// What calls share. All of it outlives every call.
struct SessionCallEnvironment {
  DaemonService* service = nullptr;
  ReplyThreads* replies = nullptr;
  CallDeadlines* deadlines = nullptr;
  SessionLimits limits;
  Duration hello_timeout{};
};

class SessionCall final : public grpc::ServerBidiReactor<v1::ClientMessage, v1::ServerMessage>,
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
  bool PumpOutput() override;
  void CheckDeadlines(TimePoint now) override;

 private:
  enum class Input { kReading, kProcessing, kPaused, kEnded };

  SessionCall(const SessionCallEnvironment& environment, grpc::CallbackServerContext* context);

  // Input role.
  Status CheckSize(const v1::ClientMessage& message) const;
  Status Handle(v1::ClientMessage& message);
  Status HandleRest(v1::ClientMessage& message);  // all but Hello
  Status OpenSession(const v1::Hello& hello);
  void HalfClosed() ABSL_LOCKS_EXCLUDED(mu_);
  void ContinueInput();
  void StartNextRead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  bool PumpRoles(bool input);  // PumpOutput's answer

  // Output role.
  void WriteOutput();
  bool TakeNextMessage();

  bool IsStalled(Duration waited) ABSL_LOCKS_EXCLUDED(mu_);
  void Refuse(const Status& status) ABSL_LOCKS_EXCLUDED(mu_);
  void FinishWith(const Status& status) ABSL_LOCKS_EXCLUDED(mu_);
  void FinishLocked(const Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ReleaseIfLast() ABSL_LOCKS_EXCLUDED(mu_);

  // Constant after construction.
  const SessionCallEnvironment& environment_;
  grpc::CallbackServerContext* const context_;
  PeerIdentity peer_;

  // Input role. The message lives in an arena over `block_`: most need no other memory.
  std::array<char, 16 * 1024> block_;
  std::unique_ptr<google::protobuf::Arena> arena_;
  v1::ClientMessage* message_ = nullptr;
  bool rest_waits_ = false;  // of message_, for the session's lease

  // Output role.
  SessionOutputBatch batch_;
  v1::ServerMessage out_;

  // Set by the input role before the output role first runs, then constant.
  std::shared_ptr<ClientSession> session_;

  Mutex mu_;
  std::shared_ptr<SessionCall> self_ ABSL_GUARDED_BY(mu_);
  Input input_ ABSL_GUARDED_BY(mu_) = Input::kReading;
  bool input_again_ ABSL_GUARDED_BY(mu_) = false;   // OutputReady came while the role was taken
  bool open_ ABSL_GUARDED_BY(mu_) = false;          // session_ is set
  bool writing_ ABSL_GUARDED_BY(mu_) = false;       // the output role is taken
  bool output_again_ ABSL_GUARDED_BY(mu_) = false;  // OutputReady came while the role was taken
  bool finished_ ABSL_GUARDED_BY(mu_) = false;      // Finish was called: nothing may be started
  bool done_ ABSL_GUARDED_BY(mu_) = false;
  bool session_ended_ ABSL_GUARDED_BY(mu_) = false;               // finished() was true: no Abandon
  bool refused_ ABSL_GUARDED_BY(mu_) = false;                     // for a protocol error
  std::optional<TimePoint> half_closed_at_ ABSL_GUARDED_BY(mu_);  // or the connection was lost
  bool waits_for_client_ ABSL_GUARDED_BY(mu_) = true;
  TimePoint waits_since_ ABSL_GUARDED_BY(mu_);  // for Hello, then for the write under way
};

}  // namespace ttfd
