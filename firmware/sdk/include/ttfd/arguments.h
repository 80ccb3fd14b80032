// Runtime arguments: 32-bit words given with the launch.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <ttfd/tile.h>

namespace ttfd::kernel {

namespace internal {
inline uint32_t MessageWord(uint32_t offset) {
  return firmware::Load(Context().launch_message_address + offset);
}
inline uint32_t ConfigAddress() {
  return MessageWord(offsetof(abi::LaunchMessage, config_address));
}
// common in 15:0, per core in 31:16
inline uint32_t ArgumentOffsetsWord() {
  return MessageWord(offsetof(abi::LaunchMessage, arguments) +
                     kHart * sizeof(abi::ArgumentOffsets));
}
}  // namespace internal

// Argument `index` of this tile. The caller passes indices that the launch supplied.
inline uint32_t Argument(uint32_t index) {
  return firmware::Load(internal::ConfigAddress() + (internal::ArgumentOffsetsWord() >> 16) +
                        4 * index);
}

// Argument `index` that all tiles of the launch share.
inline uint32_t CommonArgument(uint32_t index) {
  return firmware::Load(internal::ConfigAddress() + (internal::ArgumentOffsetsWord() & 0xFFFF) +
                        4 * index);
}

// The common arguments as a structure of 32-bit words, which lies in L1. The launch supplied all of them.
template <typename T>
inline const T& CommonArguments() {
  return *L1Pointer<const T>(internal::ConfigAddress() +
                             (internal::ArgumentOffsetsWord() & 0xFFFF));
}

}  // namespace ttfd::kernel
