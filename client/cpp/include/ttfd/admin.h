// The admin service: what ttfdctl shows and does. The daemon decides by the user and groups at the
// other end of the socket who may look ("observe") and who may act ("admin").
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ttfd/status.h"
#include "ttfd/types.h"

namespace ttfd::client {

struct MemoryUse {
  std::string kind = {};  // "dram": over all banks; "l1": in each worker
  uint64_t used_bytes = 0;
  uint64_t total_bytes = 0;
  uint64_t largest_free_bytes = 0;
};

// One processor of the dispatch pipeline.
struct HartState {
  std::string where = {};
  std::string waypoint = {};
  uint32_t progress = 0;
  std::string text = {};
};

// One of the card's hardware queues, which the queues of all sessions share.
struct HardwareQueueInfo {
  uint32_t index = 0;
  uint32_t in_flight = 0;  // pieces of work given to the card and not completed
  uint64_t completed = 0;  // since the daemon started
  uint32_t waiting = 0;    // pieces of work that wait for their turn
  uint64_t device_ns = 0;  // the card was at work for so long, since the daemon started
};

struct DaemonStatus {
  std::string version = {};
  std::string state = {};  // "booting", "ready", "draining", "recovering", "failed"
  uint64_t uptime_ms = 0;
  std::vector<DeviceInfo> devices = {};
  uint32_t sessions = 0;
  std::string last_hang_report = {};
  std::string last_error = {};
  uint64_t commands_completed = 0;
  uint64_t launches_completed = 0;
  uint64_t bytes_written = 0;
  uint64_t bytes_read = 0;
  std::vector<MemoryUse> memory = {};
  std::vector<HartState> harts = {};
  uint32_t device_resets = 0;
  std::vector<HardwareQueueInfo> hardware_queues = {};
  uint64_t quantum_ns = 0;  // device time of one turn of a session
};

// How long commands that need the card waited, from their arrival in the daemon until the card began with them. Those
// of the session before them are part of it.
struct Waits {
  uint64_t count = 0;
  uint64_t total_ns = 0;
  uint64_t p50_ns = 0;  // up to 6 % too much
  uint64_t p99_ns = 0;
  uint64_t max_ns = 0;
};

struct SessionInfo {
  uint64_t session = 0;
  std::string client_name = {};
  uint32_t uid = 0;
  uint32_t pid = 0;
  std::string user = {};
  std::string state = {};  // "active", "suspended", "finishing", "ending"
  uint64_t dram_bytes = 0;
  uint64_t l1_bytes = 0;
  uint64_t device_ns = 0;
  uint64_t connected_ms = 0;
  uint32_t handles = 0;
  uint64_t lease = 0;  // it works under, or waits for; 0: none
  std::vector<Position> submitted = {};
  std::vector<Position> completed = {};
  uint32_t weight = 0;
  Priority priority = Priority::kNormal;
  uint64_t launches = 0;       // ended well, as the following
  uint64_t bytes_written = 0;  // of device memory
  uint64_t bytes_read = 0;
  Waits waits = {};
  uint64_t longest_work_ns =
      0;               // the most that one launch, replay or piece of a transfer had the card
  uint32_t hangs = 0;  // launches of it that hung or faulted
  std::string suspended = {};  // why; empty: it is not
};

// A hang report that the daemon keeps.
struct HangReportInfo {
  std::string report = {};    // its id
  std::string headline = {};  // reason, id and time
  std::string text = {};      // what happened, in one sentence
  std::string blamed = {};    // whose work did it; empty: nobody's
  uint64_t bytes = 0;
  bool complete = false;  // false: daemon or host ended before the card was repaired
};

// A lease that is held, or waited for.
struct LeaseInfo {
  uint64_t lease = 0;
  std::string state = {};  // "held", "granting", "ending", "waiting"
  uint64_t session = 0;    // that holds it or waits for it
  std::string client_name = {};
  std::string user = {};
  uint32_t uid = 0;
  uint32_t pid = 0;
  std::vector<CoreRange> workers = {};  // none: the whole device
  uint32_t sessions = 0;                // that work under it
  uint64_t since_ms = 0;                // held, or waited for, so long
  uint64_t left_ms = 0;                 // until a limit ends it, or its wait; 0: no limit
  uint32_t position = 0;                // among those that wait
  std::string holder = {};              // of what is waited for
  uint64_t expected_wait_ms = 0;        // a guess
};

// A limit, and what somebody uses of it.
struct LimitInfo {
  std::string name = {};
  uint64_t value = 0;
  std::string of = {};    // "message", "command", "session", "user", "lease", "daemon"
  std::string text = {};  // what it bounds
};
struct LimitUse {
  std::string name = {};
  uint64_t value = 0;
  uint64_t used = 0;
};
struct LimitUses {
  uint64_t session = 0;  // 0: all sessions of the user together
  uint32_t uid = 0;
  std::string user = {};
  std::string client_name = {};
  std::vector<LimitUse> uses = {};
};
struct LimitsReport {
  std::vector<LimitInfo> limits = {};
  std::vector<LimitUses> uses = {};  // of every session, and of every user with a session
};

// In milliseconds; 0 = the daemon's default, and to SetTimeouts: unchanged.
struct Timeouts {
  uint32_t operation_ms = 0;       // no progress of the dispatch pipeline for so long: a hang
  uint32_t kernel_ms = 0;          // of one launch
  uint32_t start_ms = 0;           // from arrival to start of a command
  uint32_t stalled_client_ms = 0;  // a client that neither reads nor sends
};

struct ProgressStep {
  std::string step = {};
  uint64_t left = 0;
  bool done = false;
};

// How to profile the card; zeros are the daemon's defaults.
struct ProfileOptions {
  std::chrono::milliseconds duration{0};  // at most 60 s
  uint32_t interval_clocks = 0;           // of the device model, which samples whole call stacks
  uint32_t interval_us = 0;               // of program counters, on other backends
  bool program_counters = false;          // even where whole stacks can be had
  bool idle = false;                      // harts that wait for work, too
  std::vector<CoreRange> cores = {};      // none: all workers and the dispatch tiles
};

struct ProfileSummary {
  uint64_t samples = 0;
  uint64_t lost = 0;  // found no room
  bool whole_stacks = false;
  uint64_t interval_clocks = 0;
};

// Thread-safe. Every call has the deadline given to Connect, but those that take their own.
class Admin {
 public:
  // Does not talk to the daemon yet. `address` and `tls` as in ConnectOptions.
  static Admin Connect(const std::string& address,
                       std::chrono::milliseconds timeout = std::chrono::seconds(10),
                       const TlsOptions& tls = {});
  Admin(Admin&&) noexcept;
  Admin& operator=(Admin&&) noexcept;
  ~Admin();

