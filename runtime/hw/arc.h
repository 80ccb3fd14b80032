// The ARC tile: where telemetry is found and what its tags mean.
//
// Sources: tt-umd device/api/umd/device/types/telemetry.hpp; tt-kmd telemetry.c, blackhole.c.
#pragma once

#include <stdint.h>

namespace ttfd::hw {

// NoC addresses at the ARC tile.
inline constexpr uint32_t kArcCsm = 0x10000000;
inline constexpr uint32_t kArcCsmBytes = 0x80000;
inline constexpr uint32_t kArcScratchRam = 0x80030400;  // + 4 * n, 16 words
inline constexpr uint32_t kArcScratchBootStatus = 2;    // (v & 7) == 5: ready
inline constexpr uint32_t kArcScratchTelemetryValues = 12;
inline constexpr uint32_t kArcScratchTelemetryTable = 13;

// The table: word 0 version (major 23:16, at most 1), word 1 count, then `count` words tag 15:0,
// index 31:16.
inline constexpr uint32_t kTelemetryVersion = 0x00010000;

enum TelemetryTag : uint32_t {
  kTagBoardIdHigh = 1,
  kTagBoardIdLow = 2,
  kTagPowerWatts = 7,
  kTagAsicTemperature = 11,  // 16.16 degrees Celsius
  kTagAiclkMhz = 14,
  kTagAxiclkMhz = 15,
  kTagArcclkMhz = 16,
  kTagLiveEth = 21,      // channels whose link firmware runs, one bit each
  kTagEthFirmware = 24,  // versions: major 31:24, minor, patch, build 7:0
  kTagBoardFirmware = 26,
  kTagFirmwareBundle = 28,
  kTagArcFirmware = 29,
  kTagHeartbeat = 32,
  kTagEnabledTensixColumns = 34,  // 14 bits, die order (kTensixHarvestColumnX)
  kTagEnabledEth = 35,            // bit = channel
  kTagEnabledDram = 36,           // 8 bits
  kTagEnabledL2cpu = 37,
  kTagPcieUsage = 38,  // 2 bits an instance; 1 = endpoint
  kTagTranslation = 40,
  kTagAsicLocation = 52,  // on the board
  kTagThermalShutdowns = 60,
  kTagAsicIdHigh = 61,
  kTagAsicIdLow = 62,
  kTagAiclkMaxMhz = 63,
};

// Card type: (board id high >> 4) & 0xFFFF.
inline constexpr uint32_t kCardP100 = 0x36;
inline constexpr uint32_t kCardP150a = 0x40;
inline constexpr uint32_t kCardP150b = 0x41;
inline constexpr uint32_t kCardP150c = 0x42;
inline constexpr uint32_t kCardP100a = 0x43;
inline constexpr uint32_t kCardP300b = 0x44;  // a board with two chips, each a card of its own
inline constexpr uint32_t kCardP300a = 0x45;
inline constexpr uint32_t kCardP300c = 0x46;

inline constexpr uint64_t kAiclkBusyHz = 1350000000;

}  // namespace ttfd::hw
