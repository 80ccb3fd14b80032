// The card's PCIe surface: BAR0 TLB windows, BAR2 outbound address translation, how a tile reaches
// host memory.
//
// Sources: tt-kmd blackhole.c, ioctl.h, enumerate.c; tt-umd blackhole_implementation.hpp; ttsim
// src/libttsim.cpp.
#pragma once

#include <stdint.h>

namespace ttfd::hw {

inline constexpr uint32_t kPciVendorId = 0x1E52;
inline constexpr uint32_t kPciDeviceId = 0xB140;

// BAR0: 202 windows of 2 MiB, then their registers. Window 201 belongs to the kernel driver.
inline constexpr uint64_t kBar0Bytes = uint64_t{512} << 20;
inline constexpr uint32_t kTlbWindows2M = 202;
inline constexpr uint32_t kTlbWindowKernel = 201;
inline constexpr uint64_t kTlbWindow2MBytes = uint64_t{2} << 20;
inline constexpr uint64_t kTlbRegisters = 0x1FC00000;  // 12 bytes a window, written 4 at a time
inline constexpr uint32_t kTlbRegisterStride = 12;
inline constexpr uint64_t kBar0Niu0 =
    0x1FD04000;  // NODE_ID at +0x44: which PCIe tile is the endpoint
inline constexpr uint64_t kBar0Niu1 = 0x1FD14000;
// Bit offsets of the 96-bit register of a 2 MiB window.
inline constexpr uint32_t kTlbAddressBits = 43;  // address >> 21
inline constexpr uint32_t kTlbXEndBit = 43;
inline constexpr uint32_t kTlbYEndBit = 49;
inline constexpr uint32_t kTlbXStartBit = 55;  // multicast only; 0 for unicast
inline constexpr uint32_t kTlbYStartBit = 61;
inline constexpr uint32_t kTlbNocBit = 67;  // 2 bits
inline constexpr uint32_t kTlbMulticastBit = 69;
inline constexpr uint32_t kTlbOrderingBit = 70;  // 2 bits: 0 relaxed, 1 strict, 2 posted
inline constexpr uint32_t kTlbLinkedBit = 72;    // must be 0 from the host
inline constexpr uint32_t kTlbStaticVcBit = 73;  // must be 0 on Blackhole

// BAR4: 8 windows of 4 GiB. Their registers follow those of the 2 MiB windows, 12 bytes each as well:
// address >> 32; x 5:0, y 11:6, ordering 28:27; 0 (tt-kmd struct TLB_4G_REG).
inline constexpr uint64_t kBar4Bytes = uint64_t{32} << 30;
inline constexpr uint32_t kTlbWindows4G = 8;
inline constexpr uint64_t kTlbWindow4GBytes = uint64_t{4} << 30;
inline constexpr uint32_t kTlb4GOrderingShift = 27;
// Values of an ordering field: writes in order, and read after; the one that means nothing.
inline constexpr uint32_t kTlbStrictOrdering = 1;
inline constexpr uint32_t kTlbReservedOrdering = 3;

// Where libttsim's contract puts the BARs in the host's address space after power-on.
inline constexpr uint64_t kModelBar0Address = 0x1'0000'0000;
inline constexpr uint64_t kModelBar2Address = 0x1'2000'0000;
inline constexpr uint64_t kModelBar4Address = 0x8'0000'0000;

// BAR2: outbound iATU region r at kIatuOutbound + r * kIatuStride.
inline constexpr uint64_t kBar2Bytes = uint64_t{1} << 20;
inline constexpr uint64_t kIatuOutbound = 0x1000;
inline constexpr uint32_t kIatuStride = 0x200;
inline constexpr uint32_t kIatuRegions = 16;
inline constexpr uint32_t kIatuControl1 = 0x00;  // bit 13: region may exceed 4 GiB
inline constexpr uint32_t kIatuControl1IncreaseSize = 1u << 13;
inline constexpr uint32_t kIatuControl2 = 0x04;  // bit 31: enable; written last
inline constexpr uint32_t kIatuControl2Enable = 1u << 31;
inline constexpr uint32_t kIatuBaseLow = 0x08;
inline constexpr uint32_t kIatuBaseHigh = 0x0C;
inline constexpr uint32_t kIatuLimitLow = 0x10;
inline constexpr uint32_t kIatuTargetLow = 0x14;
inline constexpr uint32_t kIatuTargetHigh = 0x18;
inline constexpr uint32_t kIatuControl3 = 0x1C;
inline constexpr uint32_t kIatuLimitHigh = 0x20;

// NoC addresses at the PCIe tile: the top 6 bits choose one of 64 windows of 2^58 bytes. 0-3 bypass
// the iATU, 4-7 go through it (identity where no region matches). Host memory is window 4.
inline constexpr uint64_t kHostMemoryNocBase = uint64_t{4} << 58;  // 0x1000'0000'0000'0000
inline constexpr uint64_t kHostMemoryWindowBytes = uint64_t{1} << 58;

}  // namespace ttfd::hw
