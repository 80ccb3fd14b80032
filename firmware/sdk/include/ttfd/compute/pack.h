// TRISC2: tiles from Dst into L1.
#pragma once

#include <stdint.h>
#include <ttfd/compute/formats.h>

namespace ttfd::compute::internal {

[[gnu::noinline]] inline void ConfigurePacker(uint32_t buffer) {
  const TileFormat tile = TileFormatOf(buffer);
  Synchronize();  // tiles before it are packed as they were to be
  SetConfigFields(FieldValue{kPackNoZeroCompression, 1},
                  FieldValue{kPackOutFormat, CodeOf(tile.format)},
                  FieldValue{kPackInFormat, CodeOf(tile.format)});
  SetConfigFields(FieldValue{kPackSourceYStride, tile.row_bytes()});
  SetConfigFields(FieldValue{kPackExponentBytes, tile.exponent_units()});
}

// Packs tile `tile` of the half of Dst to an L1 address: 64 rows of 32 bits, four rows an instruction.
[[gnu::noinline]] inline void Pack(uint32_t tile, uint32_t address) {
  Synchronize();  // the last tile has been read, and its address used
  SetConfigFields(FieldValue{kPackDstOffset, dst_half + tile * kTileRows});
  SetAddress(kPackAddress, address);
  ReadConfig(kPackAddress.word);
  for (uint32_t i = 0; i != 15; ++i) Push<PACR{}>();
  Push<PACR{}.last(1).addr_mode(1)>();
}

inline void StartPacking() {
  SetConfig<FieldValue{kPackSourceZStride, 0}, FieldValue{kPackSourceWStride, 0}>();
  SetConfig<FieldValue{kPackDestYStride, 0}>();
  SetConfig<FieldValue{kPackRead32Bit, 1}>();
  SetConfig(kPackRowSets, 0);
  SetConfig(kPackRowSets + 1, 0);
  SetConfig<FieldValue{kPackEdgeMask0, 0xFFFF}, FieldValue{kPackRowSetSelect, 0}>();
  SetConfig<FieldValue{kPackEdgeMask1, 0}>();
  SetConfig<FieldValue{kPackRowsPerPlane, 16}>();
  SetConfig<FieldValue{kPackAccumulate, 0}>();
  SetThreadConfig<kThreadStateId, 0>();
  SetThreadConfig<kThreadAddrModPack, kAddrModSourceYIncrement.In(0, 4)>();
  SetThreadConfig<kThreadAddrModPack + 1, kAddrModSourceYClear.In(0, 1)>();
  SetCounters<kCountersPack, 16>();
}

}  // namespace ttfd::compute::internal
