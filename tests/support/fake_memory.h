// The memory of a fake card, in which regions lie as on a card. Pages are made when they are first touched.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "runtime/command/region.h"
#include "runtime/hw/grid.h"

namespace ttfd {

class FakeMemory {
 public:
  FakeMemory(uint32_t dram_banks, GridSize grid) : dram_banks_(dram_banks), grid_(grid) {}

  std::string Peek(const Region& region, uint64_t offset, uint64_t size) {
    std::string bytes(size, '\0');
    for (uint64_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(At(region, offset + i));
    return bytes;
  }
  void Poke(const Region& region, uint64_t offset, const std::string& bytes) {
    for (uint64_t i = 0; i < bytes.size(); ++i)
      At(region, offset + i) = static_cast<std::byte>(bytes[i]);
  }

 private:
  std::byte& At(const Region& region, uint64_t offset) {
    const uint32_t banks = region.kind == MemoryKind::kDram ? dram_banks_ : grid_.x * grid_.y;
    const PagePlace place = PlaceOfPage(region, banks, offset / region.page_bytes);
    const uint64_t address = region.base_address +
                             place.slot * StrideOf(region.kind, region.page_bytes) +
                             offset % region.page_bytes;
    return pages_[{static_cast<uint64_t>(region.kind), place.bank, address / 4096}][address % 4096];
  }

  const uint32_t dram_banks_;
  const GridSize grid_;
  std::map<std::array<uint64_t, 3>, std::array<std::byte, 4096>> pages_;  // by kind, bank, page
};

}  // namespace ttfd
