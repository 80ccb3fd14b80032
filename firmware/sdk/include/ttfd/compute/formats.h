// Formats of tiles: how many bytes each has, and what the units of the engine make of it. One program serves all of
// them: init functions look up the formats of their circular buffers when they run.
//
// - Float32 is computed with as TF32, cut off to 10 bits of mantissa. copy_tile keeps all 32 bits.
// - Float16_b (bfloat16) has 7 bits of mantissa.
// - Bfp8_b has 6 at most: 16 numbers of a row share an exponent.
#pragma once

#include <stdint.h>
#include <ttfd/compute/engine.h>

namespace ttfd::compute {

// Names and values of TT-Metalium, for typecast_tile.
enum class DataFormat : uint8_t { Float32 = 0, Float16_b = 5, Bfp8_b = 6 };

// How much of the mantissas a product takes: the number of passes. A pass multiplies 5 bits of the one factor and 7 of
// the other: the high ones of both, the low ones of the first, the low ones of the second, the low ones of both. The
// first factor is `in0` of mul_tiles and `in1` of matmul_tiles. Errors of a product, at most; Bfp8_b is as bfloat16:
//
//          bfloat16   Float32
//   LoFi   7 %        8 %
//   HiFi2  0.8 %      2 %
//   HiFi3  0.05 %     0.5 %
//   HiFi4  0          0.3 %
enum class MathFidelity : uint8_t { LoFi = 0, HiFi2 = 2, HiFi3 = 3, HiFi4 = 4 };

namespace internal {

constexpr uint32_t PhasesOf(MathFidelity fidelity) {
  return fidelity == MathFidelity::LoFi ? 1 : static_cast<uint32_t>(fidelity);
}

struct TileFormat {
  Format format;            // in L1
  Format source;            // in SrcA and SrcB
  bool unpacks_to_dst;      // without a change
  Format packed_from;       // what the packer takes the 32 bits of Dst for
  uint32_t row_bytes;       // of 16 datums of packed_from
  uint32_t exponent_units;  // 16 bytes each, before the data
};
inline constexpr TileFormat kTileFormats[] = {
    {Format::kFloat16B, Format::kFloat16B, false, Format::kFloat16B, 32, 0},
    {Format::kFloat32, Format::kTf32, true, Format::kFloat32, 64, 0},
    {Format::kBfp8B, Format::kBfp8B, false, Format::kBfp8B, 16, 4},
};

// Looks up the format of a circular buffer: bfloat16 where the client gave none. The engine refuses formats that are
// not in the table.
[[gnu::noinline]] inline TileFormat TileFormatOf(uint32_t buffer) {
  const CircularBuffer& pages = BufferAt(buffer).pages;
  const Format format = pages.has_format() ? pages.format() : Format::kFloat16B;
  for (const TileFormat& tile : kTileFormats) {
    if (tile.format == format) return tile;
  }
  return {format, format, false, format, 32, 0};
}

}  // namespace internal

}  // namespace ttfd::compute
