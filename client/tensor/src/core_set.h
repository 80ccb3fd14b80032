// The workers that operations may use, in the order in which they get work.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "firmware/ops/words.h"
#include "ttfd/status.h"
#include "ttfd/types.h"

namespace ttfd::tensor {

class CoreSet {
 public:
  // `ranges` on a grid; none: all of it. INVALID_ARGUMENT: one is outside, a worker is in two, or the grid is wider or
  // higher than words.h has bits for.
  static client::Result<CoreSet> Make(std::span<const client::CoreRange> ranges, uint32_t grid_x,
                                      uint32_t grid_y);

  uint32_t size() const { return static_cast<uint32_t>(cores_.size()); }

  // The first `count` workers (1 to size()), row by row: what a program runs on.
  std::vector<client::CoreRange> Ranges(uint32_t count) const;

  // The same in words: ops::Cores::shape, and the bitmap that follows the other words of a kernel if they are no
  // rectangle.
  struct Words {
    uint32_t shape = 0;  // without the index of the bitmap
    std::vector<uint32_t> bitmap = {};
  };
  Words WordsOf(uint32_t count) const;

 private:
  explicit CoreSet(std::vector<client::Core> cores) : cores_(std::move(cores)) {}

  std::vector<client::Core> cores_;  // row by row
};

}  // namespace ttfd::tensor
