// Runtime arguments: 32-bit words given with the launch. An index that the launch does not give is refused
// (<ttfd/given.h>).
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <ttfd/given.h>

namespace ttfd::kernel {

namespace internal {

// L1 address of a hart's words, by the offset of a field of LaunchArguments.
inline uint32_t ArgumentsAddress(uint32_t field, uint32_t hart = kHart) {
  return ConfigAddress() + MessageHalf(offsetof(abi::LaunchMessage, arguments) +
                                       hart * sizeof(abi::LaunchArguments) + field);
}
inline uint32_t CommonArgumentsAddress(uint32_t hart = kHart) {
  return ArgumentsAddress(offsetof(abi::LaunchArguments, common_offset), hart);
}

}  // namespace internal

// Argument `index` of this tile.
[[gnu::always_inline]] inline uint32_t Argument(uint32_t index) {
  internal::RequireGiven<abi::kArgument>(index);
  return firmware::Load(
      internal::ArgumentsAddress(offsetof(abi::LaunchArguments, per_core_offset)) + 4 * index);
}

// Argument `index` that all tiles of the launch share.
[[gnu::always_inline]] inline uint32_t CommonArgument(uint32_t index) {
  internal::RequireGiven<abi::kCommonArgument>(index);
  return firmware::Load(internal::CommonArgumentsAddress() + 4 * index);
}

// The common arguments as a structure of 32-bit words, which lies in L1. The launch gives at least `kWords` of them.
template <typename T, uint32_t kWords = sizeof(T) / sizeof(uint32_t)>
[[gnu::always_inline]] inline const T& CommonArguments() {
  static_assert(sizeof(T) % sizeof(uint32_t) == 0, "arguments are words");
  internal::RequireGiven<abi::kCommonArgument>(kWords - 1);
  return *L1Pointer<const T>(internal::CommonArgumentsAddress());
}

}  // namespace ttfd::kernel
