// Operations of the compute SDK on two tiles at a time, in every format, with inputs of which each result is exact
// until it is packed; and products of less than exact fidelity.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tests/support/compute_program.h"
#include "tests/support/random.h"

namespace ttfd {
namespace {

using hw::tensix::Format;

constexpr uint32_t kPairs = 8;  // more than the engine holds when nothing is taken from it

// A tile by rows and columns.
using Matrix = std::array<std::array<float, Tile::kSide>, Tile::kSide>;
struct Pair {
  Matrix tiles[2];
};

Matrix RandomMatrix(Random& random, int low, int high, float unit) {
  Matrix matrix;
  for (auto& row : matrix) {
    for (float& number : row) {
      number = static_cast<float>(low + static_cast<int>(random() % (high - low + 1))) * unit;
    }
  }
  return matrix;
}

// Row 0 holds the scale, the rest of the tile is 0: of reductions.
Matrix Scaler(float scale) {
  Matrix matrix{};
  matrix[0].fill(scale);
  return matrix;
}

std::vector<std::byte> Encode(Format format, const Matrix& matrix) {
  std::vector<float> numbers(Tile::kWords);
  for (uint32_t row = 0; row < Tile::kSide; ++row) {
    for (uint32_t column = 0; column < Tile::kSide; ++column) {
      numbers[Tile::At(row, column)] = matrix[row][column];
    }
  }
  return EncodeTiles(format, numbers);
}
void Append(Format format, const Matrix& matrix, std::vector<std::byte>& bytes) {
  const auto tile = Encode(format, matrix);
  bytes.insert(bytes.end(), tile.begin(), tile.end());
}

template <typename At>
Matrix Make(At at) {
  Matrix matrix;
  for (uint32_t row = 0; row < Tile::kSide; ++row) {
    for (uint32_t column = 0; column < Tile::kSide; ++column) matrix[row][column] = at(row, column);
  }
  return matrix;
}

// The numbers nearest to a matrix's that the format has.
Matrix Held(Format format, const Matrix& matrix) {
  const auto numbers = DecodeTiles(format, Encode(format, matrix));
  return Make([&](uint32_t row, uint32_t column) { return numbers[Tile::At(row, column)]; });
}

enum class Operator { kAdd, kSubtract, kMultiply };
float Apply(Operator operation, float a, float b) {
  return operation == Operator::kAdd ? a + b : operation == Operator::kSubtract ? a - b : a * b;
}

// kRows: row 0 for all rows.
enum class Broadcast { kNone, kRows, kColumns, kScalar };

template <Operator kOperator, Broadcast kBroadcast>
Pair Elementwise(const Pair& a, const Pair& b) {
  constexpr bool kOneRow = kBroadcast == Broadcast::kRows || kBroadcast == Broadcast::kScalar;
  constexpr bool kOneColumn = kBroadcast == Broadcast::kColumns || kBroadcast == Broadcast::kScalar;
  Pair result;
  for (int i = 0; i < 2; ++i) {
    result.tiles[i] = Make([&](uint32_t row, uint32_t column) {
      return Apply(kOperator, a.tiles[i][row][column],
                   b.tiles[i][kOneRow ? 0 : row][kOneColumn ? 0 : column]);
    });
  }
  return result;
}

enum class Over { kColumns, kRows, kAll };

// The numbers of one or two tiles combined, where they go.
template <Over kOver, bool kMaximum>
Matrix Reduce(const std::vector<const Matrix*>& tiles, float scale) {
  Matrix result{};
  std::array<std::array<bool, Tile::kSide>, Tile::kSide> found{};
  for (const Matrix* tile : tiles) {
    for (uint32_t row = 0; row < Tile::kSide; ++row) {
      for (uint32_t column = 0; column < Tile::kSide; ++column) {
        const uint32_t to_row = kOver == Over::kColumns ? row : 0;
        const uint32_t to_column = kOver == Over::kRows ? column : 0;
        float& to = result[to_row][to_column];
        const float number = (*tile)[row][column] * scale;
        to = !kMaximum ? to + number : found[to_row][to_column] ? std::max(to, number) : number;
        found[to_row][to_column] = true;
      }
    }
  }
  return result;
}
// The first result is of both tiles, the second one of the second.
template <Over kOver, bool kMaximum>
Pair Reduction(const Pair& a, const Pair& b) {
  const float scale = b.tiles[0][0][0];
  return {{Reduce<kOver, kMaximum>({&a.tiles[0], &a.tiles[1]}, scale),
           Reduce<kOver, kMaximum>({&a.tiles[1]}, scale)}};
}

Pair Copy(const Pair& a, const Pair&) { return a; }
Pair Transpose(const Pair& a, const Pair&) {
  Pair result;
  for (int i = 0; i < 2; ++i) {
    result.tiles[i] = Make([&](uint32_t row, uint32_t column) { return a.tiles[i][column][row]; });
  }
  return result;
}
// Of two operations one after the other.
Pair TransposeOne(const Pair& a, const Pair& b) { return {{Transpose(a, b).tiles[0], a.tiles[1]}}; }
Pair MatrixProducts(const Pair& a, const Pair& b) {
  Pair result;
  for (int i = 0; i < 2; ++i) {
    result.tiles[i] = Make([&](uint32_t row, uint32_t column) {
      float sum = 0;
      for (uint32_t k = 0; k < Tile::kSide; ++k) {
        sum += a.tiles[0][row][k] * b.tiles[i][k][column];
        sum += a.tiles[1][row][k] * b.tiles[1 - i][k][column];
      }
      return sum;
    });
  }
  return result;
}
Pair TransposedProducts(const Pair& a, const Pair& b) { return MatrixProducts(a, Transpose(b, b)); }
Pair RoundToBFloat16(const Pair& a, const Pair&) {
  Pair result;
  for (int i = 0; i < 2; ++i) {
    result.tiles[i] = Make([&](uint32_t row, uint32_t column) {
      return FromBfloat16(ToBfloat16(a.tiles[i][row][column]));
    });
  }
  return result;
}
Pair MultiplyAndAdd(const Pair& a, const Pair& b) {
  return Elementwise<Operator::kAdd, Broadcast::kNone>(
      a, Elementwise<Operator::kMultiply, Broadcast::kNone>(a, b));
}

struct Operation {
  const char* name;
  Pair (*expected)(const Pair&, const Pair&);
  // Inputs: multiples of `unit`; of Float32 four times as many, where they have 8 bits. A scale other than 0: the
  // second input is a scaler.
  int low, high;
  float unit;
  float scale;
};
#define BROADCASTS(name, operation)                                                               \
  {name "", Elementwise<Operator::operation, Broadcast::kNone>, -255, 255, 1.0f / 16, 0},         \
      {name "Rows", Elementwise<Operator::operation, Broadcast::kRows>, -255, 255, 1.0f / 16, 0}, \
      {name "Columns", Elementwise<Operator::operation, Broadcast::kColumns>,                     \
       -255,           255,                                                                       \
       1.0f / 16,      0},                                                                        \
  {                                                                                               \
    name "Scalar", Elementwise<Operator::operation, Broadcast::kScalar>, -255, 255, 1.0f / 16, 0  \
  }
// In the order of compute_pairs.cc.
constexpr Operation kOperations[] = {
    BROADCASTS("Add", kAdd),
    BROADCASTS("Subtract", kSubtract),
    BROADCASTS("Multiply", kMultiply),
    {"SumOfRows", Reduction<Over::kColumns, false>, -15, 15, 1, 0.25f},
    {"SumOfColumns", Reduction<Over::kRows, false>, -15, 15, 1, 0.25f},
    {"SumOfAll", Reduction<Over::kAll, false>, -15, 15, 1, 0.25f},
    {"MaximumOfRows", Reduction<Over::kColumns, true>, -255, -1, 1.0f / 16, 1},
    {"MaximumOfColumns", Reduction<Over::kRows, true>, -255, -1, 1.0f / 16, 1},
    {"MaximumOfAll", Reduction<Over::kAll, true>, -255, -1, 1.0f / 16, 1},
    {"Copy", Copy, -255, 255, 1.0f / 16, 0},
    {"Transpose", Transpose, -255, 255, 1.0f / 16, 0},
    {"TransposeOne", TransposeOne, -255, 255, 1.0f / 16, 0},
    {"MatrixProducts", MatrixProducts, -3, 3, 1, 0},
    {"TransposedProducts", TransposedProducts, -3, 3, 1, 0},
    {"MultiplyAndAdd", MultiplyAndAdd, -255, 255, 1.0f / 16, 0},
    {"SubtractInDst", Elementwise<Operator::kSubtract, Broadcast::kNone>, -255, 255, 1.0f / 16, 0},
    {"MultiplyInDst", Elementwise<Operator::kMultiply, Broadcast::kNone>, -255, 255, 1.0f / 16, 0},
    {"RoundToBFloat16", RoundToBFloat16, -255, 255, 1.0f / 16, 0},
};
constexpr size_t kCopy = 18;                          // numbers of operations
constexpr size_t kProducts = std::size(kOperations);  // mul_tiles and matmul_tiles, by fidelity
static_assert(std::string_view(kOperations[kCopy].name) == "Copy");
#undef BROADCASTS

struct Pipeline {
  const char* name;
  const char* reader;
  const char* writer;
  Format left, right, result;
};
// A slow neighbour makes each wait of a compute kernel one that is needed.
constexpr Pipeline kPipelines[] = {
    {"", "chain_reader", "chain_writer", Format::kFloat16B, Format::kFloat16B, Format::kFloat16B},
    {"SlowReader", "slow_chain_reader", "chain_writer", Format::kFloat16B, Format::kFloat16B,
     Format::kBfp8B},
    {"SlowWriter", "chain_reader", "slow_chain_writer", Format::kFloat32, Format::kFloat32,
     Format::kFloat32},
    {"Blocks", "chain_reader", "chain_writer", Format::kBfp8B, Format::kBfp8B, Format::kBfp8B},
    {"Mixed", "chain_reader", "chain_writer", Format::kFloat32, Format::kBfp8B, Format::kFloat16B},
};

ComputeKernels KernelsOf(const Pipeline& pipeline) {
  return {.compute = "compute_pairs",
          .inputs = 2,
          .reader = pipeline.reader,
          .writer = pipeline.writer,
          .formats = {pipeline.left, pipeline.right, pipeline.result}};
}

class ComputePairs : public ::testing::TestWithParam<std::tuple<size_t, size_t>> {};

// Twice: the second launch finds the engine as the first one left it.
TEST_P(ComputePairs, EveryNumberIsTheRoundedResult) {
  const auto [index, number] = GetParam();
  const Operation& operation = kOperations[index];
  const Pipeline& pipeline = kPipelines[number];
  const int more =
      pipeline.left == Format::kFloat32 && operation.high - operation.low >= 254 ? 4 : 1;
  BootedCard card;
  ComputeProgram program(card, KernelsOf(pipeline));
  for (uint32_t run = 0; run < 2; ++run) {
    Random random(static_cast<uint32_t>(100 * run + index));
    std::vector<std::byte> left, right, expected;
    for (uint32_t pair = 0; pair < kPairs; ++pair) {
      const auto numbers = [&](Format format) {
        return Held(format, RandomMatrix(random, more * operation.low, more * operation.high,
                                         operation.unit / static_cast<float>(more)));
      };
      const Pair a = {{numbers(pipeline.left), numbers(pipeline.left)}};
      Pair b = {{numbers(pipeline.right), numbers(pipeline.right)}};
      if (operation.scale != 0) b = {{Scaler(operation.scale), Scaler(operation.scale)}};
      const Pair result = operation.expected(a, b);
      for (int i = 0; i < 2; ++i) {
        Append(pipeline.left, a.tiles[i], left);
        Append(pipeline.right, b.tiles[i], right);
        Append(pipeline.result, result.tiles[i], expected);
      }
    }
    const auto bytes = program.Run<std::byte>({left, right}, {static_cast<uint32_t>(index)});
    ASSERT_EQ(bytes.size(), expected.size());
    if (bytes == expected) continue;
    const auto found = DecodeTiles(pipeline.result, bytes);
    const auto wanted = DecodeTiles(pipeline.result, expected);
    size_t wrong = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      if (found[i] == wanted[i] || ++wrong > 3) continue;
      ADD_FAILURE() << "word " << i % Tile::kWords << " of tile " << i / Tile::kWords << " is "
                    << found[i] << ", not " << wanted[i];
    }
    FAIL() << wrong << " numbers of " << found.size() << " differ in run " << run;
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, ComputePairs,
                         ::testing::Combine(::testing::Range(size_t{0}, std::size(kOperations)),
                                            ::testing::Range(size_t{0}, std::size(kPipelines))),
                         [](const auto& test) {
                           return std::string(kOperations[std::get<0>(test.param)].name) +
                                  kPipelines[std::get<1>(test.param)].name;
                         });

constexpr Format kFormats[] = {Format::kFloat32, Format::kFloat16B, Format::kBfp8B};
constexpr const char* kFormatNames[] = {"Float32", "BFloat16", "Bfp8"};

std::vector<float> RandomNumbers(Random& random, size_t count, int exponents) {
  std::vector<float> numbers(count);
  for (float& number : numbers) {
    const float mantissa = 1 + static_cast<float>(random() & 0x7FFFFF) / (1 << 23);
    const int exponent = static_cast<int>(random() % exponents) - exponents / 2;
    number = std::ldexp((random() & 1) != 0 ? mantissa : -mantissa, exponent);
  }
  return numbers;
}

class ComputeFormats : public ::testing::TestWithParam<std::tuple<size_t, size_t>> {};

// All bits of a mantissa, and exponents of any distance.
TEST_P(ComputeFormats, CopyRoundsOnceWhenItIsPacked) {
  const Format in = kFormats[std::get<0>(GetParam())];
  const Format out = kFormats[std::get<1>(GetParam())];
  BootedCard card;
  ComputeProgram program(card, KernelsOf({"", "slow_chain_reader", "chain_writer", in, in, out}));
  Random random(1);
  const auto tiles = EncodeTiles(in, RandomNumbers(random, 4 * Tile::kWords, 24));
  EXPECT_TRUE(program.Run<std::byte>({tiles, tiles}, {kCopy}) ==
              EncodeTiles(out, DecodeTiles(in, tiles)));
}

INSTANTIATE_TEST_SUITE_P(Formats, ComputeFormats,
                         ::testing::Combine(::testing::Range(size_t{0}, std::size(kFormats)),
                                            ::testing::Range(size_t{0}, std::size(kFormats))),
                         [](const auto& test) {
                           return std::string(kFormatNames[std::get<0>(test.param)]) + "As" +
                                  kFormatNames[std::get<1>(test.param)];
                         });

TEST(ComputeFloat32, CopyKeepsEveryBit) {
  BootedCard card;
  ComputeProgram program(card, KernelsOf({"", "chain_reader", "slow_chain_writer", Format::kFloat32,
                                          Format::kFloat32, Format::kFloat32}));
  Random random(1);
  std::vector<std::byte> tiles(4 * Tile::BytesIn(Format::kFloat32));
  for (std::byte& byte : tiles) byte = static_cast<std::byte>(random());
  EXPECT_TRUE(program.Run<std::byte>({tiles, tiles}, {kCopy}) == tiles);
}

struct Fidelity {
  const char* name;
  // Bounds of the largest error, divided by the sum of the magnitudes of products.
  double of_bfloat16, of_float32;
};
// In the order of compute_pairs.cc.
constexpr Fidelity kFidelities[] = {{"LoFi", 0.07, 0.08},
                                    {"HiFi2", 0.009, 0.02},
                                    {"HiFi3", 0.0008, 0.005},
                                    {"HiFi4", 0.0003, 0.003}};

class ComputeFidelity : public ::testing::TestWithParam<std::tuple<size_t, bool, bool>> {};

TEST_P(ComputeFidelity, ErrorHasItsBound) {
  const auto [index, matrices, is_float32] = GetParam();
  const Format in = is_float32 ? Format::kFloat32 : Format::kFloat16B;
  BootedCard card;
  ComputeProgram program(card,
                         KernelsOf({"", "chain_reader", "chain_writer", in, in, Format::kFloat32}));
  Random random(1);
  Pair a, b;
  std::vector<std::byte> left, right;
  for (int i = 0; i < 2; ++i) {
    for (const auto& [pair, bytes] : {std::pair(&a, &left), std::pair(&b, &right)}) {
      const auto tile = EncodeTiles(in, RandomNumbers(random, Tile::kWords, 4));
      bytes->insert(bytes->end(), tile.begin(), tile.end());
      const auto numbers = DecodeTiles(in, tile);
      pair->tiles[i] =
          Make([&](uint32_t row, uint32_t column) { return numbers[Tile::At(row, column)]; });
    }
  }
  const auto operation = static_cast<uint32_t>(kProducts + 2 * index + (matrices ? 1 : 0));
  const auto found =
      DecodeTiles(Format::kFloat32, program.Run<std::byte>({left, right}, {operation}));
  double largest = 0;
  for (uint32_t i = 0; i < 2; ++i) {
    for (uint32_t row = 0; row < Tile::kSide; ++row) {
      for (uint32_t column = 0; column < Tile::kSide; ++column) {
        double sum = 0, magnitudes = 0;
        const auto add = [&](float x, float y) {
          sum += double{x} * y;
          magnitudes += std::abs(double{x} * y);
        };
        if (!matrices) add(a.tiles[i][row][column], b.tiles[i][row][column]);
        for (uint32_t k = 0; matrices && k < Tile::kSide; ++k) {
          add(a.tiles[0][row][k], b.tiles[i][k][column]);
          add(a.tiles[1][row][k], b.tiles[1 - i][k][column]);
        }
        const double error = std::abs(found[i * Tile::kWords + Tile::At(row, column)] - sum);
        largest = std::max(largest, error / magnitudes);
      }
    }
  }
  const Fidelity& fidelity = kFidelities[index];
  EXPECT_LE(largest, is_float32 ? fidelity.of_float32 : fidelity.of_bfloat16);
  // Less fidelity is less work: the error is not the next one's.
  if (index < 2) {
    EXPECT_GT(largest, kFidelities[index + 1].of_bfloat16 / 2);
  }
  if (!matrices && !is_float32) {
    EXPECT_EQ(largest == 0, index + 1 == std::size(kFidelities)) << "HiFi4 alone is exact";
  }
}

INSTANTIATE_TEST_SUITE_P(Fidelities, ComputeFidelity,
                         ::testing::Combine(::testing::Range(size_t{0}, std::size(kFidelities)),
                                            ::testing::Bool(), ::testing::Bool()),
                         [](const auto& test) {
                           return std::string(kFidelities[std::get<0>(test.param)].name) +
                                  (std::get<1>(test.param) ? "Matrices" : "Elements") +
                                  (std::get<2>(test.param) ? "Float32" : "BFloat16");
                         });

}  // namespace
}  // namespace ttfd
