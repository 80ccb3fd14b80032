// Operations with tiles in Dst, on Float32: its numbers reach Dst with all their bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/compute_program.h"
#include "tests/support/random.h"

namespace ttfd {
namespace {

using hw::tensix::Format;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kSmallest = std::numeric_limits<float>::min();
constexpr float kLargest = std::numeric_limits<float>::max();
constexpr double kPi = 3.14159265358979323846;

// 32 numbers: all pairs of them are a tile.
constexpr float kNumbers[] = {
    0.0f,       -0.0f,       kInfinity, -kInfinity, 1.0f,        -1.0f,         kSmallest,
    -kSmallest, kLargest,    -kLargest, 1.5f,       -1.5f,       0x1p63f,       0x1p64f,
    -0x1.8p64f, 0x1p65f,     0x1p125f,  0x1p126f,   -0x1.fp126f, 0x1p127f,      0x1p-62f,
    0x1p-63f,   0x1.8p-125f, 0x1p-64f,  0.333333f,  3.1415927f,  0x1.000002p0f, 16777216.0f,
    8388607.5f, -8388607.5f, -0.25f,    100.75f,
};
static_assert(std::size(kNumbers) == Tile::kSide);

struct Numbers {
  std::vector<float> a, b, c;
};

// Of any magnitude, but for denormals, infinities and NaN.
float AnyNumber(Random& random) {
  const uint32_t exponent = 1 + random() % 254;
  return std::bit_cast<float>(static_cast<uint32_t>(random() & 0x807FFFFF) | exponent << 23);
}

// A tile of all pairs of kNumbers, tiles of random pairs, and one of pairs that are near each other.
Numbers PairsOfNumbers() {
  Random random(7);
  Numbers numbers;
  const auto append = [&](float a, float b) {
    numbers.a.push_back(a);
    numbers.b.push_back(b);
    numbers.c.push_back(AnyNumber(random));
  };
  for (const float a : kNumbers) {
    for (const float b : kNumbers) append(a, b);
  }
  for (uint32_t i = 0; i < 6 * Tile::kWords; ++i) append(AnyNumber(random), AnyNumber(random));
  for (uint32_t i = 0; i < Tile::kWords; ++i) {
    const float a = AnyNumber(random);
    const auto near = std::bit_cast<uint32_t>(a) + static_cast<uint32_t>(random() % 3) - 1;
    append(a, std::bit_cast<float>(near));
  }
  return numbers;
}

std::vector<std::byte> BytesOf(const std::vector<float>& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  return {bytes.begin(), bytes.end()};
}

// Numbers in a second format, if any, are written as that.
std::vector<float> ResultOf(const Numbers& numbers, std::vector<uint32_t> arguments,
                            Format out = Format::kFloat32) {
  BootedCard card;
  ComputeProgram program(card,
                         {.compute = "compute_dst",
                          .inputs = 3,
                          .cores = {0, 0, 3, 1},
                          .formats = {Format::kFloat32, Format::kFloat32, Format::kFloat32, out}});
  arguments.resize(2);
  return DecodeTiles(
      out, program.Run<std::byte>({BytesOf(numbers.a), BytesOf(numbers.b), BytesOf(numbers.c)},
                                  arguments));
}

// In the order of compute_dst.cc.
enum Operation : uint32_t {
  kDivide,
  kMaximum,
  kMinimum,
  kCompare,
  kWhere = 9,
  kSin,
  kCos,
  kFloor,
  kFill,
  kBroadcast,
  kRowSums = kBroadcast + 4,
  kRowMaxima,
  kAddInt32
};

// `error`: relative. There are no denormals: a number that the smallest one makes no difference to is right.
bool IsNear(float found, double exact, double error) {
  if (std::isnan(exact)) return std::isnan(found);
  if (std::abs(exact) * (1 + error) >= std::ldexp(1.0, 128)) {
    return std::isinf(found)
               ? (found < 0) == (exact < 0)
               : std::isfinite(exact) && std::abs(found - exact) <= std::abs(exact) * error;
  }
  return std::abs(found - exact) <= std::max<double>(std::abs(exact) * error, kSmallest);
}

TEST(ComputeDst, SumsOfIntegersAreExact) {
  Random random(8);
  std::vector<uint32_t> a(4 * Tile::kWords), b(a.size()), expected(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<uint32_t>(random());
    b[i] = i % 2 == 0 ? static_cast<uint32_t>(random()) : 0 - a[i] + i % 8;  // small sums, too
    expected[i] = a[i] + b[i];
  }
  const auto bytes = [](const std::vector<uint32_t>& words) {
    const auto all = std::as_bytes(std::span(words));
    return std::vector<std::byte>(all.begin(), all.end());
  };
  BootedCard card;
  ComputeProgram program(
      card, {.compute = "compute_dst",
             .inputs = 3,
             .formats = {Format::kFloat32, Format::kFloat32, Format::kFloat32, Format::kFloat32}});
  EXPECT_TRUE(program.Run<std::byte>({bytes(a), bytes(b), bytes(a)}, {kAddInt32, 0}) ==
              bytes(expected));
}

TEST(ComputeDst, QuotientsHaveTheirError) {
  const Numbers numbers = PairsOfNumbers();
  for (const Format format : {Format::kFloat32, Format::kFloat16B}) {
    const auto found = ResultOf(numbers, {kDivide}, format);
    ASSERT_EQ(found.size(), numbers.a.size());
    for (size_t i = 0; i < found.size(); ++i) {
      const double exact = double{numbers.a[i]} / numbers.b[i];
      if (std::isnan(exact)) continue;
      // Of bfloat16 less than its step there: a neighbour.
      const double step = std::ldexp(1.0, std::max(std::ilogb(exact), -200) - 7) / std::abs(exact);
      const double error = format == Format::kFloat32 ? 5e-7 : std::isfinite(step) ? step : 0;
      ASSERT_TRUE(IsNear(found[i], exact, error))
          << numbers.a[i] << " / " << numbers.b[i] << " is " << found[i] << ", not " << exact;
    }
  }
}

struct Exact {
  const char* name;
  uint32_t operation;
  float (*of)(float a, float b, float c);
};
constexpr Exact kExact[] = {
    {"Maximum", kMaximum,
     [](float a, float b, float) { return a == b && std::signbit(a) ? b : std::max(a, b); }},
    {"Minimum", kMinimum,
     [](float a, float b, float) { return a == b && std::signbit(b) ? b : std::min(a, b); }},
    {"Equal", kCompare, [](float a, float b, float) { return a == b ? 1.0f : 0.0f; }},
    {"NotEqual", kCompare + 1, [](float a, float b, float) { return a != b ? 1.0f : 0.0f; }},
    {"Less", kCompare + 2, [](float a, float b, float) { return a < b ? 1.0f : 0.0f; }},
    {"LessOrEqual", kCompare + 3, [](float a, float b, float) { return a <= b ? 1.0f : 0.0f; }},
    {"Greater", kCompare + 4, [](float a, float b, float) { return a > b ? 1.0f : 0.0f; }},
    {"GreaterOrEqual", kCompare + 5, [](float a, float b, float) { return a >= b ? 1.0f : 0.0f; }},
    {"Where", kWhere, [](float a, float b, float c) { return a != 0 ? b : c; }},
    // -0 is 0 there.
    {"Floor", kFloor, [](float a, float, float) { return a == 0 ? 0 : std::floor(a); }},
};

class ComputeDstExact : public ::testing::TestWithParam<size_t> {};

TEST_P(ComputeDstExact, EveryBitIsRight) {
  const Exact& exact = kExact[GetParam()];
  const Numbers numbers = PairsOfNumbers();
  const auto found = ResultOf(numbers, {exact.operation});
  ASSERT_EQ(found.size(), numbers.a.size());
  for (size_t i = 0; i < found.size(); ++i) {
    const float expected = exact.of(numbers.a[i], numbers.b[i], numbers.c[i]);
    ASSERT_EQ(std::bit_cast<uint32_t>(found[i]), std::bit_cast<uint32_t>(expected))
        << numbers.a[i] << ", " << numbers.b[i] << ", " << numbers.c[i] << ": " << found[i]
        << ", not " << expected;
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, ComputeDstExact,
                         ::testing::Range(size_t{0}, std::size(kExact)),
                         [](const auto& index) { return std::string(kExact[index.param].name); });

// Numbers up to 2 ^ 17, and a few near multiples of pi / 2.
TEST(ComputeDst, SineAndCosineHaveTheirError) {
  Random random(3);
  Numbers numbers;
  for (uint32_t i = 0; i < 8 * Tile::kWords; ++i) {
    const double any = std::ldexp(1 + static_cast<double>(random() & 0x7FFFFF) / (1 << 23),
                                  static_cast<int>(random() % 37) - 20);
    const double near = static_cast<double>(random() % 40000) * kPi / 2;
    numbers.a.push_back(static_cast<float>((i % 4 == 0 ? near : any) * ((i & 4) != 0 ? -1 : 1)));
  }
  numbers.b = numbers.c = numbers.a;
  for (const bool cosine : {false, true}) {
    const auto found = ResultOf(numbers, {cosine ? kCos : kSin});
    for (size_t i = 0; i < found.size(); ++i) {
      const double exact = cosine ? std::cos(double{numbers.a[i]}) : std::sin(double{numbers.a[i]});
      ASSERT_LE(std::abs(found[i] - exact), std::abs(exact) * 1e-5 + 1e-9)
          << (cosine ? "cos " : "sin ") << numbers.a[i] << " is " << found[i];
    }
  }
}

// Each tile is filled outside another pair of rows and columns. With 0 and without: faces are cleared, or stored.
TEST(ComputeDst, FillsOutsideRowsAndColumns) {
  constexpr uint32_t kTiles = 1024;
  Random random(5);
  Numbers numbers;
  for (uint32_t i = 0; i < kTiles * Tile::kWords; ++i) numbers.a.push_back(AnyNumber(random));
  numbers.b = numbers.c = numbers.a;
  for (const float filling : {0.0f, -2.7182817f}) {
    const auto found = ResultOf(numbers, {kFill, std::bit_cast<uint32_t>(filling)});
    ASSERT_EQ(found.size(), numbers.a.size());
    for (uint32_t tile = 0; tile < kTiles; ++tile) {
      const uint32_t rows = tile / 32 + 1, columns = tile % 32 + 1;
      for (uint32_t row = 0; row < Tile::kSide; ++row) {
        for (uint32_t column = 0; column < Tile::kSide; ++column) {
          const size_t at = tile * Tile::kWords + Tile::At(row, column);
          const bool inside = row < rows && column < columns;
          ASSERT_EQ(found[at], inside ? numbers.a[at] : filling)
              << "row " << row << ", column " << column << " of " << rows << " x " << columns;
        }
      }
    }
  }
}

// Each number becomes the sum or the maximum of its row: of numbers of all bits, which the matrix unit would cut.
TEST(ComputeDst, ReducesRows) {
  Random random(6);
  Numbers numbers;
  for (uint32_t i = 0; i < 32 * Tile::kWords; ++i) {
    const auto number = static_cast<float>(static_cast<int32_t>(random()));
    numbers.a.push_back(std::ldexp(number, -static_cast<int>(random() % 24)));
  }
  numbers.b = numbers.c = numbers.a;
  const auto sums = ResultOf(numbers, {kRowSums}), maxima = ResultOf(numbers, {kRowMaxima});
  ASSERT_EQ(sums.size(), numbers.a.size());
  ASSERT_EQ(maxima.size(), numbers.a.size());
  for (size_t first = 0; first < numbers.a.size(); first += Tile::kWords) {
    for (uint32_t row = 0; row < Tile::kSide; ++row) {
      double sum = 0, magnitude = 0;
      float maximum = numbers.a[first + Tile::At(row, 0)];
      for (uint32_t column = 0; column < Tile::kSide; ++column) {
        const float number = numbers.a[first + Tile::At(row, column)];
        sum += number;
        magnitude += std::abs(number);
        maximum = std::max(maximum, number);
      }
      for (uint32_t column = 0; column < Tile::kSide; ++column) {
        const size_t at = first + Tile::At(row, column);
        ASSERT_NEAR(sums[at], sum, magnitude * 1e-6) << "row " << row << ", column " << column;
        ASSERT_EQ(maxima[at], maximum) << "row " << row << ", column " << column;
      }
    }
  }
}

// The sum of two broadcasts, of inputs 0 and 2, and a copy. Of TF32 the sum is exact here.
TEST(ComputeDst, BroadcastsRowsColumnsAndNumbers) {
  Random random(9);
  Numbers numbers;
  for (uint32_t i = 0; i < 4 * Tile::kWords; ++i) {
    for (auto* const to : {&numbers.a, &numbers.b, &numbers.c}) {
      to->push_back(static_cast<float>(static_cast<int>(random() % 1001) - 500) / 8);
    }
  }
  for (uint32_t broadcast = 0; broadcast < 4; ++broadcast) {
    const auto found = ResultOf(numbers, {kBroadcast + broadcast});
    ASSERT_EQ(found.size(), numbers.a.size());
    for (size_t tile = 0; tile < found.size(); tile += Tile::kWords) {
      for (uint32_t row = 0; row < Tile::kSide; ++row) {
        for (uint32_t column = 0; column < Tile::kSide; ++column) {
          const size_t at = tile + Tile::At(row, column);
          const size_t from =
              tile + Tile::At(broadcast >= 2 ? 0 : row, broadcast % 2 != 0 ? 0 : column);
          ASSERT_EQ(found[at], numbers.a[from] + numbers.b[at] + numbers.c[from])
              << "broadcast " << broadcast << ", row " << row << ", column " << column;
        }
      }
    }
  }
}

// Float32 is cut off to TF32: 13 bits of the mantissa become 0.
TEST(ComputeDst, ABroadcastOfFloat32IsCutToTf32) {
  Numbers numbers;
  numbers.a.assign(Tile::kWords, 1.2345678f);
  numbers.b.assign(Tile::kWords, 0.0f);
  numbers.c.assign(Tile::kWords, 0.0f);
  const float cut = std::bit_cast<float>(std::bit_cast<uint32_t>(1.2345678f) & 0xFFFFE000);
  EXPECT_EQ(ResultOf(numbers, {kBroadcast + 2}), std::vector<float>(Tile::kWords, cut));
}

}  // namespace
}  // namespace ttfd
