// Turns the query of an administrator into a profile of the card.
#pragma once

#include "daemon/api/session_port.h"
#include "daemon/card/profiler.h"
#include "runtime/base/status.h"
#include "runtime/hw/grid.h"

namespace ttfd {

// Without `cancelled` and `done`. INVALID_ARGUMENT: a field that is out of its range, or cores outside of the grid.
StatusOr<Profiler::Request> ProfileRequestOf(const ProfileQuery& query, GridSize grid);

}  // namespace ttfd
