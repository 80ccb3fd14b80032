// Looks for faults of harts on a card that does not report them, such as silicon.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/boot/boot_plan.h"
#include "runtime/device/device.h"

namespace ttfd {

// While a host waits and nothing happens, reads the state words of all harts: after kFirst, then at intervals that
// double up to kLongest. That takes some 700 PCIe reads: less than a millisecond.
class FaultWatch {
 public:
  static constexpr Duration kFirst = std::chrono::milliseconds(20);
  static constexpr Duration kLongest = std::chrono::seconds(1);

  // All outlive this. `plans` are those of the booted card whenever Look is called.
  FaultWatch(Device& device, Clock& clock, std::span<const BootPlan> plans)
      : device_(device), clock_(clock), plans_(plans) {}

  // The host begins to wait for something else.
  void Restart() { next_ = TimePoint(); }
  // Called after each poll for completions. `restart`: as Restart. FAILED_PRECONDITION: a hart reports a fault, which
  // the message names. Does nothing where the device reports quiescence: that ends the wait for a hart that has
  // stopped.
  Status Look(bool restart);

 private:
  // `harts`: how many of the tile run.
  Status CheckTile(hw::Coordinate tile, std::string_view role, uint32_t harts);
  Status CheckCard();

  Device& device_;
  Clock& clock_;
  const std::span<const BootPlan> plans_;
  TimePoint next_;  // look; the epoch: nothing was waited for since Restart
  Duration wait_ = kFirst;
};

}  // namespace ttfd
