// Cuts a region into runs.
#include "runtime/command/region_run.h"

#include <algorithm>

namespace ttfd {

RegionRun RunAt(const Region& region, const CardGeometry& card, uint64_t offset,
                uint64_t max_bytes) {
  RegionRun run;
  run.is_dram = region.kind == MemoryKind::kDram;
  if (region.single_bank >= 0) {
    run.noc_xy = card.BankXy(region.kind, static_cast<uint32_t>(region.single_bank));
    run.address = region.base_address + static_cast<uint32_t>(offset);
    run.length = max_bytes;
    return run;
  }
  const uint64_t page = offset / region.page_bytes;
  const auto in_page = static_cast<uint32_t>(offset % region.page_bytes);
  const uint32_t banks = card.Banks(region.kind);
  const auto bank = static_cast<uint32_t>(page % banks);
  // Whole rounds of banks are folded into the address, because start_page has few bits.
  const uint32_t round =
      region.base_address + static_cast<uint32_t>(page / banks) * region.page_bytes;
  if (in_page == 0 && max_bytes >= region.page_bytes) {
    run.paged = true;
    run.first_bank = bank;
    run.page_bytes = region.page_bytes;
    run.address = round;
    run.length = max_bytes - max_bytes % region.page_bytes;
    return run;
  }
  run.noc_xy = card.BankXy(region.kind, bank);
  run.address = round + in_page;
  run.length = std::min<uint64_t>(max_bytes, region.page_bytes - in_page);
  return run;
}

}  // namespace ttfd
