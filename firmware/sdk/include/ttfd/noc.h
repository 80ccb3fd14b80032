// Moving data: asynchronous reads, writes and increments over the NoC, and the barriers that wait
// for them.
//
// Alignment: source and destination are equal modulo 16; modulo 64 when reading DRAM. Sizes are not
// limited; a transfer of more than 16 KiB is issued in pieces. Host memory is not reachable from here.
#pragma once

#include <stdint.h>
#include <ttfd/tile.h>

#include "firmware/common/noc.h"

namespace ttfd::kernel {

// An address somewhere on the card.
struct NocAddress {
  uint32_t tile;  // NoC coordinate
  uint32_t address;
};

// Address `address` in the L1 of a worker tile.
inline NocAddress OnTile(Position position, uint32_t address) {
  return {TileAt(position), address};
}

// Byte `address` of DRAM bank `bank`, through the port this hart's NoC prefers.
inline NocAddress OnDramBank(uint32_t bank, uint32_t address) {
  constexpr uint32_t kPorts = abi::kBankTableAddress + offsetof(abi::BankTable, dram_xy) +
                              firmware::kThisNiu * hw::kDramBanks * 2;
  return {firmware::LoadHalf(kPorts + 2 * bank), address};
}

// Reads wait in groups, so that a kernel can work on one group's data while the other's travels.
enum class ReadGroup : uint32_t { kFirst = 0, kSecond = 1 };

namespace internal {

using Buffer = firmware::CommandBuffer<firmware::kThisNiu, firmware::kThisBuffer>;

// Four transaction ids a hart: two groups of reads, writes, increments.
inline constexpr uint32_t kReadId = 4 * firmware::kThisBuffer;
inline constexpr uint32_t kWriteId = kReadId + 2;
inline constexpr uint32_t kAtomicId = kReadId + 3;

// The NIU counts 255 requests of an id at most.
inline constexpr uint32_t kMaxOutstanding = 128;

inline uint32_t Outstanding(uint32_t id) {
  return firmware::NiuCounter<firmware::kThisNiu>(hw::kNocRequestsOutstanding + id);
}

inline void AwaitNone(uint32_t id) {
  Buffer::AwaitFree();
  firmware::WaitUntil(abi::kWaypointNoc, [id] { return Outstanding(id) == 0; });
}

inline void AwaitRoom(uint32_t id) {
  Buffer::AwaitFree();
  firmware::WaitUntil(abi::kWaypointNoc, [id] { return Outstanding(id) < kMaxOutstanding; });
}

// Completes this hart's stores into L1 before the NIU sends the data.
inline void SettleStores(uint32_t address) {
  firmware::Fence();
  firmware::SettleL1(address & ~3u);
}

}  // namespace internal

// Starts to read `bytes` from `from` into this tile's L1.
inline void Read(NocAddress from, uint32_t to, uint32_t bytes,
                 ReadGroup group = ReadGroup::kFirst) {
  using internal::Buffer;
  const uint32_t id = internal::kReadId + static_cast<uint32_t>(group);
  while (bytes != 0) {
    const uint32_t piece = bytes < hw::kNocMaxPacketBytes ? bytes : hw::kNocMaxPacketBytes;
    internal::AwaitRoom(id);
    Buffer::Set(hw::kNocControl, firmware::kReadControl);
    Buffer::Set(hw::kNocPacketTag, firmware::PacketTag(id));
    Buffer::Set(hw::kNocTargetLow, from.address);
    Buffer::Set(hw::kNocTargetMid, 0);
    Buffer::Set(hw::kNocTargetHigh, from.tile);
    Buffer::Set(hw::kNocReturnLow, to);
    Buffer::Set(hw::kNocReturnMid, 0);
    Buffer::Set(hw::kNocReturnHigh, internal::OwnXy());
    Buffer::Set(hw::kNocLength, piece);
    Buffer::Issue();
    from.address += piece, to += piece, bytes -= piece;
  }
}

// Waits until every read of `group` has arrived.
inline void ReadBarrier(ReadGroup group = ReadGroup::kFirst) {
  internal::AwaitNone(internal::kReadId + static_cast<uint32_t>(group));
  firmware::Fence();  // nothing read ahead
}

// Starts to write `bytes` from this tile's L1 to `to`.
inline void Write(uint32_t from, NocAddress to, uint32_t bytes) {
  using internal::Buffer;
  internal::SettleStores(from);
  while (bytes != 0) {
    const uint32_t piece = bytes < hw::kNocMaxPacketBytes ? bytes : hw::kNocMaxPacketBytes;
    internal::AwaitRoom(internal::kWriteId);
    Buffer::Set(hw::kNocControl, firmware::kWriteControl);
    Buffer::Set(hw::kNocPacketTag, firmware::PacketTag(internal::kWriteId));
    Buffer::Set(hw::kNocTargetLow, from);
    Buffer::Set(hw::kNocTargetMid, 0);
    Buffer::Set(hw::kNocTargetHigh, internal::OwnXy());
    Buffer::Set(hw::kNocReturnLow, to.address);
    Buffer::Set(hw::kNocReturnMid, 0);
    Buffer::Set(hw::kNocReturnHigh, to.tile);
    Buffer::Set(hw::kNocLength, piece);
    Buffer::Issue();
    from += piece, to.address += piece, bytes -= piece;
  }
}

// Waits until the L1 that writes were sourced from may be overwritten (they have left this tile).
inline void WritesFlushedBarrier() {
  internal::Buffer::AwaitFree();
  firmware::WaitUntil(abi::kWaypointNoc, [] {
    return firmware::NiuCounter<firmware::kThisNiu>(hw::kNocWritesOutgoing + internal::kWriteId) ==
           0;
  });
}

// Waits until every write has landed.
inline void WriteBarrier() { internal::AwaitNone(internal::kWriteId); }

// Whether every write has landed, without waiting.
inline bool WritesHaveLanded() {
  internal::Buffer::AwaitFree();
  return internal::Outstanding(internal::kWriteId) == 0;
}

// Starts to add `increment` to the word at `to`, 16-byte aligned, in some tile's L1. Ordered behind
// earlier writes of this hart to the same tile.
inline void Increment(NocAddress to, uint32_t increment) {
  using internal::Buffer;
  internal::SettleStores(abi::kNocScratchAddress);
  internal::AwaitRoom(internal::kAtomicId);
  Buffer::Set(hw::kNocControl, firmware::kAtomicControl);
  Buffer::Set(hw::kNocPacketTag, firmware::PacketTag(internal::kAtomicId));
  Buffer::Set(hw::kNocTargetLow, to.address);
  Buffer::Set(hw::kNocTargetMid, 0);
  Buffer::Set(hw::kNocTargetHigh, to.tile);
  Buffer::Set(hw::kNocReturnLow, firmware::AtomicReturnSlot(kHart));
  Buffer::Set(hw::kNocReturnMid, 0);
  Buffer::Set(hw::kNocReturnHigh, internal::OwnXy());
  Buffer::Set(hw::kNocLength, hw::kNocAtomicIncrement);
  Buffer::Set(hw::kNocData, increment);
  Buffer::Issue();
}

// Waits until every increment has been carried out.
inline void IncrementBarrier() { internal::AwaitNone(internal::kAtomicId); }

}  // namespace ttfd::kernel
