// The overlay stream registers of one tile: five registers in each of 64 streams.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/hw/stream.h"
#include "runtime/sim/fault.h"

namespace ttfd::sim {

class Streams {
 public:
  // `offset` is from kStreamAddress.
  Refusal Read(uint32_t offset, uint32_t* value) const;
  // `changed` is the offset of the register whose value changed.
  Refusal Write(uint32_t offset, uint32_t value, uint32_t* changed);
  // The same for what most writes are: an increment. False, and not done: another write.
  bool Add(uint32_t offset, uint32_t value) {
    if (!IsIncrement(offset, value)) return false;
    Arrive(offset, value);
    return true;
  }
  // Add() in two steps, with time in between (hazard "streams").
  static bool IsIncrement(uint32_t offset, uint32_t value) {
    constexpr uint32_t kDestination = (1u << hw::kStreamUpdateShift) - 1;  // only 0 exists
    return offset % hw::kStreamStride == hw::kStreamSpaceAvailableUpdate &&
           (value & kDestination) == 0;
  }
  void Arrive(uint32_t offset, uint32_t value) {
    uint32_t& available = streams_[offset / hw::kStreamStride].space_available;
    available = (available + (value >> hw::kStreamUpdateShift)) & hw::kStreamCounterMask;
  }
  // How often the stream was set to a value: what was on its way then is part of what was there before.
  uint32_t times_set(uint32_t offset) const {
    return streams_[offset / hw::kStreamStride].times_set;
  }
  // Offset of the register that Add() changes, of the stream that `offset` lies in.
  static uint32_t SpaceAvailable(uint32_t offset) {
    return offset - offset % hw::kStreamStride + hw::kStreamSpaceAvailable;
  }
  void Reset() { streams_ = {}; }

 private:
  struct Stream {
    uint32_t remote_source;
    uint32_t buffer_start;
    uint32_t buffer_size;
    uint32_t space_available;
    uint32_t times_set;
  };
  std::array<Stream, hw::kStreams> streams_{};
};

}  // namespace ttfd::sim
