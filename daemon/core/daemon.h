// The daemon without its front end: the cards and their thread, the sessions, and what serves them.
//
// Threads: callers of DaemonService and Admin (gRPC), the device thread (DeviceThread), which also runs the timers, and
// a host thread (HostWork). Locks are taken in the order drain, sessions, leases, inbox, outbox, window,
// requests of the device thread.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "daemon/api/session_port.h"
#include "daemon/card/device_thread.h"
#include "daemon/card/scheduler.h"
#include "daemon/core/admin_facade.h"
#include "daemon/core/card_links.h"
#include "daemon/core/daemon_cards.h"
#include "daemon/core/drain.h"
#include "daemon/core/heap_trimmer.h"
#include "daemon/core/leases.h"
#include "daemon/core/sessions.h"
#include "daemon/hang/hang_reports.h"
#include "daemon/session/session.h"
#include "daemon/session/timers.h"

namespace ttfd {

struct DaemonOptions {
  DaemonIdentity identity;
  SessionLimits limits;
  TimeoutsReply timeouts{10'000, 60'000, 600'000, 60'000};
  KernelTimes kernel_times;
  uint64_t kernel_store_bytes = uint64_t{64} << 20;
  DeviceThreadOptions thread;
  CardExecutorOptions card;
  SchedulerOptions scheduler;
  HangReportsOptions hang_reports;
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

class Daemon final : public DaemonService, private DeviceObserver {
 public:
  // The numbers of the devices are the places of the cards. `clock` outlives the core. Touches neither a card nor any
  // thread. `links`: without it the cards have no neighbours.
  static StatusOr<std::unique_ptr<Daemon>> Create(std::vector<ServedCard> cards, Clock& clock,
                                                  DaemonOptions options, LinkDriver links = {});
  ~Daemon() override;

  // Boots the cards on the calling thread. Sessions can be opened from then on. An error: none boots.
  Status Boot();
  // Boots unless booted, then starts the device thread and the host thread.
  Status Start();
  // Ends what is left of the sessions, waits for work in flight until `deadline`, shuts the cards
  // down, ends the threads. For a graceful stop Drain first.
  Status Stop(TimePoint deadline);

  // One round of the device thread, and all host work, for tests that leave Start out. True: there is more to do.
  bool RunOnce();
  // Handles all input, and does the host work for it. For the same tests.
  void HandleAllInput();
  // As DeviceThread::SetLinked, for tests that connect links themselves. The holder of the role of the device thread.
  void SetLinked(std::span<const uint32_t> devices, bool linked) {
    thread_.SetLinked(devices, linked);
  }

  // Grows while the device thread is alive, at least once in idle_tick: systemd's watchdog reads it.
  uint64_t heartbeat() const { return thread_.heartbeat(); }
  // A drain that cannot be ended any more.
  void DrainForShutdown(uint32_t within_ms, Admin::ProgressCallback progress) {
    drain_.Begin(within_ms, std::move(progress), /*for_ever=*/true);
  }

  // ---- DaemonService
  StatusOr<std::shared_ptr<SessionPort>> Open(const PeerIdentity& peer, const HelloRequest& hello,
                                              SessionOutput* output,
                                              std::shared_ptr<SessionTransport> transport) override;
  Admin& admin() override { return admin_; }
  void SetPollerThread(bool calling) override { thread_.SetBorrower(calling); }
  void RunDeviceRounds() override { thread_.RunBorrowed(); }

 private:
  Daemon(std::vector<ServedCard> cards, Clock& clock, DaemonOptions options, LinkDriver links);
  Sessions::Parts MakeSessionParts();

  void SessionReleased(uint64_t session);
  void NextSliceChanged(SessionQueue& queue);
  // DeviceObserver
  void DeviceStateChanged(uint32_t device, DeviceState state, const std::string& why) override;
  void SessionHung(Session& session, const std::string& report) override {
    sessions_.CountHang(session, report);
  }
  bool HandleInput() override;
  bool Publish(bool all) override {
    return sessions_.Publish(all ? TimePoint::max() : clock_.Now());
  }
  TimePoint InputDue() const override;

  Clock& clock_;
  const DaemonOptions options_;
  std::atomic<bool> booted_{false};
  HangReports hangs_;
  DaemonCards cards_;
  Timers timers_;
  Sessions sessions_;
  Leases leases_;
  ttfd::Drain drain_;
  HeapTrimmer trimmer_;
  InputTurns input_;
  DeviceThread thread_;
  CardLinks links_;
  HostWork host_work_;
  AdminFacade admin_;
};

}  // namespace ttfd
