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
#include "firmware/dispatch/prefetch/niu.h"
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
      : base_(address), bytes_(pages << Ring::kPageShift), limit_(pages) {}

  // One whole command of at most a page, when nothing of it was written before: the common case.
  void WriteCommand(uint32_t from, uint32_t length) {
    if (length > kPageBytes || room_ != 0) {
      Append(from, length);
      Finish();
      return;
    }
    if (limit_ == sent_) {
      Replenish();
    }
    ++sent_;
    WritePiece(from, length);
    Announce(1);
    offset_ += kPageBytes;
    Wrap();
  }

  // Part of a command. `from` and the position within the ring are equal modulo 16.
  [[gnu::noinline]] void Append(uint32_t from, uint32_t length) {
    while (length != 0) {
      if (room_ == 0) {
        const uint32_t pages = Acquire((length + kPageBytes - 1) >> Ring::kPageShift);
        held_ += pages;
        room_ = pages << Ring::kPageShift;
      }
      const uint32_t piece =
          Smaller(Smaller(length, room_), Smaller(bytes_ - offset_, hw::kNocMaxPacketBytes));
      WritePiece(from, piece);
      from += piece, length -= piece;
      offset_ += piece, room_ -= piece;
      Wrap();
    }
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
    offset_ += room_;
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
    if (offset_ == bytes_) {
      offset_ = 0;
    }
  }

  // Takes up to `wanted` pages, at least one.
  uint32_t Acquire(uint32_t wanted) {
    if (limit_ - sent_ < wanted) {
      Replenish();
    }
    const uint32_t pages = Smaller(limit_ - sent_, wanted);
    sent_ += pages;
    return pages;
  }

  [[gnu::noinline]] void Replenish() {
    const uint32_t ring_pages = bytes_ >> Ring::kPageShift;
    limit_ = Load(Ring::kReturned) + ring_pages;
    if (limit_ != sent_) {
      return;
    }
    if (held_ != 0) {  // the other side can return pages only if it knows of them
      Announce(held_);
      held_ = 0;
    }
    const uint32_t full = sent_ - ring_pages;
    WaitForMemory(Ring::kWaypoint, [full] { return Load(Ring::kReturned) != full; });
    limit_ = Load(Ring::kReturned) + ring_pages;
  }

  void WritePiece(uint32_t from, uint32_t length) {
    WriteBuffer::AwaitFree();
    WriteBuffer::Set(hw::kNocTargetLow, from);
    WriteBuffer::Set(hw::kNocReturnLow, base_ + offset_);
    WriteBuffer::Set(hw::kNocLength, length);
    WriteBuffer::Issue();
  }

  // Two command buffers are served independently: the increment is issued when the writes have left.
  void Announce(uint32_t pages) {
    AwaitWritesLeft();
    AtomicBuffer::AwaitFree();
    AtomicBuffer::Set(hw::kNocTargetLow, Ring::kArrived);
    AtomicBuffer::Set(hw::kNocData, pages);
    AtomicBuffer::Issue();
  }

  const uint32_t base_;
  const uint32_t bytes_;
  uint32_t offset_ = 0;  // of the next byte written
  uint32_t room_ = 0;    // bytes behind offset_ in pages acquired
  uint32_t held_ = 0;    // pages acquired by Append and not announced
  uint32_t sent_ = 0;    // pages acquired in all, free-running
  uint32_t limit_;       // pages that may be acquired in all, as last seen
};

}  // namespace ttfd::firmware::prefetch
