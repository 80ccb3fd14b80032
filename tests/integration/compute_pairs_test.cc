// Operations of the compute SDK on two tiles at a time, with inputs of which each result is exact until it is packed.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/compute_program.h"
#include "tests/support/random.h"

namespace ttfd {
namespace {

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

void Append(const Matrix& matrix, std::vector<uint16_t>& words) {
  const size_t base = words.size();
  words.resize(base + Tile::kWords);
  for (uint32_t row = 0; row < Tile::kSide; ++row) {
    for (uint32_t column = 0; column < Tile::kSide; ++column) {
      words[base + Tile::At(row, column)] = ToBfloat16(matrix[row][column]);
    }
  }
}

template <typename At>
Matrix Make(At at) {
  Matrix matrix;
  for (uint32_t row = 0; row < Tile::kSide; ++row) {
    for (uint32_t column = 0; column < Tile::kSide; ++column) matrix[row][column] = at(row, column);
  }
  return matrix;
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
Pair MultiplyAndAdd(const Pair& a, const Pair& b) {
  return Elementwise<Operator::kAdd, Broadcast::kNone>(
      a, Elementwise<Operator::kMultiply, Broadcast::kNone>(a, b));
}

struct Operation {
  const char* name;
  Pair (*expected)(const Pair&, const Pair&);
  // Inputs: multiples of `unit`. A scale other than 0: the second input is a scaler.
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
};
#undef BROADCASTS

struct Pipeline {
  const char* name;
  const char* reader;
  const char* writer;
};
// A slow neighbour makes each wait of a compute kernel one that is needed.
constexpr Pipeline kPipelines[] = {{"", "chain_reader", "chain_writer"},
                                   {"SlowReader", "slow_chain_reader", "chain_writer"},
                                   {"SlowWriter", "chain_reader", "slow_chain_writer"}};

class ComputePairs : public ::testing::TestWithParam<std::tuple<size_t, size_t>> {};

// Twice: the second launch finds the engine as the first one left it.
TEST_P(ComputePairs, EveryWordIsTheRoundedResult) {
  const auto [index, pipeline] = GetParam();
  const Operation& operation = kOperations[index];
  BootedCard card;
  ComputeProgram program(card, {.compute = "compute_pairs",
                                .inputs = 2,
                                .reader = kPipelines[pipeline].reader,
                                .writer = kPipelines[pipeline].writer});
  for (uint32_t run = 0; run < 2; ++run) {
    Random random(static_cast<uint32_t>(100 * run + index));
    std::vector<uint16_t> left, right, expected;
    for (uint32_t pair = 0; pair < kPairs; ++pair) {
      const auto numbers = [&] {
        return RandomMatrix(random, operation.low, operation.high, operation.unit);
      };
      const Pair a = {{numbers(), numbers()}};
      Pair b = {{numbers(), numbers()}};
      if (operation.scale != 0) b = {{Scaler(operation.scale), Scaler(operation.scale)}};
      const Pair result = operation.expected(a, b);
      for (int i = 0; i < 2; ++i) {
        Append(a.tiles[i], left);
        Append(b.tiles[i], right);
        Append(result.tiles[i], expected);
      }
    }
    const auto words = program.Run({left, right}, {static_cast<uint32_t>(index)});
    size_t wrong = 0;
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i] == expected[i] || ++wrong > 3) continue;
      ADD_FAILURE() << "word " << i % Tile::kWords << " of tile " << i / Tile::kWords << " is "
                    << FromBfloat16(words[i]) << ", not " << FromBfloat16(expected[i]);
    }
    ASSERT_EQ(wrong, 0u) << "of " << words.size() << " words, in run " << run;
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, ComputePairs,
                         ::testing::Combine(::testing::Range(size_t{0}, std::size(kOperations)),
                                            ::testing::Range(size_t{0}, std::size(kPipelines))),
                         [](const auto& test) {
                           return std::string(kOperations[std::get<0>(test.param)].name) +
                                  kPipelines[std::get<1>(test.param)].name;
                         });

}  // namespace
}  // namespace ttfd
