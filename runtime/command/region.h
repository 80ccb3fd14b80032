// A piece of device memory as pages over banks: what a buffer is once its handle is resolved.
#pragma once

#include <cstdint>

namespace ttfd {

enum class MemoryKind : uint8_t { kDram, kL1 };

// Page p lies in bank (p % banks of the kind) at base_address + (p / banks) * page_bytes. With
// single_bank >= 0 all pages lie one after the other in that bank.
struct Region {
  MemoryKind kind = MemoryKind::kDram;
  int32_t single_bank = -1;
  uint32_t base_address = 0;  // in each bank; multiple of 64
  uint32_t page_bytes = 0;    // multiple of 64
  uint64_t size_bytes = 0;    // of the whole buffer; the last page may be used in part
};

}  // namespace ttfd
