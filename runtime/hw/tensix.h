// A Tensix tile as its RISC-V harts and the NoC see it: memory map, resets, clocks, instruction
// caches.
//
// Sources: tt-isa-documentation BlackholeA0/TensixTile/{BabyRISCV/README.md,SoftReset.md}; ttsim
// data/bh/tile_regs.json; tt-metal tensix.h.
#pragma once

#include <stdint.h>

namespace ttfd::hw {

inline constexpr uint32_t kL1Bytes = 1536 * 1024;
inline constexpr uint32_t kL1Alignment = 16;  // NoC transfers between L1s: equal modulo 16
inline constexpr uint32_t kDramAlignment =
    64;  // reads of DRAM and of host memory: equal modulo 64; writes modulo 16

inline constexpr uint32_t kLocalRamAddress =
    0xFFB00000;                                        // a hart's own; not visible to anybody else
inline constexpr uint32_t kLocalRamBytesBrisc = 8192;  // NCRISC too
inline constexpr uint32_t kLocalRamBytesTrisc = 4096;

// Harts in the order this project numbers them, everywhere.
enum Hart : uint32_t { kBrisc = 0, kNcrisc = 1, kTrisc0 = 2, kTrisc1 = 3, kTrisc2 = 4 };
inline constexpr uint32_t kHarts = 5;

constexpr uint32_t LocalRamBytes(uint32_t hart) {
  return hart <= kNcrisc ? kLocalRamBytesBrisc : kLocalRamBytesTrisc;
}

inline constexpr uint32_t kTdmaClockGateEnable =
    0xFFB11024;  // B and T only; firmware writes 0x3F once

inline constexpr uint32_t kSoftReset0 = 0xFFB121B0;
inline constexpr uint32_t kSoftResetBrisc = 1u << 11;
inline constexpr uint32_t kSoftResetTrisc0 = 1u << 12;
inline constexpr uint32_t kSoftResetTrisc1 = 1u << 13;
inline constexpr uint32_t kSoftResetTrisc2 = 1u << 14;
inline constexpr uint32_t kSoftResetNcrisc = 1u << 18;
inline constexpr uint32_t kSoftResetAllHarts = 0x47800;  // the power-on value
// Unpackers, packers, mover, TDMA, ThCon, FPU, SFPU, SrcA, SrcB, Dst and synchronisation of the Tensix engine
// (tt-isa-documentation BlackholeA0/TensixTile/SoftReset.md). What of the engine's state they clear was not seen on
// silicon.
inline constexpr uint32_t kSoftResetEngine = 0xFB87FF;
inline constexpr uint32_t kSoftResetEverything = kSoftResetAllHarts | kSoftResetEngine;
constexpr uint32_t SoftResetBit(uint32_t hart) {
  return hart == kBrisc    ? kSoftResetBrisc
         : hart == kNcrisc ? kSoftResetNcrisc
                           : kSoftResetTrisc0 << (hart - kTrisc0);
}

inline constexpr uint32_t kWallClockLow =
    0xFFB121F0;  // reading it latches the high half into kWallClockHighLatched
inline constexpr uint32_t kWallClockHigh = 0xFFB121F4;  // live
inline constexpr uint32_t kWallClockHighLatched = 0xFFB121F8;

inline constexpr uint32_t kTriscResetPc = 0xFFB12228;  // + 4 * i
inline constexpr uint32_t kTriscResetPcOverride = 0xFFB12234;
inline constexpr uint32_t kNcriscResetPc = 0xFFB12238;
inline constexpr uint32_t kNcriscResetPcOverride = 0xFFB1223C;
inline constexpr uint32_t kTriscDefaultPc[3] = {0x6000, 0xA000, 0xE000};
inline constexpr uint32_t kNcriscDefaultPc = 0x12000;
inline constexpr uint32_t kDestClockGateControl = 0xFFB12240;  // boot firmware writes 0

// PC snapshots, one word a hart (order B, NC, T0, T1, T2). Silicon and our model have them, ttsim
// does not.
inline constexpr uint32_t kPcSnapshot = 0xFFB13138;  // + 4 * hart

// TENSIX_CFG, B and T harts only, one memory region. Word 185: writing a mask drops the instruction
// caches (B 1, T0 2, T1 4, T2 8, NC 0x10). Words are readable; ttsim answers for word 0 but not 185.
inline constexpr uint32_t kTensixConfig = 0xFFEF0000;
inline constexpr uint32_t kInstructionCacheInvalidate = kTensixConfig + 185 * 4;
inline constexpr uint32_t kInstructionCacheAll = 0x1F;

// CSR 0x7C0 (cfg0): bit 3 switches the L0 data cache off. StMergeTimer is 16 after reset.
inline constexpr uint32_t kCsrConfig0 = 0x7C0;
inline constexpr uint32_t kCsrConfig0DataCacheOff = 1u << 3;
inline constexpr uint32_t kCsrConfig0StoreMergeTimer16 = 0x00020000;
inline constexpr uint32_t kCsrConfig0AfterReset = kCsrConfig0StoreMergeTimer16;
inline constexpr uint32_t kCsrConfig0Supported =
    0x0106000A;  // bits ttsim accepts, and StMergeTimer 16

// `jal x0, target` for L1[0]: BRISC always starts at address 0. Requires target < 1 MiB and even.
constexpr uint32_t JumpToFirmware(uint32_t target) {
  return (target & 0xFF000u) | ((target & 0x800u) << 9) | ((target & 0x7FEu) << 20) | 0x6Fu;
}

}  // namespace ttfd::hw
