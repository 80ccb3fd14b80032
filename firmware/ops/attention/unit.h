// The unit of an item: which rows of which tiles are computed together.
#pragma once

#include <stdint.h>

#include "firmware/ops/attention_words.h"

namespace ttfd::ops {

// Circular buffers.
inline constexpr uint32_t kKey = 0, kValue = 1, kMask = 2, kQuery = 4, kWeights = 5,
                          kStatistics = 6, kSums = 7, kPlan = 8, kIndices = 11;

inline uint32_t LeastOf(uint32_t a, uint32_t b) { return a < b ? a : b; }

struct Unit {
  [[gnu::noinline]] Unit(const AttentionUnits& words, uint32_t item) {
    head = item / words.slices;
    matrix = head / words.parts;
    const uint32_t first = (head - matrix * words.parts) * words.part_rows;
    tile_row = first / 32 + item - head * words.slices;
    const uint32_t origin = tile_row * 32;
    begin = first < origin ? 0 : first - origin;
    const uint32_t last = first + words.part_rows;
    end = last < origin ? 0 : LeastOf(last - origin, 32);
    row = matrix * words.tile_rows + tile_row;
  }

  bool IsEmpty() const { return begin >= end; }

  uint32_t head;  // matrix * parts + part
  uint32_t matrix;
  uint32_t tile_row;  // of the matrix
  uint32_t row;       // of tiles, of all matrices
  uint32_t begin;     // rows of the tiles
  uint32_t end;
};

}  // namespace ttfd::ops
