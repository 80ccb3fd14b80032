// Which commands of a session without a lease wait because others lease workers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "daemon/card/lease_gate.h"
#include "daemon/session/session_queue.h"

namespace ttfd {

// The workers of the commands on a device that wait for leases of other sessions (none: all workers); nullopt: no
// command waits. `gate`: of the device. `settled`: no lease is about to be granted, so that nothing it keeps off the
// card is still there, and a command that has begun waits like any other.
std::optional<TileSet> BlockedByLeases(const std::map<uint32_t, SessionQueue>& queues,
                                       uint32_t device, const LeaseGate& gate, bool settled);

}  // namespace ttfd
