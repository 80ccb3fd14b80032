// Rectangles of a lease.
#include "daemon/core/lease_workers.h"

#include "daemon/api/errors.h"

namespace ttfd {

StatusOr<TileSet> LeasedWorkers(const LeaseRequest& request, GridSize grid) {
  TileSet workers;
  if (request.devices.size() > 1 && !request.workers.empty()) {
    return ToStatus(InvalidError("hello.lease.workers",
                                 "some workers of {} devices; a lease of several devices is of all "
                                 "their workers",
                                 request.devices.size()));
  }
  for (const CoreRange& range : request.workers) {
    if (range.x0 > range.x1 || range.y0 > range.y1 || range.x1 >= grid.x || range.y1 >= grid.y) {
      return ToStatus(InvalidError("hello.lease.workers",
                                   "({},{})-({},{}) is no rectangle of the {} x {} workers",
                                   range.x0, range.y0, range.x1, range.y1, grid.x, grid.y));
    }
    const TileSet tiles = TilesOf(range, grid);
    if ((workers & tiles).any()) {
      return ToStatus(InvalidError("hello.lease.workers",
                                   "({},{})-({},{}) overlaps another; name each worker once",
                                   range.x0, range.y0, range.x1, range.y1));
    }
    workers |= tiles;
  }
  if (workers.count() == size_t{grid.x} * grid.y) workers.reset();
  return workers;
}

}  // namespace ttfd
