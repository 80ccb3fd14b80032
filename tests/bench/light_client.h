// The client that wants little, next to clients that flood the daemon: its launches, and how long they waited.
#pragma once

#include <chrono>
#include <string>

#include "runtime/base/status.h"

namespace ttfd::bench {

inline constexpr size_t kFloodingClients = 7;
// Time in which clients that flood fill their windows.
inline constexpr std::chrono::milliseconds kFloodWarmUp{200};

struct LightResult {
  double latency_p50_us = 0;
  double wait_p50_us = 0;
  double wait_p99_us = 0;
  double longest_work_us = 0;  // of the sessions that flood
};

// Launches one after the other with pauses, for five budgets and a least number of launches, on a session of its own,
// whose waits the daemon counts. `flooders`: name of the sessions that flood.
StatusOr<LightResult> RunLightClient(const std::string& address, const std::string& flooders,
                                     std::chrono::nanoseconds budget);

}  // namespace ttfd::bench
