// The daemon without its front end: sessions, scheduler and the executor of the booted card.
//
// Threads: callers of DaemonService (gRPC), the device thread (CardExecutor), which also checks deadlines, leases and
// drains, and a host thread (HostWork). Locks are taken in the order drain, sessions, leases, inbox, outbox, window,
// executor.
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
#include "daemon/core/drain.h"
#include "daemon/core/due_time.h"
#include "daemon/core/leases.h"
#include "daemon/core/sessions.h"
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
  Status Stop(TimePoint deadline);

  // One round of the device thread, and all host work, for tests that leave Start out. True: there is more to do.
  bool RunOnce();
  // Handles all input, and does the host work for it. For the same tests.
  void HandleAllInput();

  // Grows while the device thread is alive, at least once in idle_tick: systemd's watchdog reads it.
  uint64_t heartbeat() const { return executor_.heartbeat(); }

  // ---- DaemonService
  StatusOr<std::shared_ptr<ClientSession>> Open(
      const PeerIdentity& peer, const HelloRequest& hello, SessionOutput* output,
      std::shared_ptr<SessionTransport> transport) override;
  DevicesReply ListDevices() override;
  StatusReply GetStatus() override;
  std::vector<SessionInfoReply> ListSessions() override;
  std::vector<LeaseInfoReply> ListLeases() override;
  LimitsReply GetLimits() override;
  StatusOr<TimeoutsReply> GetTimeouts(uint64_t session) override;
  StatusOr<TimeoutsReply> SetTimeouts(uint64_t session, const TimeoutsReply& timeouts) override;
  Status TerminateSession(uint64_t session, const std::string& reason) override;
  Status ReleaseSession(uint64_t session) override;
  StatusOr<std::vector<HangSummary>> ListHangReports() override;
  StatusOr<std::vector<HangStore::File>> GetHangReport(const HangReportId& id) override;
  void Drain(uint32_t within_ms, ProgressCallback progress) override;
  Status Undrain() override;
  // A drain that cannot be ended any more.
  void DrainForShutdown(uint32_t within_ms, ProgressCallback progress);
  Status Profile(const ProfileQuery& query, std::shared_ptr<const std::atomic<bool>> cancelled,
                 std::function<void(StatusOr<ProfileResult>)> done) override;
  Status ResetDevice(uint32_t device, std::function<void(const Status&)> done) override;

 private:
  DaemonCore(std::unique_ptr<Card> card, Clock& clock, DaemonOptions options);

  // SessionHost
  void NextSliceChanged(SessionQueue& queue) override;
  void CheckSessionsAt(TimePoint when) override;  // any thread
  void SessionReleased(uint64_t session) override;
  void MemoryFreed() override;
  std::string LeaseText(uint64_t lease, const TileSet& workers) override;
  // DeviceObserver
  void DeviceStateChanged(DeviceState state, const std::string& why) override;
  void SessionHung(Session& session, const std::string& report) override;
  bool HandleInput() override;
  TimePoint InputDue() const override;

  // The device thread calls RunChecks then. Any thread.
  void RunChecksAt(TimePoint when);
  // Does what is due of the checks below. False: nothing is.
  bool RunChecks();
  void CheckSessions(TimePoint now);
  void CheckMemory(TimePoint now);
  void UpdateQuarantine(uint32_t uid);  // of the user's sessions
  // A reader of hang reports is not to wait for a disk that does not answer.
  Status HangReportsAreWritten() const;

  // Constant after construction, or after Boot.
  Clock& clock_;
  const DaemonOptions options_;
  const TimePoint created_;
  SessionEnvironment environment_;
  DeviceReply device_;
  bool booted_ = false;

  Mutex mu_;
  DeviceState state_ ABSL_GUARDED_BY(mu_) = DeviceState::kBooting;
  std::pair<std::string, uint64_t> last_error_ ABSL_GUARDED_BY(mu_);  // and launches until then

  LeaseGate gate_;  // before what looks at it
  const std::shared_ptr<HangStore> hang_store_;
  const std::unique_ptr<HangWriter> hang_writer_;      // null: reports are not kept
  std::array<Scheduler, kHardwareQueues> schedulers_;  // device thread
  DueTime checks_due_;                                 // the earliest of all
  DueTime sessions_due_;                               // deadlines of sessions
  DueTime trim_due_;                                   // of memory
  Sessions sessions_;
  Leases leases_;
  ttfd::Drain drain_;
  InputTurns input_;
  CardExecutor executor_;
  HostWork host_work_;
  std::atomic<bool> started_{false};  // its threads run; clients may be there before
};

}  // namespace ttfd
