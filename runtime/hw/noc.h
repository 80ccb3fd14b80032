// The network interface unit (NIU) of a tile: command buffers, control bits, status counters.
//
// Sources: tt-metal noc_parameters.h (Blackhole); tt-isa-documentation
// BlackholeA0/NoC/{README,MemoryMap,Counters}.md; ttsim data/bh/tile_regs.json and src/tile.cpp.
#pragma once

#include <stdint.h>

namespace ttfd::hw {

inline constexpr uint32_t kNiuAddress = 0xFFB20000;  // + niu * kNiuStride (Tensix tiles)
inline constexpr uint32_t kNiuStride = 0x10000;
inline constexpr uint32_t kNiuCommandBuffers = 4;
inline constexpr uint32_t kNiuCommandBufferStride = 0x800;

// Offsets within a command buffer. The "target" is a read's source, an atomic's or inline write's
// destination, and the local source of a write; "return" is the other end.
inline constexpr uint32_t kNocTargetLow = 0x00;
inline constexpr uint32_t kNocTargetMid = 0x04;
inline constexpr uint32_t kNocTargetHigh = 0x08;  // coordinates
inline constexpr uint32_t kNocReturnLow = 0x0C;
inline constexpr uint32_t kNocReturnMid = 0x10;
inline constexpr uint32_t kNocReturnHigh = 0x14;
inline constexpr uint32_t kNocPacketTag = 0x18;  // bits 13:10 transaction id
inline constexpr uint32_t kNocControl = 0x1C;
inline constexpr uint32_t kNocLength = 0x20;  // byte length, or the opcode word of an atomic
inline constexpr uint32_t kNocByteEnable1 = 0x24;
inline constexpr uint32_t kNocData = 0x28;  // inline data, or an atomic's operand
inline constexpr uint32_t kNocBroadcastExclude = 0x2C;
inline constexpr uint32_t kNocL1Accumulate = 0x30;
inline constexpr uint32_t kNocSecurity = 0x34;
inline constexpr uint32_t kNocCommand = 0x40;  // write 1 to issue; reads 0 once accepted
// Offsets within an NIU (the page of buffer 0).
inline constexpr uint32_t kNocNodeId =
    0x44;  // x 5:0, y 11:6, grid width 18:12, height 25:19, bit 28 x-first (NoC 0)
inline constexpr uint32_t kNocEndpointId = 0x48;
inline constexpr uint32_t kNocClearOutstanding = 0x60;
inline constexpr uint32_t kNocConfig0 = 0x100;  // bit 0 clock gating, bit 14 coordinate translation
inline constexpr uint32_t kNocConfig0Translation = 1u << 14;
inline constexpr uint32_t kNocRouterConfig0 = 0x104;
inline constexpr uint32_t kNocRouterConfig1 = 0x108;  // multicast column mask
inline constexpr uint32_t kNocRouterConfig3 = 0x110;  // multicast row mask
inline constexpr uint32_t kNocIdLogical = 0x148;      // own translated coordinate, x 5:0, y 11:6
inline constexpr uint32_t kNocStatus = 0x200;         // + 4 * counter

// Control bits.
inline constexpr uint32_t kNocAtomic = 1u << 0;
inline constexpr uint32_t kNocWrite = 1u << 1;  // clear: read
inline constexpr uint32_t kNocByteEnable = 1u << 2;
inline constexpr uint32_t kNocInline = 1u << 3;
inline constexpr uint32_t kNocResponse = 1u << 4;  // non-posted
inline constexpr uint32_t kNocMulticast = 1u << 5;
inline constexpr uint32_t kNocLinked = 1u << 6;
inline constexpr uint32_t kNocStaticVc = 1u << 7;
inline constexpr uint32_t kNocPathReserve = 1u << 8;  // multicast must set it, unicast must not
inline constexpr uint32_t kNocDropReadAck = 1u << 9;
inline constexpr uint32_t kNocVcShift = 13;  // bits 15:13
inline constexpr uint32_t kNocMajorAxis = 1u << 16;
inline constexpr uint32_t kNocIncludeSource = 1u << 17;
inline constexpr uint32_t kNocPriorityShift = 27;
inline constexpr uint32_t kNocAccumulate = 1u << 31;  // broken in hardware: never set
inline constexpr uint32_t kNocUnicastVc = 1;          // field convention
inline constexpr uint32_t kNocMulticastVc = 4;

// Status counters: index into kNocStatus.
inline constexpr uint32_t kNocAtomicResponses = 0x0;
inline constexpr uint32_t kNocWriteAcks = 0x1;
inline constexpr uint32_t kNocReadResponses = 0x2;
inline constexpr uint32_t kNocPostedAtomicsSent = 0x7;
inline constexpr uint32_t kNocNonpostedWritesSent = 0xA;
inline constexpr uint32_t kNocPostedWritesSent = 0xB;
inline constexpr uint32_t kNocRequestsOutstanding = 0x10;  // + transaction id, 8 bits
inline constexpr uint32_t kNocWritesOutgoing = 0x20;       // + transaction id

// Atomic increment: AT_LEN_BE = increment (1 << 12), wrap at 32 bits (31 << 2), word within the 16
// bytes.
inline constexpr uint32_t kNocAtomicIncrement = 0x107C;  // for a 16-byte aligned counter

inline constexpr uint32_t kNocMaxPacketBytes = 16384;

// Unicast coordinate word: x 5:0, y 11:6. Multicast: end 11:0, start 23:12.
constexpr uint32_t NocXy(uint32_t x, uint32_t y) { return (y << 6) | x; }
constexpr uint32_t NocX(uint32_t xy) { return xy & 0x3F; }
constexpr uint32_t NocY(uint32_t xy) { return (xy >> 6) & 0x3F; }
constexpr uint32_t NocRectangle(uint32_t start_xy, uint32_t end_xy) {
  return (start_xy << 12) | end_xy;
}

// Inline writes are safe on register space only: on Blackhole an inline write to L1 may corrupt it.
inline constexpr uint32_t kFirstRegisterAddress = 0xFF000000;

}  // namespace ttfd::hw
