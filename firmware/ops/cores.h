// Which items of a launch are this core's, from its position.
#pragma once

#include <stdint.h>
#include <ttfd/arguments.h>
#include <ttfd/tile.h>

#include "firmware/ops/words.h"

namespace ttfd::ops {

constexpr uint32_t CountBits(uint32_t word) {
  word -= word >> 1 & 0x55555555;
  word = (word & 0x33333333) + (word >> 2 & 0x33333333);
  word = (word + (word >> 4)) & 0x0F0F0F0F;
  return word * 0x01010101 >> 24;
}

// Number of this core among those of the launch: the number of bits of the bitmap before its own, or by rows of the
// rectangle.
[[gnu::noinline]] inline uint32_t CoreNumber(const Cores& cores) {
  const kernel::Position at = kernel::OwnPosition();
  const uint32_t shape = cores.shape;
  const uint32_t columns = shape >> 16 & 0xFF;
  if (columns != 0) return (at.y - (shape >> 8 & 0xFF)) * columns + at.x - (shape & 0xFF);
  const uint32_t bit = at.y * kBitmapColumns + at.x;
  uint32_t number = 0;
  uint32_t argument = shape >> 24;
  for (uint32_t word = bit / 32; word != 0; --word) {
    number += CountBits(kernel::CommonArgument(argument++));
  }
  return number + CountBits(kernel::CommonArgument(argument) & ((1u << bit % 32) - 1));
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
