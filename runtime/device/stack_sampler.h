// Where the harts of a card spend their time, for backends that can watch them execute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/hw/grid.h"

namespace ttfd {

struct SampleOptions {
  uint64_t interval_clocks = 1000;
  size_t max_stacks = 65'536;  // different ones between two calls of Take
  // Words of the tile's L1 that are kept with each sample; the second one is `state_stride` apart for each hart.
  uint32_t program_address = 0;
  uint32_t state_address = 0;
  uint32_t state_stride = 0;
};

// Equal samples, counted.
struct StackSample {
  hw::Coordinate tile = {0, 0};  // translated
  uint32_t hart = 0;
  uint32_t program_word = 0;
  uint32_t state_word = 0;
  bool sleeps = false;          // it waits, and executes nothing
  std::vector<uint32_t> stack;  // the pc, then return addresses from the inside out
  uint64_t count = 0;
};

// Samples from its creation to its end.
class StackSampler {
 public:
  virtual ~StackSampler() = default;
  // Samples since the last call. `lost` grows by those that found no space.
  virtual std::vector<StackSample> Take(uint64_t* lost) = 0;
};

}  // namespace ttfd
