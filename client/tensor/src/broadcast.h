// How shapes are matched, and in which order the tiles of inputs are read for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ttfd/tensor/spec.h"

namespace ttfd::tensor {

// The shape that inputs of these shapes are broadcast to, as NumPy does. None: they do not match.
std::optional<Shape> BroadcastShape(std::span<const Shape> shapes);

// Extents of a nest of loops, the outermost first, and for each input how far it moves with each: 0 where it is
// broadcast.
template <size_t kInputs>
struct Loops {
  struct Level {
    uint32_t size = 1;
    std::array<uint32_t, kInputs> stride = {};
  };
  std::vector<Level> levels = {};

  void Add(uint32_t size, const std::array<uint32_t, kInputs>& stride) {
    if (size == 1) return;
    if (!levels.empty()) {  // one loop in place of two, where no input sees a difference
      Level& outer = levels.back();
      bool merges = true;
      for (size_t i = 0; i < kInputs; ++i) merges &= outer.stride[i] == stride[i] * size;
      if (merges) {
        outer = {outer.size * size, stride};
        return;
      }
    }
    levels.push_back({size, stride});
  }

  // The same in exactly `count` levels. False: there are more.
  bool PadTo(size_t count) {
    if (levels.size() > count) return false;
    levels.insert(levels.begin(), count - levels.size(), Level());
    return true;
  }
};

// Adds the levels of the extents before the last two: `units` is how many tiles a matrix of each input has.
template <size_t kInputs>
void AddBatchLevels(const Shape& output, std::span<const Shape> inputs,
                    const std::array<uint32_t, kInputs>& units, Loops<kInputs>* loops) {
  const size_t batch_rank = output.rank() < 2 ? 0 : output.rank() - 2;
  // Strides from the innermost extent on, then the levels from the outermost on.
  std::vector<std::array<uint32_t, kInputs>> strides(batch_rank);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const size_t missing = output.rank() - inputs[i].rank();
    uint32_t stride = units[i];
    for (size_t d = batch_rank; d-- > missing;) {
      const uint32_t extent = inputs[i][d - missing];
      strides[d][i] = extent == 1 ? 0 : stride;
      stride *= extent;
    }
  }
  for (size_t d = 0; d < batch_rank; ++d) loops->Add(output[d], strides[d]);
}

}  // namespace ttfd::tensor
