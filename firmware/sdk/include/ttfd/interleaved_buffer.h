// Buffers whose pages go round the banks: page p lies in bank p % banks, at base + (p / banks) * stride,
// the same base in every bank. The stride is the page size rounded up to 64 in DRAM, to 16 in L1.
#pragma once

#include <stdint.h>
#include <ttfd/noc.h>

namespace ttfd::kernel {

class InterleavedBuffer {
 public:
  constexpr InterleavedBuffer() = default;  // none
  // `base` as the host handed it over; `page_bytes` the buffer's.
  InterleavedBuffer(uint32_t base, uint32_t page_bytes, bool is_dram = true)
      : base_(base),
        page_bytes_(page_bytes),
        stride_(RoundUp(page_bytes, is_dram ? hw::kDramAlignment : hw::kL1Alignment)),
        banks_(firmware::Load(abi::kBankTableAddress + (is_dram
                                                            ? offsetof(abi::BankTable, dram_banks)
                                                            : offsetof(abi::BankTable, l1_banks)))),
        tiles_(abi::kBankTableAddress + (is_dram ? offsetof(abi::BankTable, dram_xy) +
                                                       firmware::kThisNiu * hw::kDramBanks * 2
                                                 : offsetof(abi::BankTable, l1_xy))) {}

  // Where byte `offset` of page `page` is.
  NocAddress Page(uint32_t page, uint32_t offset = 0) const {
    const uint32_t round = page / banks_;
    const uint32_t bank = page - round * banks_;
    return {firmware::LoadHalf(tiles_ + 2 * bank), base_ + round * stride_ + offset};
  }

  uint32_t page_bytes() const { return page_bytes_; }

 private:
  static uint32_t RoundUp(uint32_t value, uint32_t alignment) {
    return (value + alignment - 1) & ~(alignment - 1);
  }

  uint32_t base_ = 0;
  uint32_t page_bytes_ = 0;
  uint32_t stride_ = 0;
  uint32_t banks_ = 0;
  uint32_t tiles_ = 0;  // L1 address of the table of 16-bit NoC coordinates
};

}  // namespace ttfd::kernel
