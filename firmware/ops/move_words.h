// Common words of the kernel of the family move; words.h has what all families have in common.
#pragma once

#include <stdint.h>

#include "firmware/ops/words.h"

namespace ttfd::ops {

// Element by element, the output is a box of a source, or the filling. Elements of the output are numbered in the order
// of its shape, the last extent running fastest, and so are those of a source; layouts are where they lie. The number
// of an element of the output has digits, its levels: number = ((at[0] * size[1] + at[1]) * size[2] + at[2]) ...
// The element is in the box of a source if begin <= at < end in each level, and is the source's element
// offset + at[0] * stride[0] + at[1] * stride[1] + ..., modulo 2^32.
//
// Item (matrix * blocks.down + i) * blocks.across + j is a block of the output, blocks.rows x blocks.columns elements;
// in layout tile whole tiles of one row of tiles. Circular buffer 0 has twice 64 bytes for indices, two blocks, and the
// rest for elements of the sources on their way.
inline constexpr uint32_t kMaxMoveLevels = 6;
inline constexpr uint32_t kMaxMoveSources = 8;
inline constexpr uint32_t kMoveIndexBytes = 64;
inline constexpr uint32_t kMovePageTable = 1;

struct MoveTensor {
  uint32_t address;
  uint32_t is_tiled;
  uint32_t rows;  // of a matrix
  uint32_t columns;
};

enum class MoveFilling : uint32_t {
  kNone,   // the sources cover the output
  kValue,  // elements that no source covers become `value`
  kKeep    // they keep what they are: the output is changed in place
};

// A number is read from a tensor of 32-bit integers. Those that are out of bounds do nothing.
enum class MoveIndexUse : uint32_t {
  kNone,
  kGather,  // of the first source: element at[level] of the tensor, below `limit`, is the digit in place of at[level]
  kPosition,  // element matrix / matrices of the tensor is the row at which the boxes begin in `level`, and where the
              // only block of the matrix is; below the rows of the output
  // A page of the output is `matrices` matrices, its number is the digit of level 0. A page table has the pages of each
  // user, a row of the table, in their order. There is one source; source kMovePageTable is the table, `offset` its
  // first element.
  kPagedPosition,  // element u = matrix / matrices of the tensor is a row of the pages of user u: as kPosition, of the
  // row in its page. Sources have u as their digit of level 0.
  kPagedMatrices  // matrices of page p = matrix / matrices, of the user that is the tensor's only element; no columns:
                  // of user 0. Sources have p as their digit of level 0.
};

struct Move {
  Cores cores;
  MoveTensor output;
  uint32_t
      unit_bytes;  // of an element, 2 or 4. More: elements are pages, rows and columns are those of pages
  struct Blocks {
    uint32_t rows;  // 32 in layout tile, at most 32 otherwise
    uint32_t columns;
    uint32_t first_matrix;  // that of item 0
    uint32_t first_row;     // row of blocks of item 0
    uint32_t across;        // column blocks of a matrix
    uint32_t down;          // row blocks of a matrix that are items
  } blocks;
  uint32_t filling;  // MoveFilling
  uint32_t value;    // a word of the filling
  struct Index {
    uint32_t use;  // MoveIndexUse
    uint32_t level;
    uint32_t limit;  // paged: pages of the output
    uint32_t matrices;
    MoveTensor tensor;
  } index;
  // From an element of the output to the one below it: at[row_level] grows by row_step, while it stays below
  // size[row_level]. 0: there is no such level.
  uint32_t row_level;
  uint32_t row_step;
  uint32_t levels;
  uint32_t size[kMaxMoveLevels];
  uint32_t sources;
  struct Source {
    MoveTensor tensor;
    uint32_t offset;
    struct Level {
      uint32_t begin;
      uint32_t end;
      uint32_t stride;
    } level[kMaxMoveLevels];
  } source[kMaxMoveSources];  // words of those that are not used are left out
};

}  // namespace ttfd::ops
