// The memory of a fake card.
#include "tests/support/fake_memory.h"

namespace ttfd {

std::string FakeMemory::Peek(const Region& region, uint64_t offset, uint64_t size) {
  std::string bytes(size, '\0');
  for (uint64_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(At(region, offset + i));
  return bytes;
}

void FakeMemory::Poke(const Region& region, uint64_t offset, const std::string& bytes) {
  for (uint64_t i = 0; i < bytes.size(); ++i)
    At(region, offset + i) = static_cast<std::byte>(bytes[i]);
}

std::byte& FakeMemory::At(const Region& region, uint64_t offset) {
  const uint32_t banks = region.kind == MemoryKind::kDram ? dram_banks_ : grid_.x * grid_.y;
  const PagePlace place = PlaceOfPage(region, banks, offset / region.page_bytes);
  const uint64_t address = region.base_address +
                           place.slot * StrideOf(region.kind, region.page_bytes) +
                           offset % region.page_bytes;
  return pages_[{static_cast<uint64_t>(region.kind), place.bank, address / 4096}][address % 4096];
}

}  // namespace ttfd
