// See watchdog.h.
#include "daemon/system/watchdog.h"

namespace ttfd {

bool Watchdog::Look(uint64_t heartbeat, TimePoint now) {
  if (now < next_look_) return false;
  next_look_ = now + interval_;
  if (heartbeat == heartbeat_) return false;
  heartbeat_ = heartbeat;
  return true;
}

}  // namespace ttfd
