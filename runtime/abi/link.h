// A link between workers of two neighbouring chips: where its bytes and counters lie, in the L1 of the two Ethernet
// tiles and of the two workers.
//
// No hart of an Ethernet tile takes part. The sender writes a segment into slot i of the near tile's transmit ring,
// sends it into slot i of the far tile's receive ring (queue 0, write to L1), and fires the increment that is prepared
// there for slot i (queue 0, write of a register), which adds 1 to `arrived` of the receiver's LinkEnd. The receiver
// returns slots half a ring at a time: it fires one of two increments (queue 1), each of which adds kLinkCreditSlots to
// `credits` of the sender's LinkEnd.
//
// A slot is written again only when its credit has come: until then the link may read it again. A command buffer of an
// NIU must not be fired again before its last command was accepted, which the other end cannot see. The credit of a
// slot says that its increment of `arrived` was carried out; the two increments of `credits` alternate, and the third
// use of one is behind segments that needed the credits of its first.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/hw/ethernet.h"
#include "runtime/hw/noc.h"

namespace ttfd::abi {

inline constexpr uint32_t kLinkSlots = 6;
inline constexpr uint32_t kLinkSlotBytes = 34 * 1024;  // the largest segment
inline constexpr uint32_t kLinkCreditSlots = kLinkSlots / 2;

// L1 of an Ethernet tile.
inline constexpr uint32_t kLinkReturnAddress =
    0x05F00;  // old values of increments: 16 B a doorbell
inline constexpr uint32_t kLinkUnusedAddress =
    0x05FC0;  // counts doorbells of an end that is not connected
inline constexpr uint32_t kLinkMarkerAddress =
    0x05FD0;  // [queue]: 16 B that ConnectLink sends through it
inline constexpr uint32_t kLinkTransmitAddress = 0x06000;
inline constexpr uint32_t kLinkReceiveAddress = kLinkTransmitAddress + kLinkSlots * kLinkSlotBytes;
static_assert(kLinkReceiveAddress + kLinkSlots * kLinkSlotBytes < hw::kEthLinkFirmware);

// Prepared increments, the doorbells: command buffers of both NIUs of an Ethernet tile. 0 to 5 say that the slot of
// that number has arrived, 6 and 7 return the first and the second half of a ring.
inline constexpr uint32_t kLinkDoorbells = 8;
inline constexpr uint32_t kLinkCreditDoorbell = kLinkSlots;
constexpr uint32_t LinkDoorbellNiu(uint32_t doorbell) { return doorbell / hw::kNiuCommandBuffers; }
// Address of the command buffer; its CMD_CTRL is at + hw::kNocCommand.
constexpr uint32_t LinkDoorbellAddress(uint32_t doorbell) {
  return hw::kNiuAddress + LinkDoorbellNiu(doorbell) * hw::kNiuStride +
         doorbell % hw::kNiuCommandBuffers * hw::kNiuCommandBufferStride;
}

// One end of a link, in the L1 of its worker. Counters are of all segments since the ends were connected: a launch
// continues where the last one stopped.
struct LinkEnd {
  uint32_t arrived;  // incremented by the far sender
  uint32_t reserved0[3];
  uint32_t credits;  // incremented by the far receiver
  uint32_t reserved1[3];
  uint32_t sent;        // stored by the near sender
  uint32_t taken;       // stored by the near receiver
  uint32_t generation;  // of the connection; 0: not connected
  uint32_t tile_xy;     // near Ethernet tile, translated
  // Coordinates that a far doorbell needs before each use, where NIUs do not keep those of a command: the worker it
  // increments, and its own tile. 0: they keep them.
  uint32_t far_worker_xy;
  uint32_t far_tile_xy;
  uint32_t reserved2[2];
};
static_assert(sizeof(LinkEnd) == 64 && offsetof(LinkEnd, credits) == 16);

inline constexpr uint32_t kLinkEnds = 4;
inline constexpr uint32_t kLinkEndAddress = 0x00F00;
constexpr uint32_t LinkEndAddress(uint32_t end) {
  return kLinkEndAddress + end * uint32_t{sizeof(LinkEnd)};
}

}  // namespace ttfd::abi
