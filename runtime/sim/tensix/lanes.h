// Inner loops of matrix and vector unit, for the host's vectors. Exact: the same bits as ttsim 1.10.0, with every set.
//
// An operand is a binary32 whose low 13 bits are 0 (registers.h). Exponent 0 is zero, 255 an exponent as others.
#pragma once

#include <cstdint>

#include "runtime/sim/tensix/halves.h"
#include "runtime/sim/tensix/rows.h"

namespace ttfd::sim::tensix {

inline constexpr uint32_t kFpuRows = 8;  // of Dst, that an instruction of the matrix unit computes

// How an element-wise instruction reads B.
struct Broadcast {
  bool column;  // column 0 for all columns
  bool row;     // row 0 for all rows
};

// Phases: the multiplier takes 5 bits of A's mantissa and 7 of B's at a time. Phase 0 takes the high ones; bit 0 of the
// phase stands for A's low ones, bit 1 for B's. Each phase is an instruction of its own, and adds to Dst.
struct LaneKernels {
  const char* name;

  // The halves of a bank of 64 rows.
  void (*derive)(const SourceRow* datum, bool is_a, Halves* halves);

  // dst[r][c] += sum over i of b[b_row + r][i] * a[a_row + i][c]; `rows` rows of Dst and B, 4 or 8, and 16 rows of A.
  void (*multiply_matrix)(const Halves& a, uint32_t a_row, const Halves& b, uint32_t b_row,
                          uint32_t rows, uint32_t phase, DstBlock dst);

  // dst[r][c] += a[a_row + r][c] * b[b_row + r][c]; 8 rows.
  void (*multiply_elements)(const Halves& a, uint32_t a_row, const Halves& b, uint32_t b_row,
                            Broadcast of_b, uint32_t phase, DstBlock dst);

  // dst[r][c] = a[r][c] +- b[r][c], or += where `accumulate`; 8 rows.
  void (*add_elements)(const SourceRow* a, const SourceRow* b, Broadcast of_b, bool subtract,
                       bool accumulate, DstBlock dst);

  // result[i] = MultiplyAdd(x[i], y[i], z[i]) of 32 lanes (lane_math.h), but for those whose `active` is 0 and not ~0.
  // `result` may be one of the operands.
  void (*multiply_add)(const uint32_t* x, const uint32_t* y, const uint32_t* z,
                       const uint32_t* active, uint32_t* result);
};

// dst[0][c] = the largest of 16 rows a[i][c] and, if `include_dst`, of dst[0][c] itself; rows 1 to 3 of Dst become 0.
// The order is TotalOrder()'s. A 32-bit Dst counts with the 19 bits that an operand has.
void MaximumOfColumns(const SourceRow* a, bool include_dst, DstBlock dst);

}  // namespace ttfd::sim::tensix
