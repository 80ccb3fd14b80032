// The workers that a client wants to lease.
#pragma once

#include "daemon/api/request.h"
#include "runtime/base/status.h"
#include "runtime/command/tile_set.h"

namespace ttfd {

// None: all workers. INVALID_ARGUMENT: not a rectangle of the grid, or one that overlaps another; some workers of
// several devices.
StatusOr<TileSet> LeasedWorkers(const LeaseRequest& request, GridSize grid);

}  // namespace ttfd
