// The card's memory as sessions share it: DRAM and L1 allocators behind one mutex, allocations that
// give themselves back.
#pragma once

#include <memory>

#include "daemon/api/errors.h"
#include "daemon/api/reply.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status.h"
#include "runtime/card/card.h"
#include "runtime/command/region.h"
#include "runtime/memory/bank_allocator.h"

namespace ttfd {

class DeviceMemory;

// The session whose kernels may access memory of the card, and its handle of it. Session 0: none.
struct MemoryOwner {
  uint64_t session = 0;
  uint64_t handle = 0;
};

// Owns a range of the card. Gives it back when it dies, on whatever thread that is.
class DeviceAllocation {
 public:
  DeviceAllocation() = default;
  DeviceAllocation(DeviceMemory* memory, MemoryKind kind, const BankAllocation& range)
      : memory_(memory), kind_(kind), range_(range) {}
  DeviceAllocation(DeviceAllocation&& other) noexcept { *this = std::move(other); }
  DeviceAllocation& operator=(DeviceAllocation&& other) noexcept;
  ~DeviceAllocation();

  bool valid() const { return memory_ != nullptr; }
  uint32_t address() const { return range_.address; }
  // Holds zeros, as the card has it after power on.
  bool zero() const { return range_.never_used; }

 private:
  DeviceMemory* memory_ = nullptr;
  MemoryKind kind_ = MemoryKind::kDram;
  BankAllocation range_;
};

// Thread-safe. Outlives every allocation.
class DeviceMemory {
 public:
  // `zero_after_power_on`: what was never allocated holds zeros. `bounds`, which may be null, gets every allocation
  // that has an owner; it outlives this.
  DeviceMemory(const CardDescription& card, bool zero_after_power_on, KernelBounds* bounds);

  // As BankAllocator::Allocate.
  StatusOr<DeviceAllocation> Allocate(MemoryKind kind, uint64_t bank_bytes,
                                      const MemoryOwner& owner) ABSL_LOCKS_EXCLUDED(mu_);
  // The error for a client when Allocate failed with `status`.
  ErrorReply OutOfMemory(MemoryKind kind, const Status& status, const char* field) const
      ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<MemoryUseReply> Use() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  friend class DeviceAllocation;
  void Free(MemoryKind kind, const BankAllocation& range) ABSL_LOCKS_EXCLUDED(mu_);

  const bool zero_after_power_on_;
  KernelBounds* const bounds_;
  mutable Mutex mu_;
  BankAllocator dram_ ABSL_GUARDED_BY(mu_);
  BankAllocator l1_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ttfd
