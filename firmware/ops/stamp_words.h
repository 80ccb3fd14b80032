// Common words of the kernel of the family stamp; words.h has what all families have in common.
#pragma once

#include <stdint.h>

#include "firmware/ops/words.h"

namespace ttfd::ops {

// Writes the tile's clock, 64 bits, into page `index` of the output. Circular buffer 0 has kStampBytes, and up to 63
// for their alignment.
struct Stamp {
  Cores cores;  // one
  uint32_t address;
  uint32_t index;
};

inline constexpr uint32_t kStampBytes = 64;  // of a page, of which the first 8 are written

}  // namespace ttfd::ops
