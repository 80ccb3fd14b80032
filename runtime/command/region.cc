// Where the pages of a region lie.
#include "runtime/command/region.h"

namespace ttfd {
namespace {

uint64_t PagesOf(const Region& region) {
  return DivideRoundUp<uint64_t>(region.size_bytes, region.page_bytes);
}

}  // namespace

PagePlace PlaceOfPage(const Region& region, uint32_t banks, uint64_t page) {
  if (region.single_bank >= 0) return {static_cast<uint32_t>(region.single_bank), page};
  if (region.cores == nullptr) return {static_cast<uint32_t>(page % banks), page / banks};
  const CoreLayout& cores = *region.cores;
  const uint64_t workers = cores.workers.size();
  if (cores.shard_rows == 0) return {cores.workers[page % workers], page / workers};
  const uint64_t row = page / cores.row_pages;
  const uint64_t column = page % cores.row_pages;
  const uint64_t across = DivideRoundUp(cores.row_pages, cores.shard_row_pages);
  const uint64_t shard = row / cores.shard_rows * across + column / cores.shard_row_pages;
  return {cores.workers[shard],
          row % cores.shard_rows * cores.shard_row_pages + column % cores.shard_row_pages};
}

uint64_t SlotsPerBank(const Region& region, uint32_t banks) {
  const uint64_t pages = PagesOf(region);
  if (region.single_bank >= 0) return pages;
  if (region.cores == nullptr) return DivideRoundUp<uint64_t>(pages, banks);
  const CoreLayout& cores = *region.cores;
  if (cores.shard_rows == 0) return DivideRoundUp<uint64_t>(pages, cores.workers.size());
  return uint64_t{cores.shard_rows} * cores.shard_row_pages;
}

uint32_t BanksUsed(const Region& region, uint32_t banks) {
  const uint64_t pages = PagesOf(region);
  if (region.single_bank >= 0) return 1;
  if (region.cores == nullptr) return static_cast<uint32_t>(std::min<uint64_t>(pages, banks));
  const CoreLayout& cores = *region.cores;
  if (cores.shard_rows == 0) {
    return static_cast<uint32_t>(std::min<uint64_t>(pages, cores.workers.size()));
  }
  const uint64_t rows = DivideRoundUp<uint64_t>(pages, cores.row_pages);
  const uint64_t shards = DivideRoundUp<uint64_t>(rows, cores.shard_rows) *
                          DivideRoundUp(cores.row_pages, cores.shard_row_pages);
  return static_cast<uint32_t>(std::min<uint64_t>(shards, UINT32_MAX));
}

bool CopyKeepsUnits(uint32_t from_page, uint64_t from_offset, uint32_t to_page, uint64_t to_offset,
                    uint64_t size) {
  if (from_page % hw::kL1Alignment == 0 && to_page % hw::kL1Alignment == 0) return true;
  if (from_page == to_page && from_offset % from_page == to_offset % to_page) return true;
  return from_offset % from_page + size <= from_page && to_offset % to_page + size <= to_page;
}

}  // namespace ttfd
