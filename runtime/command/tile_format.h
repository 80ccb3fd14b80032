// The formats that a circular buffer's elements may have, with the size of a tile of 32 x 32 in each.
//
// Source: tt-isa-documentation BlackholeA0/TensixTile/TensixCoprocessor (datum formats, layout of blocks in L1).
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/hw/tensix_isa.h"

namespace ttfd {

struct TileFormat {
  hw::tensix::Format format;
  std::string_view name;
  uint32_t tile_bytes;

  // As in abi::CircularBufferConfig and, for v1::DataFormat, in the API.
  constexpr uint32_t word() const { return static_cast<uint32_t>(format) + 1; }
};

inline constexpr TileFormat kTileFormats[] = {
    {hw::tensix::Format::kFloat32, "float32", 4096},
    {hw::tensix::Format::kFloat16B, "float16_b", 2048},
    {hw::tensix::Format::kBfp8B, "bfp8_b", 1088},  // 64 exponents, one for 16 elements, then 1024 bytes
    {hw::tensix::Format::kInt32, "int32", 4096},
    {hw::tensix::Format::kUInt16, "uint16", 2048},
};
// For messages.
inline constexpr std::string_view kTileFormatList =
    "float32 and int32 (4096 bytes), float16_b and uint16 (2048 bytes), bfp8_b (1088 bytes)";

// Null: `word` stands for no format of kTileFormats.
constexpr const TileFormat* FindTileFormat(uint32_t word) {
  for (const TileFormat& format : kTileFormats) {
    if (format.word() == word) return &format;
  }
  return nullptr;
}

}  // namespace ttfd
