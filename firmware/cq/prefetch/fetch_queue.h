// The fetch queue: takes the host's slots in order, reads the entries they stand for from the issue
// ring into the command ring, one entry ahead of the one being executed.
//
//   host memory  | issue ring ....[entry k+1][entry k+2]... |      slots: sizes / 16, 0 = empty
//   L1           | command ring ..[entry k, executed][entry k+1, arriving].. |
//
// Both rings place an entry by abi::PlaceEntry: contiguous, never over the end.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/common/boot.h"
#include "firmware/common/wait.h"
#include "firmware/cq/prefetch/niu.h"
#include "firmware/cq/prefetch/span.h"
#include "runtime/abi/control_block.h"
#include "runtime/abi/rings.h"

namespace ttfd::firmware::prefetch {

class FetchQueue {
 public:
  FetchQueue()
      : slots_(TTFD_BOOT(fetch_queue_address)),
        slots_end_(slots_ + 2 * TTFD_BOOT(fetch_queue_entries)),
        issue_low_(TTFD_BOOT(issue_ring_low)),
        issue_bytes_(TTFD_BOOT(issue_ring_bytes)),
        ring_(TTFD_BOOT(command_ring_address)),
        ring_bytes_(TTFD_BOOT(command_ring_bytes)),
        slot_(slots_) {}

  // Waits for the next entry, and starts to read the one behind it unless the host asked that nothing
  // be fetched before this one is executed, or there is no room.
  Span Take() {
    if (next_bytes_ == 0) {
      const uint32_t slot_address = slot_;
      if (LoadHalf(slot_address) == 0) {
        Publish();
      }
      WaitForMemory(abi::kWaypointFetch, [slot_address] { return LoadHalf(slot_address) != 0; });
      StartRead(LoadHalf(slot_address), ring_bytes_, ring_bytes_);
    }
    const Span entry = {ring_ + next_begin_, ring_ + next_begin_ + next_bytes_};
    FetchBuffer::AwaitFree();
    AwaitAnswers(kFetchId);
    Fence();
    Store(kEntriesFetched, ++entries_fetched_);
    const uint32_t live_begin = next_begin_;
    const uint32_t live_end = next_begin_ + next_bytes_;
    next_bytes_ = 0;
    if (next_stalls_) [[unlikely]] {
      Publish();
      return entry;
    }
    if ((entries_fetched_ & abi::kFetchedUnpublished) == 0) [[unlikely]] {
      Publish();
    }
    const uint32_t slot = LoadHalf(slot_);
    if (slot != 0) {
      StartRead(slot, live_begin, live_end);
    }
    return entry;
  }

  // The entry taken last has the stall bit: nothing behind it was asked for, the ring is its alone.
  bool stalls() const { return next_bytes_ == 0 && next_stalls_; }

  // The command ring was used for something else and is empty.
  void ForgetRing() { ring_position_ = 0; }

 private:
  // Writes the count to the host, which need not read it from here. The slots of the entries are cleared, and the fence
  // before the count was stored is behind that. The word may be under way already: it is true whenever it is read.
  [[gnu::noinline]] static void Publish() {
    SettleL1(kEntriesFetched);
    PointerBuffer::AwaitFree();
    PointerBuffer::Set(hw::kNocTargetHigh, OwnXy());
    PointerBuffer::Set(hw::kNocReturnHigh, TTFD_BOOT(pcie_xy));
    PointerBuffer::Issue();
  }

  // Reads the entry of `slot`, unless it would overwrite [live_begin, live_end) of the command ring.
  void StartRead(uint32_t slot, uint32_t live_begin, uint32_t live_end) {
    const uint32_t bytes = (slot & ~abi::kFetchSlotStall) << abi::kFetchSlotUnitShift;
    if (bytes == 0 || bytes % abi::kEntryAlignment != 0 || bytes > ring_bytes_ / 2 ||
        bytes > issue_bytes_) [[unlikely]] {
      Fault(abi::kFaultBadLength, 0, bytes, ring_bytes_ / 2);
    }
    const uint32_t begin = abi::PlaceEntry(ring_position_, bytes, ring_bytes_);
    if (begin < live_end && begin + bytes > live_begin) {
      return;
    }
    AwaitWritesLeft();  // of the entry that was here before
    const uint32_t issue = abi::PlaceEntry(issue_position_, bytes, issue_bytes_);
    StoreHalf(slot_, 0);
    slot_ += 2;
    if (slot_ == slots_end_) {
      slot_ = slots_;
    }
    ring_position_ = begin + bytes;
    issue_position_ = issue + bytes;
    next_begin_ = begin;
    next_bytes_ = bytes;
    next_stalls_ = (slot & abi::kFetchSlotStall) != 0;
    ReadIssueRing(issue, ring_ + begin, bytes);
  }

  void ReadIssueRing(uint32_t position, uint32_t to, uint32_t bytes) {
    uint32_t low = issue_low_ + position;
    for (;;) {
      const uint32_t piece = bytes < hw::kNocMaxPacketBytes ? bytes : hw::kNocMaxPacketBytes;
      const uint32_t pcie = TTFD_BOOT(pcie_xy);
      FetchBuffer::AwaitFree();
      FetchBuffer::Set(hw::kNocTargetLow, low);
      FetchBuffer::Set(hw::kNocReturnLow, to);
      FetchBuffer::Set(hw::kNocLength, piece);
      FetchBuffer::Set(hw::kNocTargetHigh, pcie);
      FetchBuffer::Set(hw::kNocReturnHigh, OwnXy());
      FetchBuffer::Issue();
      bytes -= piece;
      if (bytes == 0) {
        return;
      }
      to += piece;
      low += piece;
    }
  }

  const uint32_t slots_;
  const uint32_t slots_end_;
  const uint32_t issue_low_;
  const uint32_t issue_bytes_;
  const uint32_t ring_;
  const uint32_t ring_bytes_;
  uint32_t slot_;                // the next slot to take
  uint32_t issue_position_ = 0;  // behind the last entry taken
  uint32_t ring_position_ = 0;   // likewise in the command ring
  uint32_t next_begin_ = 0;      // the entry being read; in the command ring
  uint32_t next_bytes_ = 0;      // 0: none
  bool next_stalls_ = false;
  uint32_t entries_fetched_ = 0;
};

}  // namespace ttfd::firmware::prefetch
