// Configuration of the Tensix engine: what its words hold, and where a hart reaches the engine.
//
// The words of bank 0 are at kTensixConfig + 4 * word, for BRISC and the TRISCs of the tile. Thread configuration is
// written by SETC16 only; each of the three threads has its own. Names are the manual's. Sources: tt-isa-documentation
// BlackholeA0/TensixTile/TensixCoprocessor/BackendConfiguration.md, ttsim 1.10.0 data/bh.
#pragma once

#include "runtime/hw/tensix.h"
#include "runtime/hw/tensix_isa.h"

namespace ttfd::hw::tensix {

// A hart's addresses of the engine. Stores of 4 bytes; not for NCRISC, not over the NoC.
inline constexpr uint32_t kGprs =
    0xFFE00000;  // 64 general registers of a TRISC's own thread, + 4 * i
inline constexpr uint32_t kGprCount = 64;
inline constexpr uint32_t kPush =
    0xFFE40000;  // one instruction for a TRISC's own thread; of BRISC for T0
inline constexpr uint32_t kPushFromBrisc1 = 0xFFE50000;  // BRISC only: for T1
inline constexpr uint32_t kPushFromBrisc2 = 0xFFE60000;  // BRISC only: for T2
// TRISCs only. A read waits until the own thread has nothing queued or running; write it, read it, use the value.
inline constexpr uint32_t kSync = 0xFFE80004;
// + 4 * i: read: value of semaphore i; write: 0 posts, 1 gets. TRISCs only.
inline constexpr uint32_t kSemaphore = 0xFFE80020;

// A field of a configuration word of bank 0.
struct ConfigField {
  uint32_t word;
  Field field;
};
inline constexpr uint32_t kConfigWords = 224;

inline constexpr ConfigField kAluSrcAOverride = {0, {4, 1}};
inline constexpr ConfigField kAluSrcBOverride = {0, {9, 1}};
inline constexpr ConfigField kAluDstOverride = {0, {14, 1}};
inline constexpr ConfigField kAluSrcAFormat = {
    1, {17, 4}};  // used where kThreadSrcAFormatOverride is set
inline constexpr ConfigField kAluSrcBFormat = {1, {21, 4}};
inline constexpr ConfigField kAluDstFormat = {1, {25, 4}};  // equal to kPackInFormat
inline constexpr ConfigField kAluFloat32Dst = {1, {29, 1}};
inline constexpr ConfigField kAluFloat32Sfpu = {1, {30, 1}};
inline constexpr ConfigField kAluInt8 = {1, {31, 1}};
inline constexpr ConfigField kAluKeepDenormalSrc = {2, {0, 1}};
inline constexpr ConfigField kPackReluMode = {2, {2, 4}};
inline constexpr ConfigField kPackReluThreshold = {2, {6, 16}};

// Packer. Strides are in bytes of an element of the packer's *in* format (channel 0) or of L1 (channel 1).
inline constexpr ConfigField kPackSourceXStride = {12, {0, 16}};
inline constexpr ConfigField kPackSourceYStride = {12, {16, 16}};
inline constexpr ConfigField kPackSourceZStride = {13, {0, 16}};
inline constexpr ConfigField kPackSourceWStride = {13, {16, 16}};
inline constexpr ConfigField kPackDestYStride = {14, {16, 16}};
inline constexpr ConfigField kPackRead32Bit = {18, {0, 1}};
inline constexpr ConfigField kPackEdgeMask0 = {24, {0, 16}};
inline constexpr ConfigField kPackEdgeMask1 = {25, {0, 16}};
inline constexpr ConfigField kPackRowSetSelect = {24, {17, 2}};
inline constexpr uint32_t kPackRowSets = 20;  // two words: 2 bits a row
inline constexpr ConfigField kPackRowsPerPlane = {28, {8, 8}};
inline constexpr ConfigField kPackExponentBytes = {68, {16, 16}};  // in units of 16 bytes
inline constexpr ConfigField kPackAddress = {69, {0, 32}};         // L1 address / 16 - 1
inline constexpr ConfigField kPackNoZeroCompression = {70, {0, 1}};
inline constexpr ConfigField kPackOutFormat = {70, {4, 4}};
inline constexpr ConfigField kPackInFormat = {70, {8, 4}};
inline constexpr ConfigField kPackAccumulate = {71, {19, 1}};
inline constexpr ConfigField kPackDstOffset = {180, {0, 12}};  // rows

// Unpackers: 0 fills SrcA (or Dst), 1 fills SrcB.
struct UnpackerConfig {
  ConfigField in_format;
  ConfigField uncompressed;
  ConfigField x_dim;
  ConfigField y_dim;
  ConfigField z_dim;
  ConfigField out_format;
  ConfigField transpose;  // of 16x16 faces; unpacker 0 only
  ConfigField no_zero_compression;
  ConfigField address;  // L1 address / 16 - 1
  ConfigField offset;   // is added to it
  ConfigField dest_y_stride;
  ConfigField dest_z_stride;
};
inline constexpr UnpackerConfig kUnpackers[2] = {
    {{64, {0, 4}},
     {64, {4, 1}},
     {86, {0, 16}},
     {65, {0, 16}},
     {65, {16, 8}},
     {72, {0, 4}},
     {72, {8, 1}},
     {73, {0, 4}},
     {76, {0, 32}},
     {92, {0, 16}},
     {56, {16, 16}},
     {57, {0, 16}}},
    {{112, {0, 4}},
     {112, {4, 1}},
     {112, {16, 16}},
     {113, {0, 16}},
     {113, {16, 8}},
     {120, {0, 4}},
     {120, {8, 1}},
     {121, {0, 4}},
     {124, {0, 32}},
     {140, {0, 16}},
     {58, {16, 16}},
     {59, {0, 16}}},
};
inline constexpr ConfigField kUnpack0DestAddress = {
    84, {0, 16}};  // of SrcA or Dst, in datums: 64 and above
inline constexpr ConfigField kUnpack0AddCounter = {50, {8, 1}};
inline constexpr ConfigField kUnpack0ToDst = {73, {4, 1}};  // fills Dst, not SrcA

// Thread configuration: SETC16's ids.
inline constexpr uint32_t kThreadConfigWords = 68;
inline constexpr uint32_t kThreadStateId = 0;
inline constexpr uint32_t kThreadDstOffset =
    1;  // rows; added to the address of every math instruction
inline constexpr uint32_t kThreadSrcAFormatOverride = 2;
inline constexpr uint32_t kThreadSrcBFormatOverride = 3;
inline constexpr uint32_t kThreadUnpackSet = 5;  // bit 2: 1 to fill SrcA and SrcB
inline constexpr uint32_t kThreadKeepDvalid = 7;
inline constexpr uint32_t kThreadAddrModAb = 12;    // + section, 8 of them
inline constexpr uint32_t kThreadAddrModDst = 28;   // + section
inline constexpr uint32_t kThreadAddrModPack = 37;  // + section, 4 of them
inline constexpr uint32_t kThreadUnpackContext = 41;
inline constexpr uint32_t kThreadAddrModBias = 47;  // + section, 8 of them
inline constexpr uint32_t kAddrMods = 8;
inline constexpr uint32_t kPackAddrMods = 4;

// Fields of an address modifier.
inline constexpr Field kAddrModSrcAIncrement = {0, 6};
inline constexpr Field kAddrModSrcACr = {6, 1};
inline constexpr Field kAddrModSrcAClear = {7, 1};
inline constexpr Field kAddrModSrcBIncrement = {8, 6};
inline constexpr Field kAddrModSrcBCr = {14, 1};
inline constexpr Field kAddrModSrcBClear = {15, 1};
inline constexpr Field kAddrModDstIncrement = {0, 10};
inline constexpr Field kAddrModDstCr = {10, 1};
inline constexpr Field kAddrModDstClear = {11, 1};
inline constexpr Field kAddrModDstToCr = {12, 1};
inline constexpr Field kAddrModFidelityIncrement = {13, 2};
inline constexpr Field kAddrModFidelityClear = {15, 1};
inline constexpr Field kAddrModSourceYIncrement = {0, 4};  // of the packer
inline constexpr Field kAddrModSourceYCr = {4, 1};
inline constexpr Field kAddrModSourceYClear = {5, 1};
inline constexpr Field kAddrModDestYIncrement = {6, 4};
inline constexpr Field kAddrModDestYCr = {10, 1};
inline constexpr Field kAddrModDestYClear = {11, 1};
inline constexpr Field kAddrModSourceZIncrement = {12, 1};
inline constexpr Field kAddrModSourceZClear = {13, 1};
inline constexpr Field kAddrModDestZIncrement = {14, 1};
inline constexpr Field kAddrModDestZClear = {15, 1};

}  // namespace ttfd::hw::tensix
