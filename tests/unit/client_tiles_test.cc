// Matrices as tiles: their order, padding, conversions at the ends of ranges, refusals. tests/python/test_tiles.py has
// the same tables. Any bits are converted as the model's packer and unpacker convert them, which tests/peer compares
// with the official simulator's.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "runtime/sim/tensix/formats.h"
#include "ttfd/tiles.h"

namespace ttfd::client::client_tiles_test {
namespace {

constexpr DataFormat kFormats[] = {DataFormat::kFloat32, DataFormat::kFloat16B, DataFormat::kBfp8B};

std::vector<uint8_t> BytesOf(const std::vector<std::byte>& tiles, size_t first, size_t count) {
  std::vector<uint8_t> bytes(count);
  std::memcpy(bytes.data(), tiles.data() + first, count);
  return bytes;
}

TEST(ClientTiles, AreFacesRowByRowAndZerosFillTheLast) {
  constexpr uint32_t kRows = 40, kColumns = 50;  // 2 x 2 tiles
  std::vector<float> matrix(kRows * kColumns);
  std::iota(matrix.begin(), matrix.end(), 1.0f);
  const auto tiles = ToTiles(matrix, kRows, kColumns, DataFormat::kFloat32);
  ASSERT_TRUE(tiles.ok());
  ASSERT_EQ(tiles->size(), 4 * 4096u);
  std::vector<float> numbers(4 * 1024);
  std::memcpy(numbers.data(), tiles->data(), tiles->size());
  for (uint32_t i = 0; i < numbers.size(); ++i) {
    const uint32_t tile = i / 1024, face = i % 1024 / 256;
    const uint32_t row = tile / 2 * 32 + face / 2 * 16 + i % 256 / 16;
    const uint32_t column = tile % 2 * 32 + face % 2 * 16 + i % 16;
    const bool inside = row < kRows && column < kColumns;
    ASSERT_EQ(numbers[i], inside ? matrix[row * kColumns + column] : 0.0f) << i;
  }
}

TEST(ClientTiles, NumbersThatAFormatHasComeBackAsTheyWere) {
  std::vector<float> matrix(33 * 70);
  for (size_t i = 0; i < matrix.size(); ++i) {
    matrix[i] = static_cast<float>(static_cast<int>(i % 127) - 63) / 64;  // 6 bits, one exponent
  }
  for (const DataFormat format : kFormats) {
    const auto tiles = ToTiles(matrix, 33, 70, format);
    ASSERT_TRUE(tiles.ok());
    EXPECT_EQ(tiles->size(), 6 * TileBytes(format));
    const auto back = FromTiles(*tiles, 33, 70, format);
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(*back, matrix) << static_cast<int>(format);
  }
}

struct Conversion {
  float number;
  uint16_t bfloat16;
};

TEST(ClientTiles, BFloat16RoundsHalvesAwayFromZero) {
  constexpr Conversion kTable[] = {
      {1.0f, 0x3F80},      {-1.00390625f, 0xBF81},                           // a half
      {1.003906f, 0x3F80}, {1.9999999f, 0x4000},   {3.4028235e38f, 0x7F80},  // beyond the greatest
      {-INFINITY, 0xFF80}, {NAN, 0x7F80},          {1.1754944e-38f, 0x0080},
      {1e-39f, 0x0000},    {-1e-39f, 0x0000},      {-0.0f, 0x0000},
  };
  for (const Conversion& row : kTable) {
    const auto tiles = ToTiles(std::vector<float>{row.number}, 1, 1, DataFormat::kFloat16B);
    ASSERT_TRUE(tiles.ok());
    EXPECT_EQ(BytesOf(*tiles, 0, 2),
              (std::vector<uint8_t>{static_cast<uint8_t>(row.bfloat16),
                                    static_cast<uint8_t>(row.bfloat16 >> 8)}))
        << row.number;
  }
}

struct SharedRow {
  std::vector<float> numbers;
  uint8_t exponent;
  std::vector<uint8_t> data;
};

TEST(ClientTiles, Bfp8SharesTheExponentOfARow) {
  const SharedRow kTable[] = {
      {{1.0f, 0.5f, -1.5f, 1.0f / 128, 1.0f / 256, 0.0f}, 127, {64, 32, 0x80 | 96, 1, 0, 0}},
      {{1.9921875f, 1.0f}, 128, {64, 32}},  // rounds to the next exponent
      {{127.0f / 64, 126.0f / 64}, 127, {127, 126}},
      {{NAN, 1.0f}, 255, {64, 0}},
      {{-INFINITY, 3e38f}, 255, {0x80 | 64, 57}},
      {{1e-39f, -0.0f}, 0, {0, 0}},
      {{-1.1754942e-38f, 1.1663e-38f}, 1, {0x80 | 64, 0}},  // the first rounds to 2^-126
      {{-1.0f / 256, 1.0f}, 127, {0, 64}},                  // no -0
  };
  for (const SharedRow& row : kTable) {
    const auto columns = static_cast<uint32_t>(row.numbers.size());
    const auto tiles = ToTiles(row.numbers, 1, columns, DataFormat::kBfp8B);
    ASSERT_TRUE(tiles.ok());
    EXPECT_EQ(BytesOf(*tiles, 0, 1)[0], row.exponent) << row.numbers[0];
    EXPECT_EQ(BytesOf(*tiles, 64, columns), row.data) << row.numbers[0];
  }
}

// Any bits, with both near and distant exponents in a row.
std::vector<float> AnyNumbers() {
  std::vector<float> numbers(1024);
  for (uint32_t i = 0; i < numbers.size(); ++i) {
    const uint32_t bits = (i + 1) * 2654435761u;
    numbers[i] = std::bit_cast<float>(i % 256 < 128 ? bits : (bits & 0x83FFFFFF) | 0x3C000000);
  }
  return numbers;
}
uint32_t BitsOf(float number) { return std::bit_cast<uint32_t>(number); }

uint64_t Fnv1a(std::span<const std::byte> bytes) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const std::byte byte : bytes) {
    hash = (hash ^ std::to_integer<uint64_t>(byte)) * 0x100000001B3;
  }
  return hash;
}

