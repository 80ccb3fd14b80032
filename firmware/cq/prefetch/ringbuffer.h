// PAGED_TO_RINGBUFFER, SET_RINGBUFFER_OFFSET, RELAY_RINGBUFFER: data that is read from DRAM once and
// relayed often, from this tile's L1.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/common/boot.h"
#include "firmware/cq/bank_walk.h"
#include "firmware/cq/prefetch/relay.h"
#include "runtime/abi/prefetch_commands.h"
#include "runtime/hw/grid.h"

namespace ttfd::firmware::prefetch {

class Ringbuffer {
 public:
  Ringbuffer() : address_(TTFD_BOOT(ringbuffer_address)), bytes_(TTFD_BOOT(ringbuffer_bytes)) {}

  uint32_t bytes() const { return bytes_; }
  uint32_t write_pointer() const { return write_pointer_; }

  void SetOffset(uint32_t offset, bool update_write_pointer) {
    offset_ = offset;
    if (update_write_pointer) {
      write_pointer_ = offset;
    }
  }

  // Starts the reads; who relays waits for them. All was checked but what depends on the ring buffer.
  void Read(uint32_t page_shift, uint32_t start_page, uint32_t base, uint32_t length,
            uint32_t advance) {
    // Waits for transfers of the data that lay there before: reads to the same place and writes from it.
    AwaitArrived();
    AwaitWritesLeft();
    offset_ = write_pointer_;
    uint32_t to = address_ + write_pointer_;
    write_pointer_ += advance;
    const uint32_t page_bytes = 1u << page_shift;
    BankWalk<0> walk(true, start_page, base, page_bytes);
    RelayBuffer::Set(hw::kNocTargetMid, 0);
    SetRelayId(kRingbufferId);
    uint32_t in_page = 0;
    for (uint32_t reads = 0; length != 0;) {
      uint32_t piece = page_bytes - in_page;
      piece = piece < length ? piece : length;
      piece = piece < hw::kNocMaxPacketBytes ? piece : hw::kNocMaxPacketBytes;
      if (++reads % kMaxReadsPerHalf == 0) {
        AwaitArrived();
      }
      StartRelayRead(walk.tile(), walk.address() + in_page, to, piece);
      to += piece, length -= piece, in_page += piece;
      if (in_page == page_bytes) {
        in_page = 0;
        walk.Next();
      }
    }
  }

  static void AwaitArrived() { AwaitRelayId(kRingbufferId); }

  // Bytes [start, start + length) from the offset lie in the ring buffer.
  bool Holds(uint32_t start, uint32_t length) const {
    const uint32_t behind = bytes_ - offset_;
    return start <= behind && length <= behind - start;
  }
  uint32_t AddressOf(uint32_t start) const { return address_ + offset_ + start; }

 private:
  const uint32_t address_;
  const uint32_t bytes_;
  uint32_t write_pointer_ = 0;
  uint32_t offset_ = 0;
};

}  // namespace ttfd::firmware::prefetch
