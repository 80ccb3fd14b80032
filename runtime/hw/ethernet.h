// An Ethernet tile as the NoC sees it: memory, soft reset, and the words in which its link firmware publishes the state
// of the link.
//
// Sources: tt-isa-documentation BlackholeA0/EthernetTile/{README,BabyRISCV/README}.md; tt-metal eth_fw_api.h and tt-umd
// (layout of the link firmware's words); ttsim src/tile.cpp.
#pragma once

#include <stdint.h>

#include "runtime/hw/grid.h"

namespace ttfd::hw {

inline constexpr uint32_t kEthL1Bytes = 512 * 1024;
inline constexpr uint32_t kEthLinkFirmware = 0x70000;  // memory from here on is the link firmware's

// Channel c is the tile at physical (kEthColumnX[c], kEthRow).
inline constexpr uint32_t kEthColumnX[kEthChannels] = {1,  16, 2,  15, 3,  14, 4,
                                                       13, 5,  12, 6,  11, 7,  10};
inline constexpr uint32_t kEthRow = 1;

// Soft reset: E0 runs the link firmware, E1 is held.
inline constexpr uint32_t kEthSoftResetE0 = 1u << 11;
inline constexpr uint32_t kEthSoftResetE1 = 1u << 12;

// Words of the link firmware, 4 bytes each.
inline constexpr uint32_t kEthPostCode = 0x7CC00;
inline constexpr uint32_t kEthPostCodePassed = 0xC0DEA000;
inline constexpr uint32_t kEthPortStatus = 0x7CC04;
enum EthPort : uint32_t {
  kEthPortUnknown = 0,
  kEthPortUp = 1,
  kEthPortDown = 2,
  kEthPortUnused = 3,
};
inline constexpr uint32_t kEthTrainStatus = 0x7CC08;
inline constexpr uint32_t kEthTrainPassed = 2;
inline constexpr uint32_t kEthHeartbeat = 0x7CC70;  // 0xABCD0000 | a count of 16 bits
inline constexpr uint32_t kEthHeartbeatMark = 0xABCD0000;
inline constexpr uint32_t kEthRetrains = 0x7CE00;  // since power-on
inline constexpr uint32_t kEthRxLinkUp = 0x7CE04;
inline constexpr uint32_t kEthFirmwareVersion = 0x7CFBC;  // major 23:16, minor 15:8, patch 7:0
// Description of a chip, 8 words: of this one, and, while the link is up, of the peer.
inline constexpr uint32_t kEthLocalInfo = 0x7CFC0;
inline constexpr uint32_t kEthRemoteInfo = 0x7CFE0;
inline constexpr uint32_t kEthInfoPlace =
    0;  // ASIC location 15:8, channel 23:16, logical channel 31:24
inline constexpr uint32_t kEthInfoBoardHigh = 4;
inline constexpr uint32_t kEthInfoBoardLow = 8;
inline constexpr uint32_t kEthInfoAsicHigh = 20;  // since link firmware 1.6.1; 0 before
inline constexpr uint32_t kEthInfoAsicLow = 24;

}  // namespace ttfd::hw
