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

// The engine refuses formats other than the three.
struct TileFormat {
  Format format;  // in L1, and what the packer takes the 32 bits of Dst for

  bool unpacks_to_dst() const { return format == Format::kFloat32; }           // without a change
  Format source() const { return unpacks_to_dst() ? Format::kTf32 : format; }  // in SrcA and SrcB
  uint32_t row_bytes() const {  // of 16 datums, as the packer takes them
    return format == Format::kFloat32 ? 64 : format == Format::kBfp8B ? 16 : 32;
  }
  // 16 bytes each, before the data.
  uint32_t exponent_units() const { return format == Format::kBfp8B ? 4 : 0; }
};

// Reads the format of a circular buffer from L1: bfloat16 where the client gave none.
[[gnu::noinline]] inline TileFormat TileFormatOf(uint32_t buffer) {
  const uint32_t word = CircularBuffer::FormatWordOf(buffer);
  return {word == 0 ? Format::kFloat16B : static_cast<Format>(word - 1)};
}

}  // namespace internal

}  // namespace ttfd::compute
