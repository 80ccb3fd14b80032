// One direction of a link to a worker of a neighbouring chip: its sender, or its receiver. runtime/abi/link.h has the
// protocol and why it is safe.
//
// A direction has one sender hart and one receiver hart, which alone use queue 0 of the sender's Ethernet tile and
// queue 1 of the receiver's.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/common/link_tile.h"
#include "runtime/abi/link.h"

namespace ttfd::firmware {

// Sends segments. `end`: address of the LinkEnd, which is connected.
class LinkSender {
 public:
  [[gnu::always_inline]] explicit LinkSender(uint32_t end)
      : end_(end), tile_(end), sent_(Load(end + offsetof(abi::LinkEnd, sent))) {
    const uint32_t slot = sent_ % abi::kLinkSlots;
    slot_ = abi::kLinkTransmitAddress + slot * abi::kLinkSlotBytes;
    doorbell_ = abi::LinkDoorbellAddress(slot);
  }

  // Are all slots taken by segments without a credit?
  [[gnu::always_inline]] bool full() const {
    return sent_ - Load(end_ + offsetof(abi::LinkEnd, credits)) >= abi::kLinkSlots;
  }
  [[gnu::always_inline]] void AwaitSpace() const {
    const uint32_t sent = sent_, credits = end_ + offsetof(abi::LinkEnd, credits);
    WaitForMemory(abi::kWaypointLinkSpace,
                  [sent, credits] { return sent - Load(credits) < abi::kLinkSlots; });
  }

  // Before the kernel ends: waits until what it has written to the Ethernet tile has arrived.
  [[gnu::always_inline]] void AwaitCommands() const { tile_.AwaitPuts(); }

  // Sends `bytes` (1 to kLinkSlotBytes) at `from` in this tile's L1, a multiple of 16; they may be overwritten
  // afterwards. REQUIRES space.
  [[gnu::always_inline]] void Send(uint32_t from, uint32_t bytes) {
    Fence();  // this hart's stores to the segment are in L1 before the NIU reads it
    SettleL1(from & ~3u);
    Copy(from, slot_, bytes);
    Data::AwaitFree();
    AwaitNiuCounterZero<kThisNiu, hw::kNocRequestsOutstanding + LinkBuffers::kWriteId>();
    tile_.AwaitQueue();
    tile_.PutFirst(hw::kEthTransmitStart, slot_);
    const uint32_t size = (bytes + 15) & ~15u;
    if (size != size_) tile_.Put(hw::kEthTransmitSize, size_ = size);
    constexpr uint32_t kToFar = abi::kLinkReceiveAddress - abi::kLinkTransmitAddress;
    tile_.Put(hw::kEthTransmitDestination, slot_ + kToFar);
    tile_.Put(hw::kEthTransmitCommand, hw::kEthWriteL1);
    tile_.Ring(doorbell_);
    Store(end_ + offsetof(abi::LinkEnd, sent), ++sent_);
    slot_ += abi::kLinkSlotBytes;
    doorbell_ += hw::kNiuCommandBufferStride;
    if (slot_ == kHalf) doorbell_ = abi::LinkDoorbellAddress(hw::kNiuCommandBuffers);
    if (slot_ == abi::kLinkReceiveAddress) {
      slot_ = abi::kLinkTransmitAddress;
      doorbell_ = abi::LinkDoorbellAddress(0);
    }
  }

 private:
  using Data = LinkBuffers::Data;
  // Address of the slot whose doorbell is the first of NIU 1.
  static constexpr uint32_t kHalf =
      abi::kLinkTransmitAddress + hw::kNiuCommandBuffers * abi::kLinkSlotBytes;

  [[gnu::always_inline]] void Copy(uint32_t from, uint32_t to, uint32_t bytes) const {
    for (;;) {
      const uint32_t part = bytes < hw::kNocMaxPacketBytes ? bytes : hw::kNocMaxPacketBytes;
      Data::AwaitFree();
      Data::Set(hw::kNocControl, kWriteControl);
      Data::Set(hw::kNocPacketTag, PacketTag(LinkBuffers::kWriteId));
      Data::Set(hw::kNocTargetLow, from);
      Data::Set(hw::kNocTargetHigh, tile_.own_xy());
      Data::Set(hw::kNocReturnLow, to);
      Data::Set(hw::kNocReturnHigh, tile_.tile_xy());
      Data::Set(hw::kNocLength, part);
      Data::Issue();
      if (part == bytes) return;
      from += part, to += part, bytes -= part;
    }
  }

