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

// Transmit queues: registers from kEthTransmit + queue * kEthTransmitStride. Queue 0 and 1 end at the same queue of the
// peer; queue 2 sends no register writes. Link firmware sets everything else up (MAC addresses, packet headers).
inline constexpr uint32_t kEthTransmit = 0xFFB90000;
inline constexpr uint32_t kEthTransmitStride = 0x1000;
inline constexpr uint32_t kEthQueues = 3;
inline constexpr uint32_t kEthTransmitControl =
    0x00;  // 1: TT-link, packets are resent until acknowledged
inline constexpr uint32_t kEthTransmitCommand = 0x04;  // reads 0
inline constexpr uint32_t kEthTransmitStatus = 0x08;
inline constexpr uint32_t kEthTransmitStart = 0x14;        // bytes to send, in the near tile's L1
inline constexpr uint32_t kEthTransmitSize = 0x18;         // bytes
inline constexpr uint32_t kEthTransmitDestination = 0x1C;  // address at the far tile
inline constexpr uint32_t kEthTransmitAccepted = 0x30;     // count of commands
inline constexpr uint32_t kEthTransmitData = 0x44;         // of a register write
// Commands. Start, size and destination of a write to L1 are multiples of 16; the destination of a register write is
// one of 4. A register write reaches registers of the far Ethernet tile only.
inline constexpr uint32_t kEthWriteL1 = 2;
inline constexpr uint32_t kEthWriteRegister = 4;
// STATUS: the queue takes no command. A command that was taken has not left: the bytes of kEthWriteL1 are read until
// the peer has acknowledged them, which no register shows.
inline constexpr uint32_t kEthTransmitBusy = 1u << 16;
inline constexpr uint32_t kEthReceive = 0xFFB94000;  // + queue * kEthTransmitStride
inline constexpr uint32_t kEthReceiveControl = 0x00;

}  // namespace ttfd::hw
