// The daemon without its front end: sessions, scheduler and the executor of the booted card.
//
// Threads: callers of DaemonService (gRPC), the device thread (CardExecutor), which also checks deadlines, leases and
// drains, and a host thread (HostWork). Locks are taken in the order registry (mu_), inbox, outbox, window, executor.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/card/card_executor.h"
#include "daemon/card/lease_gate.h"
#include "daemon/card/scheduler.h"
#include "daemon/core/lease_table.h"
#include "daemon/core/user_table.h"
#include "daemon/hang/hang_store.h"
#include "daemon/hang/hang_writer.h"
#include "daemon/session/environment.h"
#include "daemon/session/service.h"
#include "daemon/session/session.h"
#include "runtime/base/mutex.h"
#include "runtime/card/card.h"

namespace ttfd {

struct DaemonOptions {
  DaemonIdentity identity;
  SessionLimits limits;
  SessionWindows windows;
  TimeoutsReply timeouts{10'000, 60'000, 600'000, 60'000};
  uint64_t kernel_store_bytes = uint64_t{64} << 20;
  CardExecutorOptions card;
  SchedulerOptions scheduler;
  HangStoreOptions hang_store;
  HangWriterOptions hang_writer;
  HangPolicy hangs;
  // Interfaces to the outside: default to the machine's own.
  KernelLoader load_kernel;                               // default: the loader of runtime/boot
  std::function<std::string(size_t bytes)> random_bytes;  // default: getrandom
  // Must not block.
  std::function<std::string(uint32_t uid)> user_name = [](uint32_t uid) {
    return std::to_string(uid);
  };
  std::function<bool(uint32_t pid)> process_ended;  // default: the kernel
  std::function<void()> trim_memory;  // gives what the heap does not use back; default: malloc_trim
};

class DaemonCore final : public DaemonService, private SessionHost, private DeviceObserver {
 public:
  // `clock` outlives the core. Touches neither the card nor any thread.
  static StatusOr<std::unique_ptr<DaemonCore>> Create(std::unique_ptr<Card> card, Clock& clock,
                                                      DaemonOptions options);
  ~DaemonCore() override;

  // Boots the card on the calling thread. Sessions can be opened from then on.
  Status Boot();
  // Boots unless booted, then starts the device thread and the host thread.
  Status Start();
  // Ends what is left of the sessions, waits for work in flight until `deadline`, shuts the card
  // down, ends the threads. For a graceful stop Drain first.
  Status Stop(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);

  // One round of the device thread, and all host work, for tests that leave Start out. True: there is more to do.
  bool RunOnce() ABSL_LOCKS_EXCLUDED(mu_);
  // Handles all input, and does the host work for it. For the same tests.
  void HandleAllInput();

  // Grows while the device thread is alive, at least once in idle_tick: systemd's watchdog reads it.
  uint64_t heartbeat() const { return executor_.heartbeat(); }

  // ---- DaemonService
  StatusOr<std::shared_ptr<ClientSession>> Open(
      const PeerIdentity& peer, const HelloRequest& hello, SessionOutput* output,
      std::shared_ptr<SessionTransport> transport) override ABSL_LOCKS_EXCLUDED(mu_);
  DevicesReply ListDevices() override;
  StatusReply GetStatus() override ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<SessionInfoReply> ListSessions() override ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<LeaseInfoReply> ListLeases() override ABSL_LOCKS_EXCLUDED(mu_);
  LimitsReply GetLimits() override ABSL_LOCKS_EXCLUDED(mu_);
  StatusOr<TimeoutsReply> GetTimeouts(uint64_t session) override ABSL_LOCKS_EXCLUDED(mu_);
  StatusOr<TimeoutsReply> SetTimeouts(uint64_t session, const TimeoutsReply& timeouts) override
      ABSL_LOCKS_EXCLUDED(mu_);
  Status TerminateSession(uint64_t session, const std::string& reason) override
      ABSL_LOCKS_EXCLUDED(mu_);
  Status ReleaseSession(uint64_t session) override ABSL_LOCKS_EXCLUDED(mu_);
  StatusOr<std::vector<HangSummary>> ListHangReports() override;
  StatusOr<std::vector<HangStore::File>> GetHangReport(const HangReportId& id) override;
  void Drain(uint32_t within_ms, ProgressCallback progress) override ABSL_LOCKS_EXCLUDED(mu_);
  Status Undrain() override ABSL_LOCKS_EXCLUDED(mu_);
  // A drain that cannot be ended any more.
  void DrainForShutdown(uint32_t within_ms, ProgressCallback progress) ABSL_LOCKS_EXCLUDED(mu_);
  Status Profile(const ProfileQuery& query, std::shared_ptr<const std::atomic<bool>> cancelled,
                 std::function<void(StatusOr<ProfileResult>)> done) override;
  Status ResetDevice(uint32_t device, std::function<void(const Status&)> done) override;

 private:
  DaemonCore(std::unique_ptr<Card> card, Clock& clock, DaemonOptions options);

