// Hardware windows of 2 MiB, and who uses each at present.
//
// 201 windows are shared by all processes. The pool reserves one when it is first needed, keeps it until the
// device is closed, and reserves at most kMostWindows, so that monitoring tools find some. Beyond that, or when
// the driver has none left, the window used least recently is taken over.
#pragma once

#include <cstdint>
#include <list>

#include "runtime/device/device.h"
#include "runtime/device/kmd/node.h"

namespace ttfd::kmd {

inline constexpr uint32_t kMostWindows = 190;

class WindowClaim;

struct HardwareWindow {
  uint32_t id = 0;
  uint64_t write_combining_offset = 0;
  Mapping uncached = {};
  Mapping write_combining = {};  // mapped with the first bulk write
  bool configured = false;       // is `config` what the hardware has?
  WindowConfig config = {};
  uint64_t last_use = 0;
  WindowClaim* claim = nullptr;  // null: free
};

class WindowPool {
 public:
  explicit WindowPool(Node& node) : node_(node) {}
  ~WindowPool() { Clear(); }
  // Discards every window, of which the descriptor of the node is about to be closed; the claims reserve new ones.
  void Clear();

  // A hardware window that shows the 2 MiB of the claim's target from `base`, a multiple of that, until the next
  // call.
  StatusOr<HardwareWindow*> Show(WindowClaim& claim, uint64_t base);
  Status MapWriteCombining(HardwareWindow& window);

 private:
  StatusOr<HardwareWindow*> Choose();
  // RESOURCE_EXHAUSTED: the driver has none left, or the process cannot map one more.
  StatusOr<HardwareWindow*> Reserve();
  Status Map(uint64_t offset, Mapping* mapping);
  HardwareWindow* LeastUseful();  // null: there is none
  Status Configure(HardwareWindow& window, const WindowConfig& config);

  Node& node_;
  std::list<HardwareWindow> windows_;
  uint64_t uses_ = 0;
};

// The right of one view to a hardware window. Destroyed before the pool.
class WindowClaim {
 public:
  WindowClaim(WindowPool& pool, const WindowTarget& target) : pool_(pool), target_(target) {}
  ~WindowClaim() {
    if (window_ != nullptr) window_->claim = nullptr;
  }
  WindowClaim(const WindowClaim&) = delete;
  WindowClaim& operator=(const WindowClaim&) = delete;

  const WindowTarget& target() const { return target_; }
  WindowPool& pool() const { return pool_; }

 private:
  friend class WindowPool;
  WindowPool& pool_;
  const WindowTarget target_;
  HardwareWindow* window_ = nullptr;  // null: none yet, or taken over
  uint64_t base_ = 0;                 // what window_ shows
};

}  // namespace ttfd::kmd
