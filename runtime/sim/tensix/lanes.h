// Inner loops of the matrix unit. Exact: the same bits as ttsim 1.10.0, on every host.
//
// An operand is a binary32 whose low 13 bits are 0 (registers.h). Exponent 0 is zero, 255 no exception.
#pragma once

#include <cstdint>

#include "runtime/sim/tensix/registers.h"

namespace ttfd::sim::tensix {

inline constexpr uint32_t kFpuRows = 8;  // rows of Dst that one instruction computes

// Phases: the multiplier takes 5 bits of A's mantissa and 7 of B's at a time. Phase 0 takes the high ones; bit 0 of the
// phase stands for A's low ones, bit 1 for B's. Each phase is an instruction of its own, and adds to Dst.

// dst[r][c] += sum over i of b[r][i] * a[i][c]; `rows` rows of Dst and B, 4 or 8, and 16 rows of A.
void MultiplyMatrix(const SourceRow* a, const SourceRow* b, uint32_t rows, uint32_t phase,
                    DstBlock dst);

// dst[0][c] = the largest of 16 rows a[i][c] and, if `include_dst`, of dst[0][c] itself; rows 1 to 3 of Dst become 0.
// The order is TotalOrder()'s. A 32-bit Dst counts with the 19 bits that an operand has.
void MaximumOfColumns(const SourceRow* a, bool include_dst, DstBlock dst);

// How an element-wise instruction reads B.
struct Broadcast {
  bool column;  // column 0 for all columns
  bool row;     // row 0 for all rows
};

// dst[r][c] += a[r][c] * b[r][c]; 8 rows.
void MultiplyElements(const SourceRow* a, const SourceRow* b, Broadcast of_b, uint32_t phase,
                      DstBlock dst);

// dst[r][c] = a[r][c] +- b[r][c], or += where `accumulate`; 8 rows.
void AddElements(const SourceRow* a, const SourceRow* b, Broadcast of_b, bool subtract,
                 bool accumulate, DstBlock dst);

}  // namespace ttfd::sim::tensix
