// Buffers over banks: the same address range in each bank of a kind (DRAM banks, or the workers'
// L1), found once for all of them.
//
// A buffer that lives in some banks only takes its range in every bank: such buffers are rare or
// small, and one free list keeps interleaved addressing trivial.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/status.h"
#include "runtime/memory/free_list.h"

namespace ttfd {

struct BankSpace {
  std::string name;  // "DRAM", "L1": for messages
  uint32_t banks = 0;
  uint64_t base_address = 0;    // of the range in each bank; multiple of 64
  uint64_t bytes_per_bank = 0;  // multiple of 64; base + bytes <= 2^32
};

struct BankAllocation {
  uint32_t address = 0;     // in each bank
  uint64_t bank_bytes = 0;  // taken in each bank; multiple of 64
  // No allocation has ever had these bytes: they hold what power-on left.
  bool never_used = false;
};

// Not thread-safe.
class BankAllocator {
 public:
  explicit BankAllocator(const BankSpace& space);

  // Room for `bank_bytes` in each bank, rounded up to a multiple of 64. INVALID_ARGUMENT if that is
  // nothing, or RESOURCE_EXHAUSTED with what is left.
  StatusOr<BankAllocation> Allocate(uint64_t bank_bytes);
  // REQUIRES: an allocation of this allocator, freed once.
  void Free(const BankAllocation& allocation);

  const BankSpace& space() const { return space_; }
  uint64_t free_bank_bytes() const { return free_.free_bytes(); }
  uint64_t largest_free_bank_bytes() const { return free_.largest(); }
  // Sum over all banks.
  uint64_t used_bytes() const {
    return (space_.bytes_per_bank - free_.free_bytes()) * space_.banks;
  }

 private:
  const BankSpace space_;
  FreeList free_;
  uint64_t high_water_;  // first address never handed out
};

}  // namespace ttfd
