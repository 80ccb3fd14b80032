// Checks the query and fills in defaults.
#include "daemon/core/profile_query.h"

#include "daemon/api/errors.h"
#include "runtime/command/tile_set.h"

namespace ttfd {

StatusOr<Profiler::Request> ProfileRequestOf(const ProfileQuery& query, GridSize grid) {
  const auto check = [](const char* field, uint32_t value, uint32_t least,
                        uint32_t most) -> Status {
    if (value == 0 || (value >= least && value <= most)) return OkStatus();
    return ToStatus(InvalidError(field, "{}; {} to {} are allowed", value, least, most));
  };
  RETURN_IF_ERROR(check("duration_ms", query.duration_ms, 1, ProfileQuery::kMaxMs));
  RETURN_IF_ERROR(check("interval_clocks", query.interval_clocks, ProfileQuery::kMinClocks,
                        ProfileQuery::kMaxClocks));
  RETURN_IF_ERROR(
      check("interval_us", query.interval_us, ProfileQuery::kMinUs, ProfileQuery::kMaxUs));
  if (query.cores.size() > ProfileQuery::kMaxRanges) {
    return ToStatus(InvalidError("cores", "{} ranges; at most {} are allowed", query.cores.size(),
                                 ProfileQuery::kMaxRanges));
  }
  Profiler::Request request;
  for (const CoreRange& range : query.cores) {
    if (range.x0 > range.x1 || range.y0 > range.y1 || range.x1 >= grid.x || range.y1 >= grid.y) {
      return ToStatus(InvalidError("cores",
                                   "({},{}) to ({},{}) is no rectangle of the {} x {} grid",
                                   range.x0, range.y0, range.x1, range.y1, grid.x, grid.y));
    }
    request.options.workers |= TilesOf(range, grid);
  }
  const auto given = [](uint32_t value, uint32_t other) { return value == 0 ? other : value; };
  request.duration = std::chrono::milliseconds(given(query.duration_ms, ProfileQuery::kDefaultMs));
  request.options.interval_clocks = given(query.interval_clocks, ProfileQuery::kDefaultClocks);
  request.options.snapshot_interval =
      std::chrono::microseconds(given(query.interval_us, ProfileQuery::kDefaultUs));
  request.options.snapshots = query.snapshots;
  request.options.idle = query.idle;
  return request;
}

}  // namespace ttfd
