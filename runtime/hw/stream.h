// Overlay stream registers, used as 17-bit counters that any NoC initiator can add to.
//
// Sources: tt-metal noc_overlay_parameters.h; tt-isa-documentation
// WormholeB0/NoC/Overlay/AsGeneralUse.md (the Blackhole text is missing; assumed the same); ttsim
// src/tile.cpp.
#pragma once

#include <stdint.h>

namespace ttfd::hw {

inline constexpr uint32_t kStreamAddress = 0xFFB40000;
inline constexpr uint32_t kStreamStride = 0x1000;
inline constexpr uint32_t kStreams = 64;
inline constexpr uint32_t kStreamEnd = kStreamAddress + kStreams * kStreamStride;

inline constexpr uint32_t kStreamRemoteSource = 4 * 4;  // 24 bits of storage
inline constexpr uint32_t kStreamBufferStart = 8 * 4;   // 17 bits of storage
inline constexpr uint32_t kStreamBufferSize = 10 * 4;   // writing also sets space available
inline constexpr uint32_t kStreamSpaceAvailableUpdate = 270 * 4;  // write n << 6 to add n
inline constexpr uint32_t kStreamSpaceAvailable = 297 * 4;        // read only, 17 bits
inline constexpr uint32_t kStreamUpdateShift = 6;
inline constexpr uint32_t kStreamCounterBits = 17;
inline constexpr uint32_t kStreamCounterMask = (1u << kStreamCounterBits) - 1;
// The largest distance at which two counts can be compared: 65,535.
inline constexpr uint32_t kStreamCounterReach = (1u << (kStreamCounterBits - 1)) - 1;

constexpr uint32_t StreamRegister(uint32_t stream, uint32_t offset) {
  return kStreamAddress + stream * kStreamStride + offset;
}

// True when `value` has reached `expected`; both modulo 2^17 and at most kStreamCounterReach apart.
constexpr bool StreamCounterReached(uint32_t value, uint32_t expected) {
  return ((value - expected) & kStreamCounterMask) <= kStreamCounterReach;
}

}  // namespace ttfd::hw
