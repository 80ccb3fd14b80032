// The ARC's telemetry table: values that a card's firmware publishes, by tag.
#pragma once

#include <map>

#include "runtime/device/device.h"

namespace ttfd {

// Where the values are. Constant from one reset of the chip to the next.
class Telemetry {
 public:
  // Reads the table; `arc` looks at the ARC tile. UNAVAILABLE: the card's firmware has not finished booting;
  // FAILED_PRECONDITION: the table has another version.
  static StatusOr<Telemetry> Find(Window& arc);

  bool Has(uint32_t tag) const { return addresses_.contains(tag); }
  // One load of 4 bytes. NOT_FOUND: the firmware does not report the tag.
  StatusOr<uint32_t> Read(Window& arc, uint32_t tag) const;

 private:
  std::map<uint32_t, uint64_t> addresses_;  // of values, by tag
};

}  // namespace ttfd
