// Where the pages of a region lie, told naively: by dealing them out one by one. And regions of every
// layout to try.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/command/region.h"
#include "tests/support/random.h"

namespace ttfd {

class RegionReference {
 public:
  struct Page {
    uint32_t bank = 0;
    uint64_t address = 0;
  };

  RegionReference(const Region& region, uint32_t banks)
      : page_bytes_(region.page_bytes),
        pages_((region.size_bytes + region.page_bytes - 1) / region.page_bytes),
        step_((uint64_t{region.page_bytes} + alignment(region) - 1) / alignment(region) *
              alignment(region)),
        base_(region.base_address) {
    if (region.cores != nullptr && region.cores->shard_rows > 0) {
      Shard(*region.cores);
      return;
    }
    std::vector<uint32_t> order;
    if (region.single_bank >= 0) {
      order = {static_cast<uint32_t>(region.single_bank)};
    } else if (region.cores != nullptr) {
      order = region.cores->workers;
    } else {
      for (uint32_t bank = 0; bank < banks; ++bank) order.push_back(bank);
    }
    for (size_t page = 0; page < pages_.size(); ++page) Deal(page, order[page % order.size()]);
  }

  size_t pages() const { return pages_.size(); }
  const Page& page(size_t index) const { return pages_[index]; }
  // Bank and address of a byte of the region.
  std::pair<uint32_t, uint64_t> At(uint64_t offset) const {
    const Page& page = pages_[offset / page_bytes_];
    return {page.bank, page.address + offset % page_bytes_};
  }

 private:
  static uint64_t alignment(const Region& region) {
    return region.kind == MemoryKind::kDram ? 64 : 16;
  }
  void Deal(size_t page, uint32_t bank) { pages_[page] = {bank, base_ + next_[bank]++ * step_}; }
  // Shard by shard, slot by slot; a slot may have no page.
  void Shard(const CoreLayout& cores) {
    size_t shard = 0;
    for (size_t top = 0; top * cores.row_pages < pages_.size(); top += cores.shard_rows) {
      for (size_t left = 0; left < cores.row_pages; left += cores.shard_row_pages, ++shard) {
        uint64_t slot = 0;
        for (size_t row = top; row < top + cores.shard_rows; ++row) {
          for (size_t column = left; column < left + cores.shard_row_pages; ++column, ++slot) {
            const size_t page = row * cores.row_pages + column;
            if (column >= cores.row_pages || page >= pages_.size()) continue;
            pages_[page] = {cores.workers.at(shard), base_ + slot * step_};
          }
        }
      }
    }
  }

  const uint64_t page_bytes_;
  std::vector<Page> pages_;
  const uint64_t step_;
  const uint64_t base_;
  std::map<uint32_t, uint64_t> next_;
};

enum class Layout {
  kDramInterleaved,
  kDramBank,
  kL1Interleaved,
  kL1Worker,
  kL1Cores,
  kHeightSharded,
  kWidthSharded,
  kBlockSharded,
};
inline constexpr Layout kLayouts[] = {
    Layout::kDramInterleaved, Layout::kDramBank,      Layout::kL1Interleaved, Layout::kL1Worker,
    Layout::kL1Cores,         Layout::kHeightSharded, Layout::kWidthSharded,  Layout::kBlockSharded,
};

// A region of this layout, at address 0: `size_bytes` in pages of `page_bytes`, over some of `workers`
// workers, which have to be enough for the shards (12 are).
inline Region MakeRegion(Layout layout, uint32_t page_bytes, uint64_t size_bytes, uint32_t workers,
                         Random& random) {
  Region region;
  region.page_bytes = page_bytes;
  region.size_bytes = size_bytes;
  if (layout == Layout::kDramInterleaved) return region;
  if (layout == Layout::kDramBank) {
    region.single_bank = static_cast<int32_t>(random() % 7);
    return region;
  }
  region.kind = MemoryKind::kL1;
  if (layout == Layout::kL1Interleaved) return region;
  if (layout == Layout::kL1Worker) {
    region.single_bank = static_cast<int32_t>(random() % workers);
    return region;
  }
  auto cores = std::make_shared<CoreLayout>();
  for (uint32_t worker = 0; worker < workers; ++worker) cores->workers.push_back(worker);
  for (uint32_t left = workers; left > 1; --left) {
    std::swap(cores->workers[left - 1], cores->workers[random() % left]);
  }
  const uint32_t pages = static_cast<uint32_t>((size_bytes + page_bytes - 1) / page_bytes);
  const uint32_t across = layout == Layout::kHeightSharded ? 1 : 1 + random() % 4;
  const uint32_t down = layout == Layout::kWidthSharded ? 1 : 1 + random() % 3;
  cores->workers.resize(layout == Layout::kL1Cores ? 1 + random() % workers : across * down);
  if (layout != Layout::kL1Cores) {
    cores->row_pages = 1 + random() % std::max(1u, std::min(pages, 40u));
    cores->shard_row_pages = (cores->row_pages + across - 1) / across;
    const uint32_t rows = (pages + cores->row_pages - 1) / cores->row_pages;
    cores->shard_rows = (rows + down - 1) / down;
  }
  region.cores = std::move(cores);
  return region;
}

// A random range of at most `most` bytes, of whole units if asked.
inline std::pair<uint64_t, uint64_t> RandomRange(const Region& region, uint64_t most, bool units,
                                                 Random& random) {
  const auto down = [&](uint64_t at) {
    return units && at < region.size_bytes ? at - at % region.page_bytes % 16 : at;
  };
  for (;;) {
    const uint64_t begin = down(random() % region.size_bytes);
    const uint64_t end = down(std::min(begin + 1 + random() % most, region.size_bytes));
    if (begin < end) return {begin, end - begin};
  }
}

}  // namespace ttfd
