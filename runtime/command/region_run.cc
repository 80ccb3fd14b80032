// Cuts a region into runs.
#include "runtime/command/region_run.h"

#include <algorithm>

namespace ttfd {

RegionRun RunAt(const RegionView& region, uint64_t offset, uint64_t max_bytes, RunRules rules) {
  const uint64_t page_bytes = region.page_bytes();
  const uint64_t page = offset / page_bytes;
  const uint64_t in_page = offset % page_bytes;
  const bool across_pages = !region.padded() || rules.padding;
  const uint64_t whole = across_pages && in_page == 0 ? max_bytes / page_bytes : 0;
  RegionRun run;
  run.is_dram = region.is_dram();
  if (whole > 0 && (rules.reads ? region.pages_readable() : region.pages_writable())) {
    run.paged = true;
    run.first_bank = static_cast<uint32_t>(page % region.banks());
    run.stride = static_cast<uint32_t>(region.stride());
    // Whole rounds of banks are folded into the address, because start_page has few bits.
    run.address = region.base_address() + static_cast<uint32_t>(page / region.banks()) * run.stride;
    run.length = whole * page_bytes;
    run.stored_bytes = whole * region.stride();
    return run;
  }
  const RegionView::Place place = region.PlaceOf(page);
  run.noc_xy = place.noc_xy;
  run.address = place.address + static_cast<uint32_t>(in_page);
  if (!region.padded()) {
    const uint64_t pages = std::min(region.ContiguousPages(page), max_bytes / page_bytes + 2);
    run.length = run.stored_bytes = std::min(max_bytes, pages * page_bytes - in_page);
  } else if (whole > 0) {
    const uint64_t pages = std::min(region.ContiguousPages(page), whole);
    run.length = pages * page_bytes;
    run.stored_bytes = pages * region.stride();
  } else {
    run.length = run.stored_bytes = std::min(max_bytes, page_bytes - in_page);
  }
  return run;
}

}  // namespace ttfd
