// Cuts a region into runs: pieces that one WRITE_LINEAR / RELAY_LINEAR or WRITE_PAGED / RELAY_PAGED
// can name.
#pragma once

#include <cstdint>

#include "runtime/command/card_geometry.h"
#include "runtime/command/region.h"

namespace ttfd {

struct RegionRun {
  bool paged = false;
  bool is_dram = false;
  uint32_t noc_xy = 0;      // linear: the bank's tile
  uint32_t first_bank = 0;  // paged: bank of the first page
  uint32_t page_bytes = 0;  // paged
  uint32_t address = 0;     // linear: first byte; paged: base of the first page's round
  uint64_t length = 0;      // paged: a multiple of page_bytes
};

// The longest run from `offset` on, at most `max_bytes` long: whole pages where `offset` begins one
// and at least one fits, else what is left of the page. REQUIRES max_bytes > 0.
RegionRun RunAt(const Region& region, const CardGeometry& card, uint64_t offset,
                uint64_t max_bytes);

}  // namespace ttfd
