// Fills a ring of the dispatch tile: pages are acquired, written, announced.
//
//   | returned ... free ... |  sent, not returned  | room |
//                                                  ^ offset: the next byte written
//
// A command starts on a page. Its pages are announced by one increment on the static VC of the writes
// in front of it, so they are there when the increment is. A transfer may be longer than the ring: then
// what is written is announced before more pages are waited for.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/common/boot.h"
#include "firmware/common/wait.h"
#include "firmware/cq/prefetch/niu.h"
#include "runtime/abi/control_block.h"
#include "runtime/abi/rings.h"

namespace ttfd::firmware::prefetch {

struct DispatchRing {
  static constexpr uint32_t kPageShift = 12;
  static constexpr uint32_t kWaypoint = abi::kWaypointCredit;
  static constexpr uint32_t kReturned =
      abi::kControlBlockAddress + offsetof(abi::ControlBlock, dispatch_pages_returned);
  static constexpr uint32_t kArrived =
      abi::kControlBlockAddress + offsetof(abi::ControlBlock, dispatch_pages_arrived);
};
static_assert(1u << DispatchRing::kPageShift == abi::kDispatchPageBytes);

struct DispatchSRing {
  static constexpr uint32_t kPageShift = 8;
  static constexpr uint32_t kWaypoint = abi::kWaypointCreditS;
  static constexpr uint32_t kReturned =
      abi::kControlBlockAddress + offsetof(abi::ControlBlock, dispatch_s_pages_returned);
  static constexpr uint32_t kArrived =
      abi::kControlBlockAddress + offsetof(abi::ControlBlock, dispatch_s_pages_arrived);
};
static_assert(1u << DispatchSRing::kPageShift == abi::kDispatchSPageBytes);

template <typename Ring>
class RingWriter {
 public:
  RingWriter(uint32_t address, uint32_t pages)
      : base_(address),
        end_(address + (pages << Ring::kPageShift)),
        to_(address),
        limit_(pages),
        left_(pages) {}

  // One whole command. The common case is one of at most a page, when nothing of it was written before;
  // then the write buffer is free, since whoever used it last awaited that.
  [[gnu::always_inline]] void WriteCommand(uint32_t from, uint32_t length) {
    if (length > kPageBytes || left_ == 0) [[unlikely]] {
      Append(from, length);
      Finish();
      return;
    }
    --left_;
    IssueWrite(from, length);
    Announce(1);
    to_ += kPageBytes;
    Wrap();
  }

  // Part of a command. `from` and the position within the ring are equal modulo 16.
  [[gnu::noinline]] void Append(uint32_t from, uint32_t length) {
    left_ += set_aside_;
    set_aside_ = 0;
    while (length != 0) {
      if (room_ == 0) {
        const uint32_t pages = Acquire((length + kPageBytes - 1) >> Ring::kPageShift);
        held_ += pages;
        room_ = pages << Ring::kPageShift;
      }
      const uint32_t piece =
          Smaller(Smaller(length, room_), Smaller(end_ - to_, hw::kNocMaxPacketBytes));
      WriteBuffer::AwaitFree();
      IssueWrite(from, piece);
      from += piece, length -= piece;
      to_ += piece, room_ -= piece;
      Wrap();
    }
  }

  // The next command is the rest of this one.
  void LeaveOpen() {
    WriteBuffer::AwaitFree();
    set_aside_ = left_;
    left_ = 0;
  }

  // Lets the other side see the pages that are full.
  [[gnu::noinline]] void AnnounceFull() {
    const uint32_t full = room_ == 0 ? held_ : held_ - 1;
    if (full != 0) {
      Announce(full);
      held_ -= full;
    }
  }

  // The command is complete: announces the rest, goes on at the next page.
  [[gnu::noinline]] void Finish() {
    to_ += room_;
    room_ = 0;
    Wrap();
    if (held_ != 0) {
      Announce(held_);
      held_ = 0;
    }
  }

 private:
  static constexpr uint32_t kPageBytes = 1u << Ring::kPageShift;

  static uint32_t Smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

  void Wrap() {
    if (to_ == end_) [[unlikely]] {
      to_ = base_;
    }
  }

  // Takes up to `wanted` pages, at least one.
  uint32_t Acquire(uint32_t wanted) {
    if (left_ < wanted) {
      Replenish();
    }
    const uint32_t pages = Smaller(left_, wanted);
    left_ -= pages;
    return pages;
  }

  [[gnu::noinline]] void Replenish() {
    const uint32_t ring_pages = (end_ - base_) >> Ring::kPageShift;
    const uint32_t sent = limit_ - left_;
    limit_ = Load(Ring::kReturned) + ring_pages;
    if (limit_ == sent) {
      if (held_ != 0) {  // the other side can return pages only if it knows of them
        Announce(held_);
        held_ = 0;
      }
      const uint32_t full = sent - ring_pages;
      WaitForMemory(Ring::kWaypoint, [full] { return Load(Ring::kReturned) != full; });
      limit_ = Load(Ring::kReturned) + ring_pages;
    }
    left_ = limit_ - sent;
  }

  void IssueWrite(uint32_t from, uint32_t length) {
    const uint32_t dispatch = TTFD_BOOT(dispatch_xy);
    WriteBuffer::Set(hw::kNocTargetLow, from);
    WriteBuffer::Set(hw::kNocReturnLow, to_);
    WriteBuffer::Set(hw::kNocLength, length);
    WriteBuffer::Set(hw::kNocTargetHigh, OwnXy());
    WriteBuffer::Set(hw::kNocReturnHigh, dispatch);
    WriteBuffer::Issue();
  }

  // Two command buffers are served independently: the increment is issued when the writes have left.
  static void Announce(uint32_t pages) {
    AwaitWritesLeft();
    AtomicIncrement<0, 1>(TTFD_BOOT(dispatch_xy), Ring::kArrived, pages);
  }

  const uint32_t base_;
  const uint32_t end_;
  uint32_t to_;             // where the next byte is written
  uint32_t room_ = 0;       // bytes behind to_ in pages acquired
  uint32_t held_ = 0;       // pages acquired by Append and not announced
  uint32_t limit_;          // pages that may be acquired in all, free-running, as last seen
  uint32_t left_;           // of them
  uint32_t set_aside_ = 0;  // of them, while a command is open: WriteCommand must not take them
};

}  // namespace ttfd::firmware::prefetch
