// Matrices as tiles of the Tensix engine, and back.
//
//   #include <ttfd/queue.h>
//   #include <ttfd/tiles.h>
//   using namespace ttfd::client;
//
//   // 100 x 70 numbers as 4 x 3 tiles, in DRAM.
//   Status Write(Queue& queue, const Buffer& buffer, const std::vector<float>& matrix) {
//     const auto tiles = ToTiles(matrix, 100, 70, DataFormat::kBfp8B);
//     return tiles.ok() ? queue.Write(buffer, 0, *tiles) : tiles.status();
//   }
//
// A tile has 32 x 32 numbers: four faces of 16 x 16, top left, top right, bottom left, bottom right, each row by row.
// The tiles of a matrix lie row by row, too. A number is converted as the packer of the engine converts a 32-bit number
// of Dst (docs/tensix.md), so that the host and a kernel make equal tiles:
//
// - kFloat32: the number's own bits.
// - kFloat16B: rounded to 8 bits of mantissa, halves away from zero.
// - kBfp8B: the 16 numbers of a row of a face share the exponent of the largest one. Each has a sign and 7 bits.
//
// A number of kBfp8B is rounded twice, halves away from zero: to 7 bits of its own, then to the shared exponent.
// In kFloat16B and kBfp8B NaN becomes infinity, and what is below 2^-126 when it is rounded to bfloat16 becomes 0. The
// latter has no infinity: it counts as a number of 2^128, and those of its row below 2^121 become 0.
//
// Pure functions of their arguments: any thread may call them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ttfd/status.h"
#include "ttfd/types.h"

namespace ttfd::client {

// Bytes of a tile: 4096 of kFloat32 and kInt32, 2048 of kFloat16B and kUInt16, 1088 of kBfp8B (64 exponents, then 1024
// numbers), 0 of kNone.
uint32_t TileBytes(DataFormat format);

// `matrix`: rows * columns numbers, row by row. Where they do not fill the last tiles, zeros do. INVALID_ARGUMENT if
// rows or columns are 0, if `matrix` has another size, or if `format` is none of the three above.
Result<std::vector<std::byte>> ToTiles(std::span<const float> matrix, uint32_t rows,
                                       uint32_t columns, DataFormat format);

// The matrix of `rows` x `columns` numbers in `tiles`, without what fills the last tiles: exactly their values. Of
// kBfp8B the unpacker reads others where the host has denormals or, with the exponent 255, infinity.
// INVALID_ARGUMENT as above.
Result<std::vector<float>> FromTiles(std::span<const std::byte> tiles, uint32_t rows,
                                     uint32_t columns, DataFormat format);

// Numbers in their order, without tiles. INVALID_ARGUMENT if `format` is neither kFloat32 nor kFloat16B.
Result<std::vector<std::byte>> ToElements(std::span<const float> numbers, DataFormat format);

// The numbers of `elements`. INVALID_ARGUMENT as above, or if the last one is cut.
Result<std::vector<float>> FromElements(std::span<const std::byte> elements, DataFormat format);

}  // namespace ttfd::client
