// EXEC_BUF: reads a buffer of prefetch commands in DRAM through the command ring, ahead of execution.
//
//   buffer in DRAM | executed | being executed | read ahead ........ | not asked for |
//   command ring   [ block 2  | block 3        | block 0  | block 1  ]
//
// The ring is four blocks, each read under a transaction id of its own. A block that has been executed
// is filled again once the writes sourced from it have left. Blocks and pages need not agree: a page may
// go into two blocks.
#pragma once

#include <stdint.h>

#include "firmware/common/boot.h"
#include "firmware/common/wait.h"
#include "firmware/cq/bank_walk.h"
#include "firmware/cq/prefetch/niu.h"
#include "firmware/cq/prefetch/relay.h"
#include "firmware/cq/prefetch/span.h"
#include "runtime/abi/prefetch_commands.h"
#include "runtime/abi/rings.h"

namespace ttfd::firmware::prefetch {

class ExecBuffer {
 public:
  static constexpr uint32_t kBlocks = 4;

  ExecBuffer() : ring_(TTFD_BOOT(command_ring_address)) {
    const uint32_t quarter = TTFD_BOOT(command_ring_bytes) / kBlocks & ~(abi::kEntryAlignment - 1);
    block_bytes_ = quarter < kMaxBlockBytes ? quarter : kMaxBlockBytes;
  }

  bool active() const { return active_; }
  uint32_t bytes() const { return bytes_; }

  // Nothing else may be in the ring. Returns the first commands once they are there.
  Span Begin(uint32_t base, uint32_t page_shift, uint32_t pages) {
    AwaitWritesLeft();  // of the entry that lies where the blocks go
    const uint32_t page_bytes = 1u << page_shift;
    walk_ = BankWalk<0>(true, 0, base, page_bytes);
    page_left_ = page_bytes;
    page_bytes_ = page_bytes;
    unread_ = pages << page_shift;
    bytes_ = unread_;
    position_ = 0;
    current_ = 0;
    active_ = true;
    RelayBuffer::AwaitFree();
    RelayBuffer::Set(hw::kNocTargetMid, 0);
    for (uint32_t block = 0; block != kBlocks; ++block) {
      Fill(block);
    }
    return Current();
  }

  // All of the current block is executed: goes on to the next. An empty span: there is none.
  [[gnu::noinline]] Span Next() {
    AwaitWritesLeft();
    RelayBuffer::AwaitFree();
    RelayBuffer::Set(hw::kNocTargetMid, 0);
    Fill(current_);
    position_ += block_bytes_;
    current_ = (current_ + 1) % kBlocks;
    return position_ < bytes_ ? Current() : Span{0, 0};
  }

  // Waits for data that was read ahead for nothing: it must have arrived before the ring is used for something else.
  void End() {
    for (uint32_t block = 0; block != kBlocks; ++block) {
      AwaitRelayId(kExecId + block);
    }
    active_ = false;
  }

  // Where in the buffer the byte at `at`, in the current block, comes from.
  uint32_t OffsetOf(uint32_t at) const { return position_ + (at - Address(current_)); }
  // How many bytes the buffer has from there on.
  uint32_t LeftAt(uint32_t at) const { return bytes_ - OffsetOf(at); }

 private:
  // The NIU counts 255 reads of one transaction id; a block has one a page and one more.
  static constexpr uint32_t kMaxBlockBytes = 64 * 1024;
  static_assert(kMaxBlockBytes / (1u << abi::kMinExecPageShift) + 1 < 256);

  uint32_t Address(uint32_t block) const { return ring_ + block * block_bytes_; }

  Span Current() {
    AwaitRelayId(kExecId + current_);
    Fence();  // what the hart may have loaded from there before
    const uint32_t begin = Address(current_);
    const uint32_t left = bytes_ - position_;
    return {begin, begin + (left < block_bytes_ ? left : block_bytes_)};
  }

  void Fill(uint32_t block) {
    uint32_t to = Address(block);
    uint32_t room = unread_ < block_bytes_ ? unread_ : block_bytes_;
    unread_ -= room;
    SetRelayId(kExecId + block);
    while (room != 0) {
      const uint32_t piece = room < page_left_ ? room : page_left_;
      StartRelayRead(walk_.tile(), walk_.address() + (page_bytes_ - page_left_), to, piece);
      to += piece, room -= piece, page_left_ -= piece;
      if (page_left_ == 0) {
        page_left_ = page_bytes_;
        walk_.Next();
      }
    }
  }

  const uint32_t ring_;
  uint32_t block_bytes_;
  BankWalk<0> walk_;         // the page that is read next
  uint32_t page_bytes_ = 0;  // of a page
  uint32_t page_left_ = 0;   // bytes of that page not asked for
  uint32_t unread_ = 0;      // bytes of the buffer not asked for
  uint32_t bytes_ = 0;       // of the buffer
  uint32_t position_ = 0;    // in the buffer, of the current block's first byte
  uint32_t current_ = 0;     // block being executed
  bool active_ = false;
};

}  // namespace ttfd::firmware::prefetch
