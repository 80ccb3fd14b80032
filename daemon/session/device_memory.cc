// The card's memory as sessions share it.
#include "daemon/session/device_memory.h"

#include <utility>

namespace ttfd {

DeviceAllocation& DeviceAllocation::operator=(DeviceAllocation&& other) noexcept {
  if (this != &other) {
    if (memory_ != nullptr) memory_->Free(kind_, range_);
    memory_ = std::exchange(other.memory_, nullptr);
    kind_ = other.kind_;
    range_ = other.range_;
  }
  return *this;
}

DeviceAllocation::~DeviceAllocation() {
  if (memory_ != nullptr) memory_->Free(kind_, range_);
}

namespace {

KernelBounds::Range RangeOf(MemoryKind kind, const BankAllocation& range) {
  const auto memory =
      kind == MemoryKind::kDram ? KernelBounds::Memory::kDram : KernelBounds::Memory::kL1;
  return {memory, range.address, range.address + range.bank_bytes};
}

}  // namespace

DeviceMemory::DeviceMemory(const CardDescription& card, bool zero_after_power_on,
                           KernelBounds* bounds)
    : zero_after_power_on_(zero_after_power_on),
      bounds_(bounds),
      dram_({"DRAM", card.dram_banks, card.dram_base, card.dram_bank_bytes}),
      l1_({"L1", card.grid.x * card.grid.y, card.l1_base, card.l1_bytes}) {}

StatusOr<DeviceAllocation> DeviceMemory::Allocate(MemoryKind kind, uint64_t bank_bytes,
                                                  const MemoryOwner& owner) {
  MutexLock lock(&mu_);
  BankAllocator& allocator = kind == MemoryKind::kDram ? dram_ : l1_;
  ASSIGN_OR_RETURN(BankAllocation range, allocator.Allocate(bank_bytes));
  range.never_used = range.never_used && zero_after_power_on_;
  if (bounds_ != nullptr && owner.session != 0) {
    bounds_->Add(RangeOf(kind, range), owner.session, owner.handle);
  }
  return DeviceAllocation(this, kind, range);
}

void DeviceMemory::Free(MemoryKind kind, const BankAllocation& range) {
  MutexLock lock(&mu_);
  if (bounds_ != nullptr) bounds_->Remove(RangeOf(kind, range));
  (kind == MemoryKind::kDram ? dram_ : l1_).Free(range);
}

ErrorReply DeviceMemory::OutOfMemory(MemoryKind kind, const Status& status,
                                     const char* field) const {
  if (status.code() != StatusCode::kResourceExhausted) {
    return InvalidError(field, "{}", StatusMessage(status));
  }
  const MemoryUseReply use = Use()[kind == MemoryKind::kDram ? 0 : 1];
  return LimitError(field, kind == MemoryKind::kDram ? "device_dram_bytes" : "device_l1_bytes",
                    use.total_bytes, use.used_bytes, std::string(StatusMessage(status)));
}

// DRAM over all banks, L1 in each worker: as the API counts them.
std::vector<MemoryUseReply> DeviceMemory::Use() const {
  MutexLock lock(&mu_);
  const auto in_each = [](const BankAllocator& allocator) {
    return allocator.space().bytes_per_bank - allocator.free_bank_bytes();
  };
  const uint64_t banks = dram_.space().banks;
  return {
      {MemoryKind::kDram, in_each(dram_) * banks, dram_.space().bytes_per_bank * banks,
       dram_.largest_free_bank_bytes() * banks},
      {MemoryKind::kL1, in_each(l1_), l1_.space().bytes_per_bank, l1_.largest_free_bank_bytes()}};
}

}  // namespace ttfd
