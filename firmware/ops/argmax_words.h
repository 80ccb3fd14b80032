// Common words of the kernel of the family argmax; words.h has what all families have in common.
#pragma once

#include <stdint.h>

#include "firmware/ops/move_words.h"

namespace ttfd::ops {

// Item i is row i of the input, counted through all matrices: element i of the output is the number of the row's
// greatest element, of equal ones the first. Elements are compared by their bits, 0 and -0 are equal. Circular buffer 0
// has kArgmaxMemory bytes, and up to 63 for their alignment.
struct Argmax {
  Cores cores;
  MoveTensor input;     // tiled
  uint32_t unit_bytes;  // of an element of the input: bfloat16 has 2, float32 has 4
  MoveTensor output;    // of 32-bit integers
};

inline constexpr uint32_t kArgmaxLineBytes = 64;   // read of each face that the row has
inline constexpr uint32_t kArgmaxBatchTiles = 32;  // read together
inline constexpr uint32_t kArgmaxBatchBytes = kArgmaxBatchTiles * 2 * kArgmaxLineBytes;
// Two batches, and a line in which the result waits to be written.
inline constexpr uint32_t kArgmaxMemory = 2 * kArgmaxBatchBytes + kArgmaxLineBytes;

}  // namespace ttfd::ops