// 32 numbers a row: of each row the first 16 lie in one row of a face, the others in another one.
TEST(ClientTiles, AnyBitsAreConvertedAsByThePacker) {
  using namespace sim::tensix;
  const std::vector<float> numbers = AnyNumbers();
  const auto halves = ToTiles(numbers, 32, 32, DataFormat::kFloat16B);
  const auto shared = ToTiles(numbers, 32, 32, DataFormat::kBfp8B);
  ASSERT_TRUE(halves.ok() && shared.ok());
  for (uint32_t row = 0; row < 32; ++row) {
    for (uint32_t right = 0; right < 2; ++right) {
      const float* const from = &numbers[row * 32 + right * 16];
      const uint32_t face_row = (row / 16 * 2 + right) * 16 + row % 16;
      std::vector<uint16_t> sources(16), words(16);
      uint32_t exponent = 0;
      for (uint32_t i = 0; i < 16; ++i) {
        words[i] = PackFloat32AsBFloat16(BitsOf(from[i]));
        sources[i] = PackFloat32AsEvenBFloat16(BitsOf(from[i]));
        exponent = std::max<uint32_t>(exponent, sources[i] >> 7 & 0xFF);
      }
      EXPECT_EQ(std::memcmp(words.data(), halves->data() + face_row * 32, 32), 0) << row;
      ASSERT_EQ(std::to_integer<uint32_t>((*shared)[face_row]), exponent) << row;
      for (uint32_t i = 0; i < 16; ++i) {
        ASSERT_EQ(std::to_integer<uint8_t>((*shared)[64 + face_row * 16 + i]),
                  PackBfp8(sources[i], exponent))
            << row << " " << i;
      }
    }
  }
}

TEST(ClientTiles, Bfp8IsReadAsByTheUnpacker) {
  // All data with a few exponents, of which none is so small that a number is below the normal ones.
  std::vector<std::byte> tile(TileBytes(DataFormat::kBfp8B));
  for (uint32_t row = 0; row < 64; ++row) {
    tile[row] = static_cast<std::byte>(7 + row / 16 * 82);
    for (uint32_t i = 0; i < 16; ++i)
      tile[64 + row * 16 + i] = static_cast<std::byte>(row * 16 + i);
  }
  const auto matrix = FromTiles(tile, 32, 32, DataFormat::kBfp8B);
  ASSERT_TRUE(matrix.ok());
  for (uint32_t i = 0; i < 1024; ++i) {
    const uint32_t face = i / 256;
    const uint32_t at = (face / 2 * 16 + i % 256 / 16) * 32 + face % 2 * 16 + i % 16;
    EXPECT_EQ(BitsOf((*matrix)[at]), sim::tensix::Bfp8AsFloat32(i % 256, 7 + i / 256 * 82)) << i;
  }
}

TEST(ClientTiles, HaveTheBytesOfThePythonPackage) {
  constexpr uint64_t kHashes[] = {17898667641672568354u, 9121557577090626307u,
                                  14753752251227579000u};
  for (size_t i = 0; i < std::size(kFormats); ++i) {
    const auto tiles = ToTiles(AnyNumbers(), 32, 32, kFormats[i]);
    ASSERT_TRUE(tiles.ok());
    EXPECT_EQ(Fnv1a(*tiles), kHashes[i]) << i;
  }
}

TEST(ClientTiles, RefuseOtherSizesAndFormats) {
  const std::vector<float> matrix(6);
  EXPECT_EQ(ToTiles(matrix, 2, 4, DataFormat::kFloat32).status().message(),
            "matrix of 2 x 4 numbers must have 2 x 4 elements, not 6");
  EXPECT_EQ(ToTiles({}, 0, 4, DataFormat::kFloat32).status().error().field, "rows");
  EXPECT_EQ(ToTiles(matrix, 2, 3, DataFormat::kInt32).status().message(),
            "format must be kFloat32, kFloat16B or kBfp8B, not 9");
  EXPECT_EQ(FromTiles(std::vector<std::byte>(1087), 2, 3, DataFormat::kBfp8B).status().message(),
            "tiles of 2 x 3 numbers must have 1 x 1088 elements, not 1087");
  EXPECT_EQ(FromTiles({}, 1u << 31, 1u << 31, DataFormat::kFloat32).status().error().field, "tiles")
      << "2^64 bytes are not 0";
}

}  // namespace
}  // namespace ttfd::client::client_tiles_test
