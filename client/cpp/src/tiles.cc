// Order and formats of the numbers of a tile.
#include "ttfd/tiles.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

namespace ttfd::client {
namespace {

constexpr uint32_t kTile = 32;      // rows and columns
constexpr uint32_t kFace = 16;      // rows and columns
constexpr uint32_t kFaceRows = 64;  // of the four faces of a tile
constexpr uint32_t kSign = 0x80000000;
constexpr uint32_t kInfinity = 0x7F800000;

using FaceRow = std::array<float, kFace>;

struct Shape {
  uint64_t rows;
  uint64_t columns;

  uint64_t numbers() const { return rows * columns; }
  uint64_t tiles_across() const { return (columns + kTile - 1) / kTile; }
  uint64_t tiles() const { return (rows + kTile - 1) / kTile * tiles_across(); }
};

// Calls f(tile, row of its faces, index of the row's first number in the matrix, numbers that the matrix has there).
template <typename Function>
void ForEachFaceRow(const Shape& shape, Function&& f) {
  for (uint64_t tile = 0; tile < shape.tiles(); ++tile) {
    for (uint32_t i = 0; i < kFaceRows; ++i) {
      const uint32_t face = i / kFace;
      const uint64_t row = tile / shape.tiles_across() * kTile + face / 2 * kFace + i % kFace;
      const uint64_t column = tile % shape.tiles_across() * kTile + face % 2 * kFace;
      const bool inside = row < shape.rows && column < shape.columns;
      const uint64_t count = inside ? std::min<uint64_t>(shape.columns - column, kFace) : 0;
      f(tile, i, row * shape.columns + column, count);
    }
  }
}

uint32_t BitsOf(float number) { return std::bit_cast<uint32_t>(number); }
bool IsNan(uint32_t bits) { return (bits & ~kSign) > kInfinity; }

uint64_t ElementBytes(DataFormat format) { return format == DataFormat::kFloat32 ? 4 : 2; }

uint16_t BFloat16Of(uint32_t bits) {
  if (IsNan(bits)) return static_cast<uint16_t>(((bits & kSign) | kInfinity) >> 16);
  const uint32_t rounded = (bits + 0x8000) >> 16;
  return static_cast<uint16_t>((rounded & 0x7FFF) < 0x80 ? 0 : rounded);
}

// The bfloat16 whose highest 7 bits of mantissa a kBfp8B of its own exponent has.
uint16_t Bfp8SourceOf(uint32_t bits) {
  if (IsNan(bits)) return static_cast<uint16_t>(((bits & kSign) | kInfinity) >> 16);
  const uint32_t rounded = ((bits >> 16) + 1) & 0xFFFE;
  return static_cast<uint16_t>((rounded & 0x7FFF) < 0x80 ? 0 : rounded);
}

void StoreBfp8(const FaceRow& row, std::byte* exponent_at, std::byte* to) {
  std::array<uint16_t, kFace> halves;
  uint32_t largest = 0;
  for (uint32_t i = 0; i < kFace; ++i) {
    halves[i] = Bfp8SourceOf(BitsOf(row[i]));
    largest = std::max<uint32_t>(largest, halves[i] >> 7 & 0xFF);
  }
  *exponent_at = static_cast<std::byte>(largest);
  for (uint32_t i = 0; i < kFace; ++i) {
    const uint32_t exponent = halves[i] >> 7 & 0xFF;
    const uint32_t distance = largest - exponent;
    uint32_t magnitude = 0;
    if (exponent != 0 && distance < 8) {
      magnitude = ((halves[i] & 0x7Fu) | 0x80) + (1u << distance);
      magnitude = std::min(magnitude >> (distance + 1), 127u);
    }
    to[i] = static_cast<std::byte>(magnitude == 0 ? 0 : magnitude | halves[i] >> 15 << 7);
  }
}

float LoadBfp8(std::byte exponent, std::byte datum) {
  const auto magnitude = std::to_integer<uint32_t>(datum & std::byte{0x7F});
  const bool negative = (datum & std::byte{0x80}) != std::byte{};
  // The unpacker takes the -0 that no packer writes for -infinity.
  const float value = magnitude == 0 && negative ? INFINITY
                                                 : std::ldexp(static_cast<float>(magnitude),
                                                              std::to_integer<int>(exponent) - 133);
  return negative ? -value : value;
}

void StoreRow(const FaceRow& row, DataFormat format, uint32_t index, std::byte* tile) {
  if (format == DataFormat::kBfp8B) {
    StoreBfp8(row, tile + index, tile + kFaceRows + index * kFace);
  } else if (format == DataFormat::kFloat16B) {
    std::array<uint16_t, kFace> halves;
    for (uint32_t i = 0; i < kFace; ++i) halves[i] = BFloat16Of(BitsOf(row[i]));
    std::memcpy(tile + index * sizeof(halves), halves.data(), sizeof(halves));
  } else {
    std::memcpy(tile + index * sizeof(row), row.data(), sizeof(row));
  }
}

FaceRow LoadRow(const std::byte* tile, DataFormat format, uint32_t index) {
  FaceRow row;
  if (format == DataFormat::kBfp8B) {
    for (uint32_t i = 0; i < kFace; ++i) {
      row[i] = LoadBfp8(tile[index], tile[kFaceRows + index * kFace + i]);
    }
  } else if (format == DataFormat::kFloat16B) {
    std::array<uint16_t, kFace> halves;
    std::memcpy(halves.data(), tile + index * sizeof(halves), sizeof(halves));
    for (uint32_t i = 0; i < kFace; ++i) row[i] = std::bit_cast<float>(uint32_t{halves[i]} << 16);
  } else {
    std::memcpy(row.data(), tile + index * sizeof(row), sizeof(row));
  }
  return row;
}

Status Refuse(const char* field, std::string message) {
  return Status(ErrorInfo{.code = Code::kInvalidArgument,
                          .message = std::move(message),
                          .reason = "INVALID",
                          .field = field});
}

Status CheckElements(DataFormat format, uint64_t bytes) {
  if (format != DataFormat::kFloat32 && format != DataFormat::kFloat16B) {
    return Refuse("format",
                  "the format of elements without tiles must be kFloat32 or kFloat16B, not " +
                      std::to_string(static_cast<int>(format)));
  }
  if (bytes % ElementBytes(format) == 0) return Status();
  return Refuse("elements", std::to_string(bytes) + " bytes are no number of elements of " +
                                std::to_string(ElementBytes(format)) + " bytes");
}

// `size` is that of `count` parts of `part` elements.
Status Check(const Shape& shape, DataFormat format, const char* field, uint64_t size,
             uint64_t count, uint64_t part) {
  if (format != DataFormat::kFloat32 && format != DataFormat::kFloat16B &&
      format != DataFormat::kBfp8B) {
    return Refuse("format", "format must be kFloat32, kFloat16B or kBfp8B, not " +
                                std::to_string(static_cast<int>(format)));
  }
  if (shape.numbers() == 0) return Refuse("rows", "a matrix has at least one row and one column");
  if (size % part == 0 && size / part == count) return Status();
  return Refuse(field, std::string(field) + " of " + std::to_string(shape.rows) + " x " +
                           std::to_string(shape.columns) + " numbers must have " +
                           std::to_string(count) + " x " + std::to_string(part) +
                           " elements, not " + std::to_string(size));
}

}  // namespace

uint32_t TileBytes(DataFormat format) {
  switch (format) {
    case DataFormat::kFloat32:
    case DataFormat::kInt32:
      return 4096;
    case DataFormat::kFloat16B:
    case DataFormat::kUInt16:
      return 2048;
    case DataFormat::kBfp8B:
      return kFaceRows + 1024;
    case DataFormat::kNone:
      break;
  }
  return 0;
}

Result<std::vector<std::byte>> ToTiles(std::span<const float> matrix, uint32_t rows,
                                       uint32_t columns, DataFormat format) {
  const Shape shape = {rows, columns};
  if (Status status = Check(shape, format, "matrix", matrix.size(), rows, columns); !status.ok()) {
    return status;
  }
  std::vector<std::byte> tiles(shape.tiles() * TileBytes(format));
  ForEachFaceRow(shape, [&](uint64_t tile, uint32_t index, uint64_t first, uint64_t count) {
    FaceRow row = {};
    std::copy_n(matrix.begin() + static_cast<ptrdiff_t>(count == 0 ? 0 : first), count,
                row.begin());
    StoreRow(row, format, index, tiles.data() + tile * TileBytes(format));
  });
  return tiles;
}

Result<std::vector<float>> FromTiles(std::span<const std::byte> tiles, uint32_t rows,
                                     uint32_t columns, DataFormat format) {
  const Shape shape = {rows, columns};
  if (Status status = Check(shape, format, "tiles", tiles.size(), shape.tiles(), TileBytes(format));
      !status.ok()) {
    return status;
  }
  std::vector<float> matrix(shape.numbers());
  ForEachFaceRow(shape, [&](uint64_t tile, uint32_t index, uint64_t first, uint64_t count) {
    if (count == 0) return;
    const FaceRow row = LoadRow(tiles.data() + tile * TileBytes(format), format, index);
    std::copy_n(row.begin(), count, matrix.begin() + static_cast<ptrdiff_t>(first));
  });
  return matrix;
}

Result<std::vector<std::byte>> ToElements(std::span<const float> numbers, DataFormat format) {
  if (Status status = CheckElements(format, 0); !status.ok()) return status;
  std::vector<std::byte> elements(numbers.size() * ElementBytes(format));
  if (format == DataFormat::kFloat32) {
    std::copy_n(std::as_bytes(numbers).begin(), elements.size(), elements.begin());
    return elements;
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    const uint16_t half = BFloat16Of(BitsOf(numbers[i]));
    std::memcpy(&elements[i * sizeof(half)], &half, sizeof(half));
  }
  return elements;
}

Result<std::vector<float>> FromElements(std::span<const std::byte> elements, DataFormat format) {
  if (Status status = CheckElements(format, elements.size()); !status.ok()) return status;
  std::vector<float> numbers(elements.size() / ElementBytes(format));
  if (format == DataFormat::kFloat32) {
    std::copy_n(elements.begin(), elements.size(),
                std::as_writable_bytes(std::span(numbers)).begin());
    return numbers;
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    uint16_t half = 0;
    std::memcpy(&half, &elements[i * sizeof(half)], sizeof(half));
    numbers[i] = std::bit_cast<float>(uint32_t{half} << 16);
  }
  return numbers;
}

}  // namespace ttfd::client
