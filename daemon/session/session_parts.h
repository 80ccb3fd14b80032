// Parts of the daemon that all sessions use.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "daemon/api/reply.h"
#include "daemon/api/request.h"
#include "daemon/session/changed_sessions.h"
#include "daemon/session/host_work.h"
#include "daemon/session/input_turns.h"
#include "daemon/session/quarantine.h"
#include "daemon/session/timeouts.h"
#include "daemon/session/timers.h"
#include "runtime/base/clock.h"
#include "runtime/command/tile_set.h"

namespace ttfd {

struct SessionQueue;

// All outlive every session.
struct SessionParts {
  const SessionLimits& limits;
  const Timeouts& timeouts;  // of all sessions
  Clock& clock;
  HostWork& host_work;
  InputTurns& input;
  ChangedSessions& changed;
  Timer& deadlines;                       // calls Session::CheckDeadlines of all
  const Quarantine& quarantine;           // device thread
  std::atomic<uint64_t>& commands_ended;  // of all sessions, also of those that have ended

  std::function<bool(uint32_t pid)> process_ended;
  // ---- Called on the device thread.
  // The next slice of the queue has come, or gone.
  std::function<void(SessionQueue&)> next_slice_changed;
  // The session holds nothing any more: drop it.
  std::function<void(uint64_t session)> released;
  // Text that says which lease keeps a session under `lease` (0: none) from these workers of a device: empty, or begins
  // with "; ".
  std::function<std::string(uint64_t lease, uint32_t device, const TileSet& workers)> lease_text;
  // Connects links of the lease, one after the other until one fails, and calls `done` on the device thread.
  std::function<void(uint64_t lease, std::vector<LinkConnection> links,
                     std::function<void(const Status&)> done)>
      connect_links;
  // ---- Called on any thread, with a window locked.
  // A session that had a lot of memory for its commands has none any more.
  std::function<void()> memory_freed;
};

}  // namespace ttfd
