// RELAY_PAGED_PACKED: stretches of interleaved DRAM buffers, one after the other.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/cq/bank_walk.h"
#include "firmware/cq/prefetch/relay.h"
#include "runtime/abi/prefetch_commands.h"
#include "runtime/hw/grid.h"

namespace ttfd::firmware::prefetch {

// Reads of DRAM keep the address modulo 64, and what is written on starts where the stretch before
// ended. So a half of scratch takes several stretches as long as they are multiples of 64, and a new half
// begins behind one that is not. A stretch fits a half (the command's check).
class PagedPackedSource {
 public:
  // `list`: address of the sub-commands.
  PagedPackedSource(uint32_t list, uint32_t count)
      : target_(list), targets_end_(list + count * sizeof(abi::RelayPagedPackedTarget)) {
    RelayBuffer::AwaitFree();
    RelayBuffer::Set(hw::kNocTargetMid, 0);
  }

  uint32_t skew() const { return 0; }

  uint32_t Fill(uint32_t scratch, uint32_t room) {
    uint32_t to = scratch;
    const uint32_t end = scratch + room;
    for (uint32_t reads = kMaxReadsPerHalf; reads != 0;) {
      if (stretch_left_ == 0 && !NextStretch()) {
        break;
      }
      uint32_t piece = page_bytes_ - in_page_;
      piece = piece < stretch_left_ ? piece : stretch_left_;
      piece = piece < hw::kNocMaxPacketBytes ? piece : hw::kNocMaxPacketBytes;
      piece = piece < end - to ? piece : end - to;
      if (piece == 0) {
        break;
      }
      StartRelayRead(walk_.tile(), walk_.address() + in_page_, to, piece);
      to += piece, stretch_left_ -= piece, in_page_ += piece, --reads;
      if (in_page_ == page_bytes_) {
        in_page_ = 0;
        walk_.Next();
      }
      if (to % hw::kDramAlignment != 0) {
        break;
      }
    }
    return to - scratch;
  }

 private:
  bool NextStretch() {
    if (target_ == targets_end_) {
      return false;
    }
    const uint32_t word = Load(target_);
    page_bytes_ = 1u << (word >> 16);
    const uint32_t base = Load(target_ + offsetof(abi::RelayPagedPackedTarget, base_address));
    stretch_left_ = Load(target_ + offsetof(abi::RelayPagedPackedTarget, length));
    walk_ = BankWalk<0>(true, word & 0xFFFF, base, page_bytes_);
    in_page_ = 0;
    target_ += sizeof(abi::RelayPagedPackedTarget);
    return true;
  }

  uint32_t target_;
  const uint32_t targets_end_;
  BankWalk<0> walk_;
  uint32_t page_bytes_ = 0;
  uint32_t in_page_ = 0;       // bytes of the current page already read
  uint32_t stretch_left_ = 0;  // bytes of the current stretch not read
};

}  // namespace ttfd::firmware::prefetch
