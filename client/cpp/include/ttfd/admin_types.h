// Values of the admin service: sessions, leases, limits, timeouts, hang reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ttfd/daemon_status.h"
#include "ttfd/profile.h"
#include "ttfd/status.h"
#include "ttfd/types.h"

namespace ttfd::client {

// The numbers of these enums are those of the API. A number that this library does not have becomes
// kUnspecified or keeps its value; its name is "unknown".
enum class SessionState : uint8_t {
  kUnspecified = 0,
  kWaiting = 1,  // for its lease
  kActive = 2,
  kQuarantined = 3,  // launches of its user hung too often
  kFinishing = 4,    // the client has sent Finish
  kDetached = 5,     // without a connection, kept for its client to resume
  kEnding = 6,
};
// Reasons for which a session does not continue, or end.
enum class SessionWait : uint8_t {
  kUnspecified = 0,
  kNone = 1,  // it has no commands, and its client has taken all output
  kCommands =
      2,  // on the card or before it; of an ending session: those that the card has not completed
  kData = 3,    // its client is to send data of a command
  kOutput = 4,  // its client is to take output, or after Finish to acknowledge it
};
enum class LeaseState : uint8_t {
  kUnspecified = 0,
  kWaiting = 1,
  kGranting = 2,  // operations of others that still run end first
  kHeld = 3,
  kEnding = 4,  // operations under it that still run end first
};
enum class LimitScope : uint8_t {
  kUnspecified = 0,
  kMessage = 1,
  kCommand = 2,
  kSession = 3,
  kUser = 4,
  kLease = 5,
  kDaemon = 6,
};
enum class ProgressStep : uint8_t {
  kUnspecified = 0,
  kWaiting = 1,   // for sessions to end
  kDrained = 2,   // all sessions have ended
  kCutShort = 3,  // the time is over: the sessions that remained were ended
  kUndrained = 4,
  kResetting = 5,
  kReset = 6,  // the device works again
};
enum class LogLevel : uint8_t { kDebug = 1, kInfo = 2, kWarning = 3, kError = 4 };

// Lower-case names: "detached", "held", "session", "drained", "warning".
const char* SessionStateName(SessionState state);
const char* SessionWaitName(SessionWait wait);
const char* LeaseStateName(LeaseState state);
const char* LimitScopeName(LimitScope scope);
const char* ProgressStepName(ProgressStep step);
const char* LogLevelName(LogLevel level);

// How long commands that need the card waited, from their arrival in the daemon until the card started
// them, including the time of earlier commands of their session.
struct Waits {
  uint64_t count = 0;
  uint64_t total_ns = 0;
  uint64_t p50_ns = 0;  // up to 6 % too high, as p99_ns
  uint64_t p99_ns = 0;
  uint64_t max_ns = 0;
};

struct SessionInfo {
  uint64_t session = 0;
  std::string client_name = {};
  uint32_t uid = 0;
  std::optional<uint32_t> pid = {};  // unset: not known (TCP)
  std::string user = {};
  SessionState state = SessionState::kUnspecified;
  uint64_t dram_bytes = 0;
  uint64_t l1_bytes = 0;
  uint64_t device_ns = 0;
  uint64_t connected_ms = 0;
  uint32_t handles = 0;
  std::optional<uint64_t> lease = {};  // that it holds, shares or waits for
  std::vector<Position> submitted = {};
  std::vector<Position> completed = {};
  uint32_t weight = 0;
  Priority priority = Priority::kNormal;
  uint64_t launches = 0;       // ended successfully, as the following
  uint64_t bytes_written = 0;  // of device memory
  uint64_t bytes_read = 0;
  Waits waits = {};
  uint64_t longest_operation_ns = 0;  // device time of one launch, replay or transfer segment
  uint32_t hangs = 0;                 // launches of it that hung or faulted
  std::string quarantine_reason = {};
  SessionWait waits_for = SessionWait::kUnspecified;
  std::vector<uint32_t> devices = {};  // that it has queues on; without queues that of the session
};

// The launch that caused a hang or fault.
struct HangOffender {
  SessionClient client = {};
  Position position = {};
  std::vector<std::string> kernels = {};  // of its program; none: the replay of a trace
};

struct HangReportInfo {
  std::string report = {};                    // its id
  std::optional<uint64_t> time_unix_ms = {};  // since 1970-01-01 00:00 UTC; unset: not known
  std::string reason = {};                    // as ErrorInfo::reason: HANG, DEVICE_FAULT
  std::string headline = {};                  // what happened to which kernel, where
  std::optional<HangOffender> offender = {};  // unset: not attributed to one launch
  uint64_t bytes = 0;                         // of all its files
  bool complete = false;  // false: files are missing; the headline says which, and why
};

// A lease that is held, or waited for.
struct LeaseInfo {
  uint64_t lease = 0;
  LeaseState state = LeaseState::kUnspecified;
  uint64_t session = 0;  // that holds it or waits for it
  std::string client_name = {};
  std::string user = {};
  uint32_t uid = 0;
  std::optional<uint32_t> pid = {};         // unset: not known (TCP)
  std::vector<uint32_t> devices = {};       // ascending
  std::vector<CoreRange> workers = {};      // none: the whole device
  uint32_t sessions = 0;                    // under it, including the holder's
  uint64_t since_ms = 0;                    // held, or waited for
  std::optional<uint64_t> left_ms = {};     // until a limit ends it, or its wait; unset: no limit
  std::optional<uint32_t> position = {};    // among those that wait, from 1; unset: does not wait
  std::vector<SessionClient> holders = {};  // as in LeaseWait
  uint32_t more_holders = 0;
  std::optional<uint64_t> expected_wait_ms = {};  // an estimate
};

struct LimitInfo {
  std::string name = {};  // as in ttfd.toml and in errors
  uint64_t value = 0;
  LimitScope scope = LimitScope::kUnspecified;
  std::string description = {};
};
struct LimitUse {
  std::string name = {};
  uint64_t value = 0;
  uint64_t used = 0;
};
// Usage of the daemon, one user or one session.
struct LimitUsage {
  LimitScope scope = LimitScope::kUnspecified;
  uint64_t session = 0;          // of scope session
  std::string client_name = {};  // of scope session
  uint32_t uid = 0;              // of scope user and session
  std::string user = {};         // of scope user and session
  std::vector<LimitUse> uses = {};
};
struct LimitsReport {
  std::vector<LimitInfo> limits = {};
  // Usage of the daemon, of every user with a session or connection, and of every session.
  std::vector<LimitUsage> usage = {};
};

// In milliseconds, at least 1. GetTimeouts sets all: those in effect. To SetTimeouts, unset: unchanged.
struct Timeouts {
  std::optional<uint32_t> operation_ms = {};       // no progress of the dispatch pipeline: a hang
  std::optional<uint32_t> kernel_ms = {};          // of one launch; of a trace, without progress
  std::optional<uint32_t> start_ms = {};           // from arrival to start of a command
  std::optional<uint32_t> stalled_client_ms = {};  // a client that neither reads nor sends
};

// How far a drain or a reset is.
struct Progress {
  ProgressStep step = ProgressStep::kUnspecified;
  uint64_t left = 0;  // sessions that remain, or remained
  bool done = false;  // nothing follows
  // Sessions of `left`, of a drain: the first 100 by id; if they were ended, as they were before.
  std::vector<SessionInfo> sessions = {};
};

}  // namespace ttfd::client
