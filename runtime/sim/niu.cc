// NIU registers. What issuing a command does is in noc.cc.
#include "runtime/sim/niu.h"

#include <algorithm>

#include "runtime/hw/grid.h"

namespace ttfd::sim {
namespace {

constexpr uint32_t kConfigEnd = hw::kNocConfig0 + 4 * 5;
constexpr uint32_t kBitXFirst = 28;
constexpr uint32_t kAllTransactions = 0xFFFF;

}  // namespace

uint32_t NodeId(uint32_t niu, hw::Coordinate at) {
  const uint32_t x = niu == 0 ? at.x : hw::kGridColumns - 1 - at.x;
  const uint32_t y = niu == 0 ? at.y : hw::kGridRows - 1 - at.y;
  return x | y << 6 | hw::kGridColumns << 12 | hw::kGridRows << 19 |
         (niu == 0 ? 1u << kBitXFirst : 0);
}

void Niu::Init(uint32_t index, hw::Coordinate physical, hw::Coordinate translated) {
  base_ = hw::kNiuAddress + index * hw::kNiuStride;
  node_id_ = NodeId(index, physical);
  logical_id_ = hw::NocXy(translated.x, translated.y);
  Reset();
}

void Niu::Reset() {
  writable_ = kAllWritable;
  buffers_ = {};
  config_ = {hw::kNocConfig0Translation, 0, hw::kMulticastExcludedColumns, 0,
             hw::kMulticastExcludedRows};
  counters_ = {};
  link_ = {};
}

Refusal Niu::Read(uint32_t offset, uint32_t* value) const {
  if (ReadWord(offset, value)) return {};
  const uint32_t buffer = offset / hw::kNiuCommandBufferStride;
  const uint32_t in_buffer = offset % hw::kNiuCommandBufferStride;
  if (buffer < hw::kNiuCommandBuffers) {
    if (const uint32_t* const word = buffers_[buffer].Register(in_buffer)) {
      *value = *word;
      return {};
    }
  }
  return ReadShared(offset, value);
}

Refusal Niu::Write(uint32_t offset, uint32_t value, uint32_t* issue) {
  *issue = hw::kNiuCommandBuffers;
  if (WriteWord(offset, value)) return {};
  const uint32_t buffer = offset / hw::kNiuCommandBufferStride;
  const uint32_t in_buffer = offset % hw::kNiuCommandBufferStride;
  if (buffer < hw::kNiuCommandBuffers) {
    const bool of_command = buffers_[buffer].Register(in_buffer) != nullptr ||
                            in_buffer == hw::kNocBroadcastExclude || in_buffer == hw::kNocCommand;
    if (of_command && (writable_ >> buffer & 1) == 0) {
      return {FaultKind::kNocBusy, address(offset),
              "the command in the buffer has not been accepted yet: wait until CMD_CTRL reads 0"};
    }
    if (in_buffer == hw::kNocCommand) {
      if (value != 1) {
        return {FaultKind::kUnsupportedValue, address(offset), "CMD_CTRL takes the value 1"};
      }
      *issue = buffer;
      return {};
    }
    if (in_buffer == hw::kNocBroadcastExclude) {
      if (value == 0) return {};
      return {FaultKind::kUnsupportedValue, address(offset),
              "multicast exclusion rectangles are not modelled; write 0"};
    }
  }
  return WriteShared(offset, value);
}

Refusal Niu::ReadShared(uint32_t offset, uint32_t* value) const {
  if (offset >= hw::kNocConfig0 && offset < kConfigEnd) {
    *value = config_[(offset - hw::kNocConfig0) / 4];
    return {};
  }
  if (offset == hw::kNocNodeId) {
    *value = node_id_;
    return {};
  }
  if (offset == hw::kNocIdLogical) {
    *value = logical_id_;
    return {};
  }
  return {FaultKind::kUnsupportedRegister, address(offset),
          "no NIU register that the model knows, or it is write only"};
}

Refusal Niu::WriteShared(uint32_t offset, uint32_t value) {
  if (offset >= hw::kNocConfig0 && offset < kConfigEnd) {
    // Firmware sets the clock gating bits. Translation stays on and the multicast masks stay what
    // they are.
    const uint32_t index = (offset - hw::kNocConfig0) / 4;
    constexpr uint32_t kClockGating = 0xFF;
    const uint32_t free_bits = index <= 1 ? kClockGating : 0;
    if (((config_[index] ^ value) & ~free_bits) != 0) {
      return {FaultKind::kUnsupportedValue, address(offset),
              "of the NIU and router configuration only the clock gating bits may change"};
    }
    config_[index] = value;
    return {};
  }
  if (offset == hw::kNocClearOutstanding) {
    if (value != kAllTransactions) {
      return {FaultKind::kUnsupportedValue, address(offset),
              "the outstanding counters are cleared all at once (0xFFFF)"};
    }
    std::fill_n(&counters_[hw::kNocRequestsOutstanding], 16, 0);
    return {};
  }
  return {FaultKind::kUnsupportedRegister, address(offset),
          "no NIU register that the model knows, or it is read only"};
}

}  // namespace ttfd::sim
