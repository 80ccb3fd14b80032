// Buffers over banks.
#include "runtime/memory/bank_allocator.h"

#include <algorithm>

#include "runtime/base/bits.h"
#include "runtime/hw/tensix.h"

namespace ttfd {

BankAllocator::BankAllocator(const BankSpace& space)
    : space_(space),
      free_(space.base_address, space.bytes_per_bank),
      high_water_(space.base_address) {}

StatusOr<BankAllocation> BankAllocator::Allocate(uint64_t size_bytes, uint32_t page_bytes,
                                                 int32_t single_bank) {
  if (size_bytes == 0) return InvalidArgument("a buffer of 0 bytes");
  if (page_bytes == 0 || page_bytes % hw::kDramAlignment != 0) {
    return InvalidArgument("a page of {} bytes; pages are positive multiples of {}", page_bytes,
                           hw::kDramAlignment);
  }
  if (single_bank != kInterleaved &&
      (single_bank < 0 || static_cast<uint32_t>(single_bank) >= space_.banks)) {
    return InvalidArgument("bank {}; {} has banks 0 to {}", single_bank, space_.name,
                           space_.banks - 1);
  }
  const uint64_t capacity = space_.bytes_per_bank * space_.banks;
  // Checked before rounding up, which could otherwise wrap.
  const bool absurd = size_bytes > capacity;
  const uint64_t pages = absurd ? 0 : DivideRoundUp<uint64_t>(size_bytes, page_bytes);
  BankAllocation allocation;
  allocation.bank_bytes = single_bank != kInterleaved
                              ? (absurd ? 0 : AlignUp<uint64_t>(size_bytes, hw::kDramAlignment))
                              : DivideRoundUp<uint64_t>(pages, space_.banks) * page_bytes;
  const auto begin = absurd ? std::nullopt : free_.Take(allocation.bank_bytes);
  if (!begin.has_value()) {
    return Error(StatusCode::kResourceExhausted,
                 "{} bytes of {} in pages of {}: no free range is large enough; the largest holds "
                 "{} bytes in each of {} banks, {} bytes a bank are free in all",
                 size_bytes, space_.name, page_bytes, free_.largest(), space_.banks,
                 free_.free_bytes());
  }
  allocation.address = static_cast<uint32_t>(*begin);
  allocation.pristine = *begin >= high_water_;
  high_water_ = std::max(high_water_, *begin + allocation.bank_bytes);
  return allocation;
}

void BankAllocator::Free(const BankAllocation& allocation) {
  free_.Give(allocation.address, allocation.bank_bytes);
}

}  // namespace ttfd
