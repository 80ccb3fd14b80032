// Cuts a region into runs, ascending: pieces that one WRITE_LINEAR / RELAY_LINEAR or WRITE_PAGED /
// RELAY_PAGED can name. Copies use it; transfers with the host gather instead (transfer_pieces.h).
#pragma once

#include <cstdint>

#include "runtime/command/region_view.h"

namespace ttfd {

struct RegionRun {
  bool paged = false;
  bool is_dram = false;
  uint32_t noc_xy = 0;      // linear: the bank's tile
  uint32_t first_bank = 0;  // paged: bank of the first page
  uint32_t stride = 0;      // paged: from page to page
  uint32_t address = 0;     // linear: first byte; paged: base of the first page's round
  uint64_t length = 0;      // bytes of the region
  uint64_t stored_bytes =
      0;  // bytes of memory, those between pages included; paged: of whole slots
};

struct RunRules {
  bool reads = false;    // else writes
  bool padding = false;  // may take bytes between pages along
};

// The longest run from `offset` on, at most `max_bytes` long: whole pages where `offset` begins one
// and at least one fits, else what is left of the page. REQUIRES max_bytes > 0.
RegionRun RunAt(const RegionView& region, uint64_t offset, uint64_t max_bytes, RunRules rules);

}  // namespace ttfd
