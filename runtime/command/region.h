// A piece of device memory as pages over banks: what a buffer is once its handle is resolved.
//
// Memory is counted in the buffer's own bytes (`offset`): page p holds [p * page_bytes, (p + 1) *
// page_bytes). On the card a page takes a slot of StrideOf bytes; a bank's slots lie one after the
// other from the same base address in every bank. What lies between the end of a page and the next
// slot belongs to the buffer and means nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/bits.h"
#include "runtime/hw/tensix.h"

namespace ttfd {

enum class MemoryKind : uint8_t { kDram, kL1 };

// The largest page: its stride and addresses in it fit 32 bits.
inline constexpr uint32_t kMaxPageBytes = 0xFFFFFFC0;

// Alignment of slots and base addresses: what a NoC read of that memory can begin at.
constexpr uint32_t SlotAlignment(MemoryKind kind) {
  return kind == MemoryKind::kDram ? hw::kDramAlignment : hw::kL1Alignment;
}

// L1 of some workers only. Pages form rows of `row_pages`; shards of shard_rows by shard_row_pages of
// them go to the workers in order, row by row of shards. shard_rows 0: interleaved, page p lies in
// workers[p % n], which is shards one page wide and as high as need be.
struct CoreLayout {
  std::vector<uint32_t> workers;  // banks of kL1, in the order the pages go over them
  uint32_t row_pages = 0;
  uint32_t shard_rows = 0;
  uint32_t shard_row_pages = 0;
};

// Without `cores`, page p lies in bank p % banks of the kind, or, with single_bank >= 0, all pages lie
// in that bank.
struct Region {
  MemoryKind kind = MemoryKind::kDram;
  int32_t single_bank = -1;
  uint32_t base_address = 0;  // in each bank; multiple of SlotAlignment
  uint32_t page_bytes = 0;    // 1 to kMaxPageBytes
  uint64_t size_bytes = 0;    // of the whole buffer; the last page may be used in part
  std::shared_ptr<const CoreLayout> cores = nullptr;
};

// Bytes a page takes in its bank.
constexpr uint32_t StrideOf(MemoryKind kind, uint32_t page_bytes) {
  return AlignUp(page_bytes, SlotAlignment(kind));
}

// Where page `page` lies: its slot begins at base_address + slot * StrideOf. `banks`: of the kind.
struct PagePlace {
  uint32_t bank = 0;
  uint64_t slot = 0;
};
PagePlace PlaceOfPage(const Region& region, uint32_t banks, uint64_t page);

// Slots that the bank with the most of them needs, and the banks that hold any: the first so many of
// the region's banks.
uint64_t SlotsPerBank(const Region& region, uint32_t banks);
uint32_t BanksUsed(const Region& region, uint32_t banks);

// Writes, fills and copies touch whole units of 16 bytes, counted from the start of each page; the last
// unit of a page or buffer may be shorter. True where such a unit begins or ends.
constexpr bool IsUnitBoundary(uint32_t page_bytes, uint64_t size_bytes, uint64_t offset) {
  return offset == size_bytes || offset % page_bytes % hw::kL1Alignment == 0;
}

// Bytes from `offset` to the last boundary that is at most `most` (at least 16) away: where a transfer
// that begins at a boundary may be cut.
constexpr uint64_t CutAtUnit(uint32_t page_bytes, uint64_t offset, uint64_t most) {
  return most - (offset + most) % page_bytes % hw::kL1Alignment;
}

// How much of a large transfer one command should move: less where most of what travels is padding.
constexpr uint64_t SliceLimit(MemoryKind kind, uint32_t page_bytes, uint64_t most) {
  return most <= page_bytes ? most : most * page_bytes / StrideOf(kind, page_bytes);
}

// Can the card copy `size` bytes between these offsets? It moves units of 16 bytes and cannot shift
// bytes within them: true if both page sizes are multiples of 16, or are equal and both ranges begin
// at the same place in their page, or each range lies in one page. The ranges keep IsUnitBoundary.
bool CopyKeepsUnits(uint32_t from_page, uint64_t from_offset, uint32_t to_page, uint64_t to_offset,
                    uint64_t size);

}  // namespace ttfd
