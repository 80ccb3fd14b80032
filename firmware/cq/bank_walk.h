// Walks the pages of an interleaved buffer: page p lies in bank p % banks, at base + (p / banks) *
// page size. One division at the start, none per page.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/common/io.h"
#include "runtime/abi/boot_block.h"
#include "runtime/abi/l1_map.h"
#include "runtime/hw/grid.h"

namespace ttfd::firmware {

// `kNiu`: whose preferred DRAM ports to use.
template <uint32_t kNiu>
class BankWalk {
 public:
  BankWalk() = default;
  BankWalk(bool is_dram, uint32_t start_page, uint32_t base, uint32_t page_bytes)
      : page_bytes_(page_bytes) {
    const uint32_t banks =
        Load(abi::kBankTableAddress +
             (is_dram ? offsetof(abi::BankTable, dram_banks) : offsetof(abi::BankTable, l1_banks)));
    begin_ = abi::kBankTableAddress +
             (is_dram ? offsetof(abi::BankTable, dram_xy) + kNiu * hw::kDramBanks * 2
                      : offsetof(abi::BankTable, l1_xy));
    end_ = begin_ + 2 * banks;
    const uint32_t round = start_page / banks;
    address_ = base + round * page_bytes;
    bank_ = begin_ + 2 * (start_page - round * banks);
  }

  uint32_t tile() const { return LoadHalf(bank_); }
  uint32_t address() const { return address_; }

  void Next() {
    bank_ += 2;
    if (bank_ == end_) {
      bank_ = begin_;
      address_ += page_bytes_;
    }
  }

 private:
  uint32_t page_bytes_;
  uint32_t begin_;  // the table of 16-bit coordinates
  uint32_t end_;
  uint32_t bank_;  // entry of the current page's bank
  uint32_t address_;
};

}  // namespace ttfd::firmware
