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
  void Reset() { streams_ = {}; }

 private:
  struct Stream {
    uint32_t remote_source;
    uint32_t buffer_start;
    uint32_t buffer_size;
    uint32_t space_available;
  };
  std::array<Stream, hw::kStreams> streams_{};
};

}  // namespace ttfd::sim
