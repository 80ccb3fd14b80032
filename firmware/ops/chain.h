// TRISC1: applies the functions of a Chain to a tile of Dst.
#pragma once

#include <stdint.h>
#include <ttfd/compute/unary.h>

#include "firmware/ops/words.h"

namespace ttfd::ops {

// A switch: a table of functions would have absolute addresses.
[[gnu::noinline]] inline void ApplyUnary(Unary function, uint32_t operand, uint32_t dst) {
  using namespace compute;
  constexpr auto kFloat32 = static_cast<uint32_t>(DataFormat::Float32);
  constexpr auto kBFloat16 = static_cast<uint32_t>(DataFormat::Float16_b);
  switch (function) {
#define TTFD_OPS_FUNCTION(code, name) \
  case Unary::code:                   \
    return name##_tile(dst);
    TTFD_OPS_FUNCTION(kExp, exp)
    TTFD_OPS_FUNCTION(kReciprocal, recip)
    TTFD_OPS_FUNCTION(kSqrt, sqrt)
    TTFD_OPS_FUNCTION(kRsqrt, rsqrt)
    TTFD_OPS_FUNCTION(kSilu, silu)
    TTFD_OPS_FUNCTION(kSigmoid, sigmoid)
    TTFD_OPS_FUNCTION(kGelu, gelu)
    TTFD_OPS_FUNCTION(kTanh, tanh)
    TTFD_OPS_FUNCTION(kRelu, relu)
    TTFD_OPS_FUNCTION(kAbs, abs)
    TTFD_OPS_FUNCTION(kNegate, negative)
    TTFD_OPS_FUNCTION(kSquare, square)
    TTFD_OPS_FUNCTION(kLog, log)
    TTFD_OPS_FUNCTION(kSin, sin)
    TTFD_OPS_FUNCTION(kCos, cos)
    TTFD_OPS_FUNCTION(kFloor, floor)
    TTFD_OPS_FUNCTION(kErf, erf)
    TTFD_OPS_FUNCTION(kAtan, atan)
#undef TTFD_OPS_FUNCTION
    case Unary::kAddScalar:
      return add_unary_tile(dst, operand);
    case Unary::kMultiplyScalar:
      return mul_unary_tile(dst, operand);
    case Unary::kMaximumScalar:
      return unary_max_tile(dst, operand);
    case Unary::kMinimumScalar:
      return unary_min_tile(dst, operand);
    case Unary::kRound:
      return typecast_tile<kFloat32, kBFloat16>(dst);
    case Unary::kNone:
      return;
  }
}

inline void ApplyChain(const Chain& chain, uint32_t dst) {
  if constexpr (compute::kComputes) {
    const uint32_t* operand = chain.operands;
    for (uint32_t codes = chain.codes; (codes & 0xFF) != 0; codes >>= 8) {
      ApplyUnary(static_cast<Unary>(codes & 0xFF), *operand++, dst);
    }
  }
}

}  // namespace ttfd::ops
