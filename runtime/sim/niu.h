// One network interface unit of a Tensix tile: four command buffers, configuration, status
// counters.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/hw/noc.h"
#include "runtime/sim/fault.h"

namespace ttfd::sim {

// The registers of a command buffer that matter when it is issued, one word for every 4 bytes of
// their offsets.
class NocCommand {
 public:
  // The register at `offset`, or null if there is none that holds a value.
  uint32_t* Register(uint32_t offset) {
    const uint32_t index = offset / 4;
    return index < kWords && (kHeld >> index & 1) != 0 ? &words_[index] : nullptr;
  }
  const uint32_t* Register(uint32_t offset) const {
    return const_cast<NocCommand*>(this)->Register(offset);
  }

  uint64_t target() const { return Address(hw::kNocTargetLow); }
  uint32_t target_xy() const { return words_[hw::kNocTargetHigh / 4]; }
  uint64_t return_address() const { return Address(hw::kNocReturnLow); }
  uint32_t return_xy() const { return words_[hw::kNocReturnHigh / 4]; }
  uint32_t tag() const { return words_[hw::kNocPacketTag / 4]; }
  uint32_t control() const { return words_[hw::kNocControl / 4]; }
  uint32_t length() const { return words_[hw::kNocLength / 4]; }
  uint32_t data() const { return words_[hw::kNocData / 4]; }

 private:
  static constexpr uint32_t kWords = hw::kNocData / 4 + 1;
  static constexpr uint32_t kHeld = ((1u << kWords) - 1) & ~(1u << hw::kNocByteEnable1 / 4);

  uint64_t Address(uint32_t low) const {
    return words_[low / 4] | uint64_t{words_[low / 4 + 1]} << 32;
  }

  std::array<uint32_t, kWords> words_{};
};

// The linked transaction a NIU is in the middle of: what the next command has to agree with.
struct NocLink {
  bool open = false;
  uint32_t way = 0;  // control bits that choose multicast and virtual channel
  uint32_t to = 0;   // tile or rectangle
};

class Niu {
 public:
  void Init(uint32_t index, hw::Coordinate physical, hw::Coordinate translated);

  // Registers that are accessed all the time: counters, whether a command was accepted, and the words of
  // command buffers. False: another register, or none. `offset` is a multiple of 4, from the NIU's base.
  bool ReadWord(uint32_t offset, uint32_t* value) const;
  bool WriteWord(uint32_t offset, uint32_t value);

  // Any register. Read-only registers refuse writes and the reverse.
  Refusal Read(uint32_t offset, uint32_t* value) const;
  // `*issue` is the buffer whose command was issued, or kNiuCommandBuffers.
  Refusal Write(uint32_t offset, uint32_t value, uint32_t* issue);

  const NocCommand& command(uint32_t buffer) const { return buffers_[buffer]; }
  NocCommand& command(uint32_t buffer) { return buffers_[buffer]; }
  // While a command waits to be accepted its buffer must not be written (tt-isa-documentation
  // NoC/MemoryMap.md, NOC_CMD_CTRL).
  void Take(uint32_t buffer) { writable_ &= ~(1u << buffer); }
  void Accept(uint32_t buffer) { writable_ |= 1u << buffer; }
  uint32_t CommandAddress(uint32_t buffer) const {
    return base_ + buffer * hw::kNiuCommandBufferStride + hw::kNocCommand;
  }
  uint32_t& counter(uint32_t index) { return counters_[index]; }
  NocLink& link() { return link_; }
  uint32_t address(uint32_t offset) const { return base_ + offset; }
  uint32_t CounterAddress(uint32_t counter) const { return base_ + hw::kNocStatus + 4 * counter; }
  void Reset();

 private:
  static constexpr uint32_t kConfigs = 5;  // NIU_CFG_0, ROUTER_CFG_0..3
  static constexpr uint32_t kCounters = hw::kNocWritesOutgoing + 16;
  // Counters that the model has, one bit each.
  static constexpr uint64_t kKnownCounters =
      uint64_t{1} << hw::kNocAtomicResponses | uint64_t{1} << hw::kNocWriteAcks |
      uint64_t{1} << hw::kNocReadResponses | uint64_t{1} << hw::kNocPostedAtomicsSent |
      uint64_t{1} << hw::kNocNonpostedWritesSent | uint64_t{1} << hw::kNocPostedWritesSent |
      uint64_t{0xFFFF} << hw::kNocRequestsOutstanding | uint64_t{0xFFFF} << hw::kNocWritesOutgoing;

  static constexpr uint32_t kAllWritable = (1u << hw::kNiuCommandBuffers) - 1;

  Refusal ReadShared(uint32_t offset, uint32_t* value) const;
  Refusal WriteShared(uint32_t offset, uint32_t value);

  uint32_t base_ = 0;
  uint32_t node_id_ = 0;
  uint32_t logical_id_ = 0;
  uint32_t writable_ = kAllWritable;  // command buffers, one bit each
  std::array<NocCommand, hw::kNiuCommandBuffers> buffers_{};
  std::array<uint32_t, kConfigs> config_{};
  // By their index in the status registers. Those of posted atomics, which are refused, stay 0. Where
  // packets arrive at once, so do those of writes on their way, and only multicasts move
  // kNocRequestsOutstanding.
  std::array<uint32_t, kCounters> counters_{};
  NocLink link_;
};

inline bool Niu::ReadWord(uint32_t offset, uint32_t* value) const {
  const uint32_t counter = (offset - hw::kNocStatus) / 4;
  if (counter < kCounters && (kKnownCounters >> counter & 1) != 0) {
    *value = counters_[counter];
    return true;
  }
  if (offset % hw::kNiuCommandBufferStride != hw::kNocCommand) return false;
  const uint32_t buffer = offset / hw::kNiuCommandBufferStride;
  *value = ~writable_ >> buffer & 1;
  return buffer < hw::kNiuCommandBuffers;
}

inline bool Niu::WriteWord(uint32_t offset, uint32_t value) {
  static_assert(hw::kNiuStride / hw::kNiuCommandBufferStride <= 32);  // of what is shifted by below
  const uint32_t buffer = offset / hw::kNiuCommandBufferStride;
  if ((writable_ >> buffer & 1) == 0) return false;
  uint32_t* const word = buffers_[buffer].Register(offset % hw::kNiuCommandBufferStride);
  if (word == nullptr) return false;
  *word = value;
  return true;
}

// NODE_ID of the tile at physical coordinate `at`, as NIU `niu` (0 or 1) shows it: NoC 1 counts from
// the opposite corner.
uint32_t NodeId(uint32_t niu, hw::Coordinate at);

}  // namespace ttfd::sim
