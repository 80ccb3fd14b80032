// A region with what encoders ask of it worked out.
#include "runtime/command/region_view.h"

#include <algorithm>

namespace ttfd {

RegionView::RegionView(const Region& region, const CardGeometry& card)
    : region_(region),
      card_(card),
      page_bytes_(region.page_bytes),
      stride_(StrideOf(region.kind, region.page_bytes)),
      over_all_banks_(region.single_bank < 0 && region.cores == nullptr),
      on_64_bytes_((stride_ | region.base_address) % hw::kDramAlignment == 0) {
  if (over_all_banks_) {
    row_pages_ = card.Banks(region.kind);
    return;
  }
  if (region.cores != nullptr) {
    const CoreLayout& cores = *region.cores;
    row_pages_ = cores.workers.size();
    if (cores.shard_rows != 0) {
      row_pages_ = cores.row_pages;
      shard_rows_ = cores.shard_rows;
      shard_row_pages_ = cores.shard_row_pages;
    }
  }
  if (!padded()) MergePages();
}

// First the pages of a shard's row, then the rows of a shard as wide as the buffer.
void RegionView::MergePages() {
  if (row_pages_ % shard_row_pages_ != 0) return;
  page_bytes_ *= shard_row_pages_;
  row_pages_ /= shard_row_pages_;
  shard_row_pages_ = 1;
  if (row_pages_ == 1) {
    const uint64_t rows = DivideRoundUp(region_.size_bytes, page_bytes_);
    page_bytes_ *= std::max<uint64_t>(std::min(shard_rows_, rows), 1);
    shard_rows_ = 1;
  }
  stride_ = page_bytes_;
}

RegionView::Place RegionView::PlaceOf(uint64_t page) const {
  const uint64_t row = page / row_pages_;
  const uint64_t column = page % row_pages_;
  const uint64_t across = DivideRoundUp(row_pages_, shard_row_pages_);
  const uint64_t shard = row / shard_rows_ * across + column / shard_row_pages_;
  const uint64_t slot = row % shard_rows_ * shard_row_pages_ + column % shard_row_pages_;
  uint64_t bank = shard;
  if (region_.single_bank >= 0) {
    bank = static_cast<uint64_t>(region_.single_bank);
  } else if (region_.cores != nullptr) {
    bank = region_.cores->workers[shard];
  }
  return {card_.BankXy(region_.kind, static_cast<uint32_t>(bank)),
          region_.base_address + static_cast<uint32_t>(slot * stride_)};
}

uint64_t RegionView::ContiguousPages(uint64_t page) const {
  const uint64_t column = page % row_pages_;
  if (shard_row_pages_ == row_pages_) {
    return (shard_rows_ - page / row_pages_ % shard_rows_) * row_pages_ - column;
  }
  return std::min(shard_row_pages_ - column % shard_row_pages_, row_pages_ - column);
}

}  // namespace ttfd
