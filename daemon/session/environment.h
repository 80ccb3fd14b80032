// Environment of all sessions: the card's description, limits, memory, kernels, time, and the daemon behind them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/session/device_memory.h"
#include "daemon/session/host_work.h"
#include "daemon/session/input_turns.h"
#include "daemon/session/kernel_store.h"
#include "daemon/session/quarantine.h"
#include "daemon/session/reply.h"
#include "daemon/session/timeouts.h"
#include "runtime/base/clock.h"
#include "runtime/command/card_geometry.h"

namespace ttfd {

// Bounds of what is under way between a session, the device thread and the transport.
struct SessionWindows {
  uint64_t read_bytes = uint64_t{2} << 20;  // read, or being read, and not taken by the transport
  uint64_t print_bytes = 256 << 10;         // printed and not taken; beyond it the oldest go
  uint32_t begun_operations = 256;  // of one queue, that have begun and are not all on the card
  // Expected time of a segment of a trace, at most, and of each launch of a program that has not run yet.
  Duration segment_time = std::chrono::microseconds(500);
  Duration launch_guess = std::chrono::microseconds(250);
};

struct SessionQueue;

// The daemon as its sessions see it. Device thread, but for MemoryFreed.
class SessionHost {
 public:
  virtual ~SessionHost() = default;
  virtual void NextSliceChanged(SessionQueue& queue) = 0;  // it has come, or gone
  virtual void CheckSessionsAt(TimePoint when) = 0;        // call CheckDeadlines then
  virtual void SessionReleased(uint64_t session) = 0;      // it holds nothing any more: drop it
  // A session that had a lot of memory for its commands has none any more. Any thread, with a window locked.
  virtual void MemoryFreed() = 0;
  // Text that says what keeps a session under `lease` (0: none) from these workers: empty, or begins with "; ".
  virtual std::string LeaseText(uint64_t lease, const TileSet& workers) = 0;
};

// Outlives every session. Constant but for what is thread-safe by itself.
struct SessionEnvironment {
  SessionLimits limits;
  SessionWindows windows;
  CardDescription card;
  const CardGeometry* geometry = nullptr;
  std::unique_ptr<DeviceMemory> memory;
  std::unique_ptr<KernelStore> kernels;
  HostWork* host_work = nullptr;
  InputTurns* input = nullptr;
  Clock* clock = nullptr;
  std::function<bool(uint32_t pid)> process_ended;
  SessionHost* host = nullptr;
  Quarantine quarantine;  // device thread
  std::atomic<uint32_t> program_ids{0};
  std::atomic<uint64_t> commands_ended{0};
  Timeouts timeouts{TimeoutsReply{10'000, 60'000, 600'000, 60'000}};  // of all sessions
};

}  // namespace ttfd
