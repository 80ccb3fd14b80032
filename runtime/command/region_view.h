// A region with what encoders ask of it worked out: any layout as shards over a list of banks, pages
// merged where they lie one after the other.
//
// Valid as long as the region and the card. Page numbers and sizes are those of the merged pages.
#pragma once

#include <cstdint>

#include "runtime/command/card_geometry.h"
#include "runtime/command/region.h"

namespace ttfd {

class RegionView {
 public:
  RegionView(const Region& region, const CardGeometry& card);

  bool is_dram() const { return region_.kind == MemoryKind::kDram; }
  uint64_t page_bytes() const { return page_bytes_; }
  uint64_t stride() const { return stride_; }
  bool padded() const { return stride_ != page_bytes_; }

  // Pages lie over all banks of the kind, so that WRITE_PAGED can name them; RELAY_PAGED can if they
  // are on multiples of 64 as well.
  bool pages_writable() const { return over_all_banks_; }
  bool pages_readable() const { return over_all_banks_ && on_64_bytes_; }
  uint32_t banks() const { return static_cast<uint32_t>(row_pages_); }  // REQUIRES pages_writable
  uint32_t base_address() const { return region_.base_address; }

  // Pages form rows of row_pages, cut into shards of shard_rows by shard_row_pages.
  uint64_t row_pages() const { return row_pages_; }
  uint64_t shard_rows() const { return shard_rows_; }
  uint64_t shard_row_pages() const { return shard_row_pages_; }

  struct Place {
    uint32_t noc_xy = 0;
    uint32_t address = 0;
  };
  Place PlaceOf(uint64_t page) const;
  // Pages from `page` on, itself included, that lie one after the other in its bank.
  uint64_t ContiguousPages(uint64_t page) const;

 private:
  void MergePages();

  const Region& region_;
  const CardGeometry& card_;
  uint64_t page_bytes_;
  uint64_t stride_;
  bool over_all_banks_;
  bool on_64_bytes_;
  uint64_t row_pages_ = 1;
  uint64_t shard_rows_ = kEndless;
  uint64_t shard_row_pages_ = 1;

  static constexpr uint64_t kEndless = uint64_t{1} << 60;
};

}  // namespace ttfd
