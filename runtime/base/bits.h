// Alignment and bit arithmetic on unsigned integers.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

namespace ttfd {

// Rounds up to a multiple of `alignment`, a power of two.
template <std::unsigned_integral T>
constexpr T AlignUp(T value, T alignment) {
  return static_cast<T>((value + alignment - 1) & ~(alignment - 1));
}

template <std::unsigned_integral T>
constexpr bool IsAligned(T value, T alignment) {
  return (value & (alignment - 1)) == 0;
}

template <std::unsigned_integral T>
constexpr T DivideRoundUp(T value, T divisor) {
  return static_cast<T>((value + divisor - 1) / divisor);
}

}  // namespace ttfd