  // The standard health service: "SERVING", "NOT_SERVING", ... `service` empty: the whole daemon.
  Result<std::string> Health(const std::string& service = "");
  Result<std::vector<DeviceInfo>> ListDevices(Limits* limits = nullptr);

  Result<DaemonStatus> GetStatus();
  Result<std::vector<SessionInfo>> ListSessions();
  Result<std::vector<LeaseInfo>> ListLeases();
  Result<LimitsReport> GetLimits();
  Result<Timeouts> GetTimeouts(uint64_t session = 0);  // 0: the daemon's
  Result<Timeouts> SetTimeouts(const Timeouts& timeouts, uint64_t session = 0);
  Status EndSession(uint64_t session, const std::string& reason);
  Status ResumeSession(uint64_t session);        // one that is suspended
  Status SetLogLevel(const std::string& level);  // "debug", "info", "warning", "error"

  using ProgressCallback = std::function<void(const ProgressStep&)>;
  // No new sessions or commands; returns when every session has ended, those left after `within`
  // by force.
  Status Drain(std::chrono::milliseconds within, const ProgressCallback& progress);
  Status ResetDevice(uint32_t device, const ProgressCallback& progress);
  // Where harts spend their time: `folded` gets whole lines "program;kernel;hart;outer;inner count".
  Result<ProfileSummary> Profile(const ProfileOptions& options,
                                 const std::function<void(const std::string&)>& folded);
  Result<std::vector<HangReportInfo>> ListHangReports();  // the oldest first
  // The files of a report ("" or "last": of the newest) one after another, in parts: name and bytes.
  Status GetHangReport(const std::string& report,
                       const std::function<void(const std::string&, const std::string&)>& part);

 private:
  struct Impl;
  explicit Admin(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ttfd::client
