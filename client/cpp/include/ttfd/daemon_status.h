// Status of a daemon and its cards, as the admin service reports it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ttfd/card_health.h"
#include "ttfd/types.h"

namespace ttfd::client {

// The numbers of these enums are those of the API. A number that this library does not have becomes
// kUnspecified or keeps its value; its name is "unknown".
enum class DaemonState : uint8_t {
  kUnspecified = 0,
  kBooting = 1,
  kReady = 2,
  kDraining = 3,
  kRecovering = 4,
  kFailed = 5,
};
enum class DeviceState : uint8_t {
  kUnspecified = 0,
  kBooting = 1,
  kReady = 2,
  kRecovering = 3,
  kFailed = 4,  // lost, or it does not boot: until a reset, or until it is found again
};
enum class MemoryKind : uint8_t { kUnspecified = 0, kDram = 1, kL1 = 2 };

// Lower-case names: "ready", "recovering", "dram".
const char* DaemonStateName(DaemonState state);
const char* DeviceStateName(DeviceState state);
const char* MemoryKindName(MemoryKind kind);

struct MemoryUse {
  MemoryKind kind = MemoryKind::kUnspecified;  // DRAM: over all banks; L1: in each worker
  uint64_t used_bytes = 0;
  uint64_t total_bytes = 0;
  uint64_t largest_free_bytes = 0;
};

// One processor of the dispatch pipeline, as last sampled.
struct HartState {
  std::string name = {};  // tile and hart, such as "dispatch (14,3) NCRISC"
  std::string waypoint = {};
  uint32_t progress = 0;
  std::string description = {};
};

// One of the card's hardware queues, which the queues of all sessions share.
struct HardwareQueueInfo {
  uint32_t index = 0;
  uint32_t in_flight = 0;  // operations submitted to the card and not completed
  uint64_t completed = 0;  // operations, since the daemon started
  uint32_t waiting = 0;    // queues whose next operation waits for a time slice
  uint64_t device_ns = 0;  // busy time of the card since the daemon started
};

// A card as it is now.
struct DeviceStatus {
  DeviceInfo device = {};  // with its links
  DeviceState state = DeviceState::kUnspecified;
  std::string last_error = {};  // why the card was last reset or has failed
  uint64_t launches_completed = 0;
  uint64_t bytes_written = 0;
  uint64_t bytes_read = 0;
  uint32_t resets = 0;
  std::vector<MemoryUse> memory = {};
  std::vector<HartState> harts = {};
  std::optional<uint64_t> reading_age_ms = {};  // since harts and busy times were read; none: never
  std::vector<HardwareQueueInfo> hardware_queues = {};
  std::optional<CardHealth> card = {};  // unset for a model
};

struct DaemonStatus {
  std::string version = {};
  DaemonState state = DaemonState::kUnspecified;  // ready while one of its devices is
  uint64_t uptime_ms = 0;
  std::vector<DeviceStatus> devices = {};  // by index
  uint32_t sessions = 0;
  std::string last_hang_report = {};  // id of the newest one
  uint64_t commands_completed = 0;
  uint64_t quantum_ns = 0;  // device time of one time slice of a session
  std::string device = {};  // that is served: "kmd:/dev/tenstorrent/0", "sim:board=p150"
  std::vector<std::string> warnings = {};
};

}  // namespace ttfd::client
