// One session as both its sides see it: the call that drives it (gRPC threads) and the device
// thread that answers.
//
// One mutex guards everything; what needs long (loading a kernel's ELF) is done before it is taken.
// The executor decides what happens, this class only locks, passes works to the engine and tells
// the call when there is output.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "daemon/engine/work.h"
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

class Session final : public ClientSession,
                      public WorkOwner,
                      public std::enable_shared_from_this<Session> {
 public:
  // `environment` outlives the session, `output` until finished() or Abandon.
  Session(SessionEnvironment& environment, const PeerIdentity& peer, const HelloRequest& hello,
          const SessionLease& lease, WelcomeReply welcome, std::string user, SessionOutput* output);

  // ---- ClientSession: gRPC threads
  const WelcomeReply& welcome() const override { return welcome_; }
  bool waiting() override ABSL_LOCKS_EXCLUDED(mu_);
  Status Submit(BatchRequest batch) override ABSL_LOCKS_EXCLUDED(mu_);
  Status Supply(DataChunk chunk) override ABSL_LOCKS_EXCLUDED(mu_);
  Status Cancel(QueuePosition from) override ABSL_LOCKS_EXCLUDED(mu_);
  Status Received(QueuePosition position) override ABSL_LOCKS_EXCLUDED(mu_);
  void FinishInput() override ABSL_LOCKS_EXCLUDED(mu_);
  bool WantsInput() override ABSL_LOCKS_EXCLUDED(mu_);
  SessionOutputBatch TakeOutput(uint64_t max_bytes) override ABSL_LOCKS_EXCLUDED(mu_);
  bool finished(Status* status) override ABSL_LOCKS_EXCLUDED(mu_);
  void Abandon() override ABSL_LOCKS_EXCLUDED(mu_);

  // ---- WorkOwner: device thread
  std::string Name() const override;
  bool Start(const Work& work, TimePoint now) override ABSL_LOCKS_EXCLUDED(mu_);
  void Done(std::span<Work> works, Duration device_time) override ABSL_LOCKS_EXCLUDED(mu_);
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
  // When it last had something to do: `now`, if it has.
  TimePoint LastAtWork(TimePoint now) const ABSL_LOCKS_EXCLUDED(mu_);
  // Returns when to be called again.
  TimePoint CheckDeadlines(TimePoint now) ABSL_LOCKS_EXCLUDED(mu_);
  TimeoutsReply timeouts() const ABSL_LOCKS_EXCLUDED(mu_);
  void SetTimeouts(const TimeoutsReply& timeouts) ABSL_LOCKS_EXCLUDED(mu_);
  SessionInfoReply Info(TimePoint now) const ABSL_LOCKS_EXCLUDED(mu_);
  uint64_t id() const { return welcome_.session; }
  uint32_t uid() const { return peer_.uid; }
  uint64_t lease() const { return lease_; }

 private:
  enum class Phase { kActive, kFinishing, kEnded, kReleased };

  LoadedKernel Load(const std::string& bytes, const std::string& name) const;
  void GoOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Tell() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void TellCredit() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndLocked(const Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndIfDrained() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ReleaseIfIdle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Duration StalledTimeout() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  static ErrorReply DrainingError();
  bool AllDone() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Constant after construction.
  SessionEnvironment& environment_;
  const PeerIdentity peer_;
  const WelcomeReply welcome_;
  const std::string client_name_;
  const std::string user_;
  const TimePoint opened_;
  const uint64_t lease_;

  mutable Mutex mu_;
  OutputBuffer buffer_ ABSL_GUARDED_BY(mu_);
  Executor executor_ ABSL_GUARDED_BY(mu_);
  SessionOutput* output_ ABSL_GUARDED_BY(mu_);
  Phase phase_ ABSL_GUARDED_BY(mu_) = Phase::kActive;
  bool waiting_ ABSL_GUARDED_BY(mu_);
  bool call_gone_ ABSL_GUARDED_BY(mu_) = false;
  Status end_status_ ABSL_GUARDED_BY(mu_);
  bool told_ ABSL_GUARDED_BY(mu_) =
      false;  // OutputReady was called and not answered by an empty TakeOutput
  bool input_refused_ ABSL_GUARDED_BY(mu_) = false;  // WantsInput said no
  bool draining_ ABSL_GUARDED_BY(mu_) = false;
  CreditReply credit_told_ ABSL_GUARDED_BY(mu_);
  TimeoutsReply timeouts_ ABSL_GUARDED_BY(mu_);  // 0: the daemon's
  TimePoint look_again_at_ ABSL_GUARDED_BY(mu_) = TimePoint::max();
  TimePoint last_sign_of_client_ ABSL_GUARDED_BY(mu_);
  Duration device_time_ ABSL_GUARDED_BY(mu_){};
  uint64_t ended_counted_ ABSL_GUARDED_BY(mu_) = 0;  // in environment_.commands_ended
};

}  // namespace ttfd
