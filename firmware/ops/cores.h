// Which items of a launch are this core's, from its position.
#pragma once

#include <stdint.h>
#include <ttfd/arguments.h>
#include <ttfd/tile.h>

#include "firmware/ops/words.h"

namespace ttfd::ops {

// Number of this core among those of the launch: the number of bits of the bitmap before its own, or by rows of the
// rectangle.
[[gnu::noinline]] inline uint32_t CoreNumber(const Cores& cores) {
  const kernel::Position at = kernel::OwnPosition();
  const uint32_t shape = cores.shape;
  const uint32_t columns = shape >> 16 & 0xFF;
  if (columns != 0) return (at.y - (shape >> 8 & 0xFF)) * columns + at.x - (shape & 0xFF);
  const uint32_t* const words = &kernel::CommonArguments<uint32_t>() + (shape >> 24);
  const uint32_t bit = at.y * kBitmapColumns + at.x;
  uint32_t bits = words[bit / 32] & ((1u << bit % 32) - 1);
  uint32_t number = 0;
  for (uint32_t word = bit / 32;; bits = words[--word]) {
    for (; bits != 0; bits &= bits - 1) ++number;
    if (word == 0) return number;
  }
}

// for (uint32_t item = items.first; item < items.end; item += items.step) ...
struct Items {
  explicit Items(const Cores& cores)
      : first(cores.first + CoreNumber(cores)), step(cores.count), end(cores.end) {}

  uint32_t first;
  uint32_t step;
  uint32_t end;
};

}  // namespace ttfd::ops