  // SessionHost
  void NextSliceChanged(SessionQueue& queue) override ABSL_LOCKS_EXCLUDED(mu_);
  void CheckSessionsAt(TimePoint when) override;  // any thread
  void SessionReleased(uint64_t session) override ABSL_LOCKS_EXCLUDED(mu_);
  void MemoryFreed() override;
  std::string LeaseText(uint64_t lease, const TileSet& workers) override ABSL_LOCKS_EXCLUDED(mu_);
  // DeviceObserver
  void DeviceStateChanged(DeviceState state, const std::string& why) override
      ABSL_LOCKS_EXCLUDED(mu_);
  void SessionHung(Session& session, const std::string& report) override ABSL_LOCKS_EXCLUDED(mu_);
  bool HandleInput() override ABSL_LOCKS_EXCLUDED(mu_);
  TimePoint InputDue() const override;

  // The device thread calls RunChecks then. Any thread.
  void RunChecksAt(TimePoint when);
  // Does what is due of the checks below. False: nothing is.
  bool RunChecks() ABSL_LOCKS_EXCLUDED(mu_);
  // The lease that a new session requests or joins.
  StatusOr<SessionLease> FindLease(const HelloRequest& hello, const SessionClient& who)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  StatusOr<std::shared_ptr<ClientSession>> Resume(const PeerIdentity& peer,
                                                  const HelloRequest& hello, SessionOutput* output)
      ABSL_LOCKS_EXCLUDED(mu_);
  // A new session of this user may be opened now.
  Status CheckAdmission(const PeerIdentity& peer) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Status CheckHello(const PeerIdentity& peer, const HelloRequest& hello) const;
  Status CheckShare(const PeerIdentity& peer, const HelloRequest& hello) const;
  std::shared_ptr<Session> Find(uint64_t session) ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<std::shared_ptr<Session>> Sessions() ABSL_LOCKS_EXCLUDED(mu_);
  void UpdateQuarantine(uint32_t uid) ABSL_LOCKS_EXCLUDED(mu_);  // of the user's sessions

  void CheckSessions(TimePoint now) ABSL_LOCKS_EXCLUDED(mu_);
  void CheckMemory(TimePoint now) ABSL_LOCKS_EXCLUDED(mu_);
  void CheckDrain(TimePoint now) ABSL_LOCKS_EXCLUDED(mu_);
  // A reader of hang reports is not to wait for a disk that does not answer.
  Status HangReportsAreWritten() const;
  // Grants and ends leases, notifies sessions that wait.
  void CheckLeases(TimePoint now) ABSL_LOCKS_EXCLUDED(mu_);
  // To be sent to sessions.
  using WaitNotices = std::vector<std::pair<std::shared_ptr<Session>, LeaseWaitReply>>;
  // Adds a notice unless the session has had one of the same position and holder.
  void AddWaitNotice(const std::shared_ptr<Session>& session, LeaseWaitReply wait,
                     WaitNotices* notices) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Notices for sessions without a lease whose commands leases keep from the card.
  WaitNotices CheckBlockedSessions(TimePoint now) ABSL_LOCKS_EXCLUDED(mu_);
  void NoteWorkUnderLeases(TimePoint now) ABSL_LOCKS_EXCLUDED(mu_);
  void SetGate() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Grant(uint64_t lease);
  void Granted(uint64_t lease) ABSL_LOCKS_EXCLUDED(mu_);
  void LeasesChanged() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  struct Draining {
    TimePoint deadline;
    uint64_t reported_left = ~uint64_t{0};
    std::vector<ProgressCallback> progress;
  };

  // Constant after construction, or after Boot.
  Clock& clock_;
  const DaemonOptions options_;
  const TimePoint created_;
  SessionEnvironment environment_;
  DeviceReply device_;
  bool booted_ = false;

  mutable Mutex mu_;
  std::map<uint64_t, std::shared_ptr<Session>> sessions_ ABSL_GUARDED_BY(mu_);
  UserTable users_ ABSL_GUARDED_BY(mu_){options_.identity.one_user};
  uint64_t next_session_ ABSL_GUARDED_BY(mu_) = 1;
  std::unique_ptr<Draining> draining_ ABSL_GUARDED_BY(mu_);
  bool shutting_down_ ABSL_GUARDED_BY(mu_) = false;  // draining_ stays
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  LeaseTable leases_ ABSL_GUARDED_BY(mu_);
  bool leases_changed_ ABSL_GUARDED_BY(mu_) = false;
  TimePoint look_at_leases_at_ ABSL_GUARDED_BY(mu_) = TimePoint::max();
  // The last notice of each session that waits for a lease, or whose commands do.
  std::map<uint64_t, LeaseWaitReply> last_wait_notices_ ABSL_GUARDED_BY(mu_);
  DeviceState state_ ABSL_GUARDED_BY(mu_) = DeviceState::kBooting;
  std::pair<std::string, uint64_t> last_error_ ABSL_GUARDED_BY(mu_);  // and launches until then

  LeaseGate gate_;  // before what looks at it
  const std::shared_ptr<HangStore> hang_store_;
  const std::unique_ptr<HangWriter> hang_writer_;      // null: reports are not kept
  std::array<Scheduler, kHardwareQueues> schedulers_;  // device thread
  InputTurns input_;
  CardExecutor executor_;
  HostWork host_work_;
  std::atomic<TimePoint> checks_due_{TimePoint::max()};    // the earliest of all
  std::atomic<TimePoint> sessions_due_{TimePoint::max()};  // their deadlines
  std::atomic<TimePoint> trim_due_{TimePoint::max()};      // of memory
  std::atomic<bool> started_{false};  // its threads run; clients may be there before
};

}  // namespace ttfd
