// How the dispatcher uses NIU 0, and what it has sent: unicast writes, multicast writes, increments.
#pragma once

#include <stdint.h>

#include "firmware/common/noc.h"

namespace ttfd::firmware::dispatch {

using UnicastBuffer = CommandBuffer<0, 0>;
using MulticastBuffer = CommandBuffer<0, 1>;
using AtomicBuffer = CommandBuffer<0, 2>;  // increments at the prefetch tile

inline constexpr uint32_t kWriteId = 1;
inline constexpr uint32_t kAtomicId = 2;

inline void InitializeNiu() {
  SetNiuRegister();
  UnicastBuffer::InitializeWrite(kWriteControl, kWriteId);
  MulticastBuffer::InitializeWrite(kMulticastControl, kWriteId);
  AtomicBuffer::InitializeAtomic(kAtomicId);
}

inline bool HaveWritesLeft() {
  return UnicastBuffer::free() && MulticastBuffer::free() &&
         NiuCounter<0>(hw::kNocWritesOutgoing + kWriteId) == 0;
}

// The memory that writes were sourced from may be overwritten.
inline void AwaitWritesLeft() {
  UnicastBuffer::AwaitFree();
  MulticastBuffer::AwaitFree();
  AwaitNiuCounterZero<0, hw::kNocWritesOutgoing + kWriteId>();
}

// Writes and the acknowledgements they ask for: one each, a multicast one a receiver. The hart is the
// only user of its NIU.
//
// That all have landed is read from the 32-bit count of acknowledgements. That all have been flushed, sent
// from L1, is read from a count of 8 bits, which must not come round to zero with 256 under way; so unicasts wait
// for it once in 128. Multicasts begin after a barrier, and a linked transaction has fewer packets than that:
// kMaxLinkedPackets in write_packed_large.h. The 8-bit count of unacknowledged requests is not used here:
// it wraps, and multicasts upset it (tt-isa-documentation BlackholeA0/NoC/Counters.md).
class Writes {
 public:
  // Counters survive a soft reset: begin with what they say.
  Writes() : expected_acks_(NiuCounter<0>(hw::kNocWriteAcks)) {}

  // Every write has landed.
  void Barrier() const {
    UnicastBuffer::AwaitFree();
    MulticastBuffer::AwaitFree();
    const uint32_t expected = expected_acks_;
    WaitUntil(abi::kWaypointNoc,
              [expected] { return NiuCounter<0>(hw::kNocWriteAcks) == expected; });
  }

  // Where the next unicast goes; the buffer is free then. Between commands the high half of the address is zero.
  static void SetUnicastTile(uint32_t tile) {
    UnicastBuffer::AwaitFree();
    UnicastBuffer::Set(hw::kNocReturnHigh, tile);
  }
  static void SetUnicastTarget(uint32_t tile, uint32_t address_high) {
    UnicastBuffer::AwaitFree();
    UnicastBuffer::Set(hw::kNocReturnHigh, tile);
    UnicastBuffer::Set(hw::kNocReturnMid, address_high);
  }
  static void ClearUnicastHigh() {
    UnicastBuffer::AwaitFree();
    UnicastBuffer::Set(hw::kNocReturnMid, 0);
  }

  // After SetUnicast...(): at most 16 KiB, from this tile's L1.
  void Unicast(uint32_t from, uint32_t to_low, uint32_t bytes) {
    UnicastBuffer::Set(hw::kNocTargetLow, from);
    UnicastBuffer::Set(hw::kNocReturnLow, to_low);
    UnicastBuffer::Set(hw::kNocLength, bytes);
    UnicastBuffer::Set(hw::kNocTargetHigh, OwnXy());
    UnicastBuffer::Issue();
    if (++expected_acks_ % kMaxUnicastsOutgoing == 0) [[unlikely]] {
      AwaitWritesLeft();
    }
  }

  // One packet to a rectangle. Unless it continues a linked transaction (`linked_before`), every
  // earlier write has been acknowledged first; `linked` keeps the path for the next packet, which then
  // goes to the same rectangle.
  void Multicast(uint32_t from, uint32_t rectangle, uint32_t receivers, uint32_t to, uint32_t bytes,
                 bool linked_before, bool linked) {
    if (!linked_before) {
      Barrier();
    } else {
      MulticastBuffer::AwaitFree();
    }
    MulticastBuffer::Set(hw::kNocControl,
                         linked ? kMulticastControl | hw::kNocLinked : kMulticastControl);
    MulticastBuffer::Set(hw::kNocTargetLow, from);
    MulticastBuffer::Set(hw::kNocReturnLow, to);
    MulticastBuffer::Set(hw::kNocReturnHigh, rectangle);
    MulticastBuffer::Set(hw::kNocTargetHigh, OwnXy());
    MulticastBuffer::Set(hw::kNocLength, bytes);
    MulticastBuffer::Issue();
    expected_acks_ += receivers;
  }

 private:
  static constexpr uint32_t kMaxUnicastsOutgoing = 128;

  uint32_t expected_acks_;
};

}  // namespace ttfd::firmware::dispatch
