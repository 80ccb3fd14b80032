// Operands of the matrix unit as its multiplier takes them.
#pragma once

#include <cstdint>

namespace ttfd::sim::tensix {

inline constexpr int16_t kZeroExponent = -8192;

// A bank of SrcA or SrcB, datum by datum. A product is of one half of each mantissa; halves have the sign of their
// datum. SrcA's are doubled: the lowest bit of a product is then there for rounding.
struct alignas(64) Halves {
  int16_t exponent[64][16];  // biased; kZeroExponent: the datum is zero
  int16_t high[64][16];      // 5 bits of SrcA's mantissa, 7 of SrcB's
  int16_t low[64][16];
};

}  // namespace ttfd::sim::tensix
