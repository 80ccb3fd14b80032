// RELAY_PAGED: pages of an interleaved buffer, bank after bank.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/cq/bank_walk.h"
#include "firmware/cq/prefetch/relay.h"

namespace ttfd::firmware::prefetch {

class PagedSource {
 public:
  PagedSource(bool is_dram, uint32_t start_page, uint32_t base, uint32_t page_bytes, uint32_t total)
      : walk_(is_dram, start_page, base, page_bytes), page_bytes_(page_bytes), remaining_(total) {
    RelayBuffer::AwaitFree();
    RelayBuffer::Set(hw::kNocTargetMid, 0);
  }

  uint32_t skew() const { return 0; }

  uint32_t Fill(uint32_t scratch, uint32_t room) {
    uint32_t to = scratch;
    uint32_t budget = room < remaining_ ? room : remaining_;
    for (uint32_t reads = kMaxReadsPerHalf; budget != 0 && reads != 0; --reads) {
      uint32_t piece = page_bytes_ - in_page_;
      piece = piece < budget ? piece : budget;
      piece = piece < hw::kNocMaxPacketBytes ? piece : hw::kNocMaxPacketBytes;
      StartRelayRead(walk_.tile(), walk_.address() + in_page_, to, piece);
      to += piece, budget -= piece, in_page_ += piece;
      if (in_page_ == page_bytes_) {
        in_page_ = 0;
        walk_.Next();
      }
    }
    remaining_ -= to - scratch;
    return to - scratch;
  }

 private:
  BankWalk<0> walk_;
  const uint32_t page_bytes_;
  uint32_t in_page_ = 0;  // bytes of the current page already read
  uint32_t remaining_;
};

}  // namespace ttfd::firmware::prefetch
