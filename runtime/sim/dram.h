// The DRAM banks: 4 GiB each, mapped when a bank is first touched, zero after power-on.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/hw/grid.h"
#include "runtime/sim/sparse_memory.h"

namespace ttfd::sim {

class Dram {
 public:
  // Null when the address space for the bank is not to be had.
  std::byte* bank(uint32_t index) {
    SparseMemory& memory = banks_[index];
    if (memory.data() == nullptr) [[unlikely]] {
      StatusOr<SparseMemory> mapped = SparseMemory::Map(hw::kDramBankBytes);
      if (!mapped.ok()) return nullptr;
      memory = std::move(mapped).value();
    }
    return memory.data();
  }

 private:
  std::array<SparseMemory, hw::kDramBanks> banks_;
};

}  // namespace ttfd::sim
