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

StatusOr<BankAllocation> BankAllocator::Allocate(uint64_t bank_bytes) {
  if (bank_bytes == 0) return InvalidArgument("a buffer of 0 bytes");
  // Checked before rounding up, which could otherwise wrap.
  const bool absurd = bank_bytes > space_.bytes_per_bank;
  BankAllocation allocation;
  allocation.bank_bytes = absurd ? 0 : AlignUp<uint64_t>(bank_bytes, hw::kDramAlignment);
  const auto begin = absurd ? std::nullopt : free_.Take(allocation.bank_bytes);
  if (!begin.has_value()) {
    return Error(StatusCode::kResourceExhausted,
                 "{} bytes in a bank of {}: no free range is large enough; the largest holds {} "
                 "bytes in each of {} banks, {} bytes a bank are free in all",
                 bank_bytes, space_.name, free_.largest(), space_.banks, free_.free_bytes());
  }
  allocation.address = static_cast<uint32_t>(*begin);
  allocation.never_used = *begin >= high_water_;
  high_water_ = std::max(high_water_, *begin + allocation.bank_bytes);
  return allocation;
}

void BankAllocator::Free(const BankAllocation& allocation) {
  free_.Give(allocation.address, allocation.bank_bytes);
}

}  // namespace ttfd