  const uint32_t end_;
  const LinkTile<0> tile_;
  uint32_t sent_;
  uint32_t slot_;      // address of the next, in the near tile
  uint32_t doorbell_;  // address of its doorbell, in the far tile
  uint32_t size_ = 0;  // in the queue's register; 0: unknown
};

// Receives segments. `end`: address of the LinkEnd, which is connected.
class LinkReceiver {
 public:
  [[gnu::always_inline]] explicit LinkReceiver(uint32_t end)
      : end_(end), tile_(end), taken_(Load(end + offsetof(abi::LinkEnd, taken))) {
    slot_ = abi::kLinkReceiveAddress + taken_ % abi::kLinkSlots * abi::kLinkSlotBytes;
  }

  // Has no segment arrived that was not taken?
  [[gnu::always_inline]] bool empty() const {
    return Load(end_ + offsetof(abi::LinkEnd, arrived)) == taken_;
  }
  [[gnu::always_inline]] void Await() const {
    const uint32_t taken = taken_, arrived = end_ + offsetof(abi::LinkEnd, arrived);
    WaitForMemory(abi::kWaypointLink, [taken, arrived] { return Load(arrived) != taken; });
  }

  // As of LinkSender.
  [[gnu::always_inline]] void AwaitCommands() const { tile_.AwaitPuts(); }

  // Takes the first `bytes` (1 to kLinkSlotBytes) of the next segment to `to` in this tile's L1, a multiple of 16, and
  // returns its slot. REQUIRES a segment.
  [[gnu::always_inline]] void Take(uint32_t to, uint32_t bytes) {
    Copy(address(), to, bytes);
    Data::AwaitFree();
    AwaitNiuCounterZero<kThisNiu, hw::kNocRequestsOutstanding + LinkBuffers::kReadId>();
    Fence();
    Return();
  }

  // Place of the next segment in the L1 of tile_xy(): the caller reads it from there, and calls Return() when the reads
  // have been answered.
  [[gnu::always_inline]] uint32_t address() const { return slot_; }
  [[gnu::always_inline]] uint32_t tile_xy() const { return tile_.tile_xy(); }

  // The slot of the next segment is the sender's again.
  [[gnu::always_inline]] void Return() {
    Store(end_ + offsetof(abi::LinkEnd, taken), ++taken_);
    slot_ += abi::kLinkSlotBytes;
    if (slot_ == kMiddle) {
      tile_.Ring(abi::LinkDoorbellAddress(abi::kLinkCreditDoorbell));
    } else if (slot_ == kEnd) {
      tile_.Ring(abi::LinkDoorbellAddress(abi::kLinkCreditDoorbell + 1));
      slot_ = abi::kLinkReceiveAddress;
    }
  }

 private:
  using Data = LinkBuffers::Data;
  static constexpr uint32_t kMiddle =
      abi::kLinkReceiveAddress + abi::kLinkCreditSlots * abi::kLinkSlotBytes;
  static constexpr uint32_t kEnd = abi::kLinkReceiveAddress + abi::kLinkSlots * abi::kLinkSlotBytes;

  [[gnu::always_inline]] void Copy(uint32_t from, uint32_t to, uint32_t bytes) const {
    for (;;) {
      const uint32_t part = bytes < hw::kNocMaxPacketBytes ? bytes : hw::kNocMaxPacketBytes;
      Data::AwaitFree();
      Data::Set(hw::kNocControl, kReadControl);
      Data::Set(hw::kNocPacketTag, PacketTag(LinkBuffers::kReadId));
      Data::Set(hw::kNocTargetLow, from);
      Data::Set(hw::kNocTargetHigh, tile_.tile_xy());
      Data::Set(hw::kNocReturnLow, to);
      Data::Set(hw::kNocReturnHigh, tile_.own_xy());
      Data::Set(hw::kNocLength, part);
      Data::Issue();
      if (part == bytes) return;
      from += part, to += part, bytes -= part;
    }
  }

  const uint32_t end_;
  const LinkTile<1> tile_;
  uint32_t taken_;
  uint32_t slot_;  // address of the next, in the near tile
};

}  // namespace ttfd::firmware
