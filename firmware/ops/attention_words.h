// Common words of the kernels of the family attention; words.h has what all families have in common.
//
//   circular buffers   0 key, 1 value, 2 mask, 3 output, 4 query, 5 weights, 6 statistics, 7 sums, 8 to 10 plans of
//                      TRISC0, TRISC1 and TRISC2, 11 memory for indices
//   words              AttentionReader, AttentionCompute, AttentionWriter
//
// Circular buffers for the query, keys and values have the tiles of two steps, the plans pages without a tile; weights,
// statistics and sums are Float32.
#pragma once

#include <stdint.h>

#include "firmware/ops/move_words.h"
#include "firmware/ops/words.h"

namespace ttfd::ops {

// Item (matrix * parts + part) * slices + slice is a part of the rows of a matrix of queries, as far as it lies in tile
// row part * part_rows / 32 + slice; it may be empty. The rows of a part attention the keys of one head: that of number
// (matrix * parts + part) / group among the heads of all users.
struct AttentionUnits {
  uint32_t parts;
  uint32_t part_rows;
  uint32_t slices;
  uint32_t rows;       // of a matrix
  uint32_t tile_rows;  // of a matrix
};

// A query at `place` sees the keys from place - back to place + ahead. The place is the number of its row if it is one
// of several, else that of the last key, or a number of a tensor.
struct AttentionVisible {
  uint32_t keys;
  uint32_t by_row;
  uint32_t back;
  uint32_t ahead;
};
inline constexpr uint32_t kAttentionAll = 1u << 30;  // keys back or ahead

// Keys are taken a few tiles at a time.
inline constexpr uint32_t kAttentionTiles =
    kDstTiles - 1;  // at most, of both; the fourth tile of Dst has statistics
struct AttentionSteps {
  uint32_t tiles;  // of keys, in a step; with a mask one
  uint32_t block;  // tiles of values that are summed together: a divisor of value_tiles
};

struct AttentionReader {
  Cores cores;
  AttentionUnits units;
  AttentionVisible visible;
  AttentionSteps steps;
  uint32_t query_address;
  uint32_t key_address;
  uint32_t value_address;
  uint32_t key_tiles;    // of a row of tiles of queries and keys
  uint32_t value_tiles;  // of values
  uint32_t group;
  uint32_t heads;  // of a user, of keys
  struct Blocks {
    uint32_t tiles;  // rows of tiles of a matrix of keys
    uint32_t count;
    uint32_t has_table;  // else block u is that of user u
    MoveTensor table;    // with a row of blocks for each user
  } blocks;
  uint32_t positions;  // 0: none, 1: one for all, 2: one a user; one beyond the keys is the last
  MoveTensor position;
  // Tile outer * outer_stride + inner * inner_stride + row of tiles * row_stride + column of a matrix is that of matrix
  // outer * inner_matrices + inner of queries.
  struct Mask {
    uint32_t is_used;
    uint32_t address;
    uint32_t inner_matrices;
    uint32_t outer_stride;
    uint32_t inner_stride;
    uint32_t row_stride;
  } mask;
};

enum class AttentionMask : uint32_t { kNone, kTile, kRow };  // kRow: one row for all rows of a tile

struct AttentionCompute {
  Cores cores;
  AttentionUnits units;
  AttentionVisible visible;
  uint32_t key_tiles;
  uint32_t value_tiles;
  AttentionSteps steps;
  uint32_t scale;  // of products, times log2(e): the bits of a 32-bit float
  uint32_t mask;   // AttentionMask
  Padding padding;
};

struct AttentionWriter {
  Cores cores;
  AttentionUnits units;
  uint32_t address;
  uint32_t tiles;  // of a row of tiles
};

// A page of a plan: what the reader has found out of a unit.
struct AttentionPlan {
  uint32_t first_tile;  // of keys
  uint32_t tiles;
  uint32_t place;  // of all its rows, or of the first row of its tiles
};

}  // namespace ttfd::ops
