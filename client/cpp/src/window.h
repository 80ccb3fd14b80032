// The window: what a client may have sent in total since its session began, as the daemon counts
// messages (ServerMessage.window_bytes). Pure arithmetic; not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ttfd::client {

class Window {
 public:
  // Total that may have been sent. The daemon never reduces it; a smaller value is ignored.
  void Advertise(uint64_t window_bytes) { limit_ = std::max(limit_, window_bytes); }
  bool Allows(uint64_t cost) const { return cost <= available(); }
  // REQUIRES: Allows(cost).
  void Charge(uint64_t cost) { used_ += cost; }

  uint64_t available() const { return limit_ - used_; }

 private:
  uint64_t limit_ = 0;
  uint64_t used_ = 0;  // never above limit_
};

}  // namespace ttfd::client
