#include "runtime/device/device.h"

#include <algorithm>

namespace ttfd {

Status CheckTarget(const WindowTarget& target) {
  if (!target.multicast && !(target.start == target.end)) {
    return InvalidArgument("a unicast window has one tile, not ({},{}) to ({},{})", target.start.x,
                           target.start.y, target.end.x, target.end.y);
  }
  constexpr uint32_t kCoordinateEnd = 64;
  if (std::max({target.start.x, target.start.y, target.end.x, target.end.y}) >= kCoordinateEnd) {
    return InvalidArgument("coordinates have 6 bits: ({},{}) to ({},{})", target.start.x,
                           target.start.y, target.end.x, target.end.y);
  }
  return OkStatus();
}

}  // namespace ttfd
