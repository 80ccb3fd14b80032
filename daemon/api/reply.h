// Replies of the daemon as plain values; daemon/rpc turns them into protobuf.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/api/device_state.h"
#include "daemon/api/identity.h"
#include "daemon/api/lease_reply.h"
#include "daemon/api/request.h"
#include "daemon/api/session_limits.h"
#include "daemon/api/session_state.h"
#include "runtime/base/status.h"
#include "runtime/card/card.h"
#include "runtime/device/device.h"
#include "runtime/device/link_status.h"

namespace ttfd {

// The one shape of every error (types.proto, Errors).
struct ErrorReply {
  StatusCode code = StatusCode::kInternal;
  std::string message;
  std::string reason;  // stable: INVALID, LIMIT, UNKNOWN_HANDLE, ...
  std::string field;
  QueuePosition cause;
  std::string limit;
  uint64_t limit_value = 0;
  uint64_t limit_used = 0;
  std::string hang_report;
  bool retryable = false;
  ExecutionState execution_state = ExecutionState::kNotStarted;  // of a command that failed
};

struct CommandErrorReply {
  uint32_t queue = 0;
  uint64_t first_value = 0;
  uint64_t last_value = 0;
  ErrorReply error;
};

// A kernel of the command at `position` printed.
struct KernelPrintReply {
  QueuePosition position;
  KernelPrint print;
  uint64_t lost = 0;  // dropped before this one because they were not taken in time
};

// The content of one message to the client. A session that waits for its lease has notices of waiting, then a welcome;
// neither comes with anything else.
struct SessionOutputBatch {
  bool has_welcome = false;  // the session has its lease
  std::string lease_token;   // with it
  bool has_waiting = false;
  LeaseWaitReply waiting;
  std::vector<KernelPrintReply> prints;
  std::vector<DataChunk> data;
  std::vector<CommandErrorReply> errors;
  std::vector<QueuePosition> progress;
  uint64_t window_bytes = 0;  // what the client may have sent in total; 0: as sent before
  bool last = false;          // there is nothing else; OutputReady is called when there is
  // Without the window, which is state and no event.
  bool has_content() const {
    return !prints.empty() || !data.empty() || !errors.empty() || !progress.empty() ||
           has_welcome || has_waiting;
  }
  bool empty() const { return !has_content() && window_bytes == 0; }
};

// Description of a card for clients (types.proto, Device).
struct DeviceReply {
  uint32_t index = 0;
  DeviceInfo info;
  CardDescription card;
  std::optional<uint32_t>
      behind;  // index of the neighbour through whose link it is reached; none: it has a port
  std::vector<Neighbour> neighbours;  // by channel
};

struct WelcomeReply {
  uint32_t revision = 1;
  std::string daemon_version;
  uint64_t session = 0;
  std::string token;                                        // random bytes
  std::shared_ptr<const std::vector<DeviceReply>> devices;  // of all sessions
  uint32_t device = 0;                                      // of queues that name none
  SessionLimits limits;
  uint64_t window_bytes = 0;  // what the client may have sent in total
};

struct TimeoutsReply {
  uint32_t operation_ms = 0;
  uint32_t kernel_ms = 0;
  uint32_t start_ms = 0;
  uint32_t stalled_client_ms = 0;
};

// How long commands waited, from their arrival until the card began with them.
struct WaitsReply {
  uint64_t count = 0;
  uint64_t total_ns = 0;
  uint64_t p50_ns = 0;
  uint64_t p99_ns = 0;
  uint64_t max_ns = 0;
};

struct SessionInfoReply {
  uint64_t session = 0;
  std::string client_name;
  std::string user;
  uint32_t uid = 0;
  uint32_t pid = 0;  // 0: not known
  SessionState state = SessionState::kActive;
  SessionWait waits_for = SessionWait::kNone;
  uint64_t dram_bytes = 0;
  uint64_t l1_bytes = 0;
  uint64_t device_ns = 0;
  uint64_t longest_work_ns = 0;
  uint64_t launches = 0;
  uint64_t bytes_written = 0;
  uint64_t bytes_read = 0;
  WaitsReply waits;
  uint32_t weight = 1;
  Priority priority = Priority::kNormal;
  uint64_t connected_ms = 0;
  uint32_t handles = 0;
  uint64_t lease = 0;
  std::vector<uint32_t> devices;  // that it has queues on; without queues that of its first
  std::vector<QueuePosition> submitted;
  std::vector<QueuePosition> completed;
  uint32_t hangs = 0;
  std::string quarantine_reason;  // empty: it is not quarantined
};

// Policy for hangs (daemon/hang): when they quarantine the user whose kernels they are.
struct HangPolicy {
  uint32_t quarantine_hangs = 8;  // so many within the window quarantine a user; 0: never
  uint32_t quarantine_window_ms = 600'000;
};

enum class LimitScope : uint8_t { kMessage, kCommand, kSession, kUser, kLease, kDaemon };

// One limit (admin.proto, LimitInfo), and how much of it is used.
struct LimitInfoReply {
  std::string name;
  uint64_t value = 0;
  LimitScope scope = LimitScope::kDaemon;
  std::string description;
};
struct LimitUseReply {
  std::string name;
  uint64_t value = 0;
  uint64_t used = 0;
};
struct LimitUsageReply {
  LimitScope scope = LimitScope::kDaemon;  // daemon, user or session
  uint64_t session = 0;
  uint32_t uid = 0;
  std::string user;
  std::string client_name;
  std::vector<LimitUseReply> uses;
};
struct LimitsReply {
  std::vector<LimitInfoReply> limits;
  std::vector<LimitUsageReply> usage;
};

enum class DaemonState : uint8_t { kBooting, kReady, kDraining, kRecovering, kFailed };

struct MemoryUseReply {
  MemoryKind kind = MemoryKind::kDram;
  uint64_t used_bytes = 0;
  uint64_t total_bytes = 0;
  uint64_t largest_free_bytes = 0;
};

// One device of a StatusReply.
struct DeviceStatusReply {
  DeviceReply device;
  DeviceState state = DeviceState::kBooting;
  std::string last_error;
  DeviceStats stats;
  std::vector<MemoryUseReply> memory;
  CardReading card;
  std::vector<HardwareQueueStats> hardware_queues;
};

struct StatusReply {
  DaemonIdentity daemon;
  DaemonState state = DaemonState::kBooting;
  uint64_t uptime_ms = 0;
  std::vector<DeviceStatusReply> devices;
  uint32_t sessions = 0;
  std::string last_hang_report;
  uint64_t commands_completed = 0;
  uint64_t quantum_ns = 0;
};

}  // namespace ttfd
