// State of the engine that says which instruction is accepted next: counters and banks, without any data.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/hw/tensix_isa.h"

namespace ttfd {

// The two banks of SrcA or of SrcB.
struct SourceBanks {
  std::array<bool, 2> valid = {};
  std::array<hw::tensix::Format, 2> formats = {};  // of what was handed over
  uint32_t unpack = 0;                             // the bank that is filled
  uint32_t matrix = 0;                             // the bank that is computed with

  bool ready() const { return valid[matrix]; }
  bool free() const { return !valid[unpack]; }
  hw::tensix::Format format() const { return formats[matrix]; }
  void HandOver(hw::tensix::Format format) {
    valid[unpack] = true;
    formats[unpack] = format;
    unpack ^= 1;
  }
  void Release(bool keep) {
    if (!keep) valid[matrix] = false;
    matrix ^= 1;
  }
};

// A counter and what it returns to.
struct ReturningCounter {
  uint32_t now = 0;
  uint32_t start = 0;

  void Set(uint32_t value) { now = start = value; }
  void Add(uint32_t value, uint32_t mask) { now = (now + value) & mask; }
  void Return(uint32_t value, uint32_t mask) { now = start = (start + value) & mask; }
};

// Address counters of an unpacker or of the packer: channel 0 is the source, 1 the destination.
struct AddressCounters {
  enum Dimension : uint32_t { kX, kY, kZ, kW };
  static constexpr std::array<uint32_t, 4> kMasks = {0x3FFFF, 0x1FFF, 0xFF, 0xFF};

  std::array<std::array<ReturningCounter, 4>, 2> channels;

  void Set(uint32_t channel, uint32_t dimension, uint32_t value) {
    channels[channel][dimension].Set(value & kMasks[dimension]);
  }
  void Add(uint32_t channel, uint32_t dimension, uint32_t value) {
    channels[channel][dimension].Add(value, kMasks[dimension]);
  }
  uint32_t At(uint32_t channel, uint32_t dimension) const {
    return channels[channel][dimension].now;
  }
  uint32_t count() const { return At(1, kX) - At(0, kX) + 1; }
};

// Row counters of the FPU.
struct RowCounters {
  static constexpr uint32_t kSourceMask = 63;
  static constexpr uint32_t kDstMask = 1023;

  ReturningCounter a, b, dst;
  uint32_t phase = 0;

  // The two words of an address modifier.
  struct Modifier {
    uint32_t ab = 0;
    uint32_t dst = 0;
  };
  void Apply(const Modifier& modifier);
};

}  // namespace ttfd
