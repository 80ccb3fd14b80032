// The kernels of reductions, by their words: rows and columns, cores, batches, padding, formats.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/op_reference.h"

namespace ttfd::op_test::op_reduce_test {
namespace {

using hw::tensix::Format;
using ops::Pool;

struct Reduce {
  const char* name;
  OpCores cores;
  Pool pool;
  bool to_row;  // else each row becomes a number
  Size size;
  Format format;
  Format output = kBf16;
  float factor = 1;
  float offset = 0;  // of the numbers
  uint32_t launches = 1;
};

OpTensor InputOf(const Reduce& of) {
  Random random(17);
  OpTensor input = RandomTensor(random, of.size, of.format);
  for (float& number : input.numbers) number += of.offset;
  input.Decode(input.Encode());
  return input;
}

OpTensor OutputOf(const Reduce& of) {
  OpTensor output{of.size, of.output};
  output.size[of.to_row ? 2 : 3] = 1;
  return output;
}

double Combine(Pool pool, double a, double b) {
  return pool == Pool::kSum ? a + b : pool == Pool::kMaximum ? std::max(a, b) : std::min(a, b);
}

std::vector<double> ExpectedOf(const Reduce& of, const OpTensor& input) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double start = of.pool == Pool::kSum       ? 0
                       : of.pool == Pool::kMaximum ? -kInfinity
                                                   : kInfinity;
  std::vector<double> expected(OutputOf(of).count(), start);
  const size_t rows = of.size[2], columns = of.size[3];
  for (size_t i = 0; i < input.count(); ++i) {
    const size_t row = i / columns, column = i % columns;
    double& number = expected[of.to_row ? row / rows * columns + column : row];
    number = Combine(of.pool, number, input.numbers[i]);
  }
  for (double& number : expected) number *= of.factor;
  return expected;
}

void RunReduce(BootedCard& card, const Reduce& of) {
  const OpTensor input = InputOf(of);
  OpTensor output = OutputOf(of);
  std::vector<OpBuffer> buffers = {{0, 2, of.format}, {1, 1, kBf16}, {3, 2, of.output}};
  if (of.pool != Pool::kSum) buffers.push_back({4, 1, kFp32});
  OpProgram program(card, "reduce", of.cores, buffers);
  program.Load({input}, output);
  ops::ReduceReader reader{};
  reader.tiles = of.to_row ? input.tile_rows() : input.tile_columns();
  reader.stride = of.to_row ? input.tile_columns() : 1;
  reader.address = OpInputAddress(0);
  ops::ReduceCompute compute{};
  compute.tiles = reader.tiles;
  compute.pool = static_cast<uint32_t>(of.pool);
  compute.to_row = of.to_row;
  compute.last = (of.size[of.to_row ? 2 : 3] - 1) % 32 + 1;
  compute.factor = std::bit_cast<uint32_t>(of.pool == Pool::kMinimum ? -1 : of.factor);
  compute.rounds = of.output == kBfp8;
  compute.padding = PaddingOf(output);
  const ops::TileWriter writer{{}, {1, 1, 1, 1}, kOpOutputAddress};
  for (uint32_t launch = 0; launch < of.launches; ++launch) {
    const uint32_t first = output.tiles() * launch / of.launches;
    const uint32_t end = output.tiles() * (launch + 1) / of.launches;
    program.Launch(of.cores.Arguments(reader, first, end), of.cores.Arguments(compute, first, end),
                   of.cores.Arguments(writer, first, end));
  }
  program.Read(output);
  ExpectNear(output, ExpectedOf(of, input));
}

const Reduce kReduce[] = {
    {"SumsOfOddRows", kOneCore, Pool::kSum, false, {1, 2, 33, 70}, kBf16, kFp32},
    {"SumsOfOddColumns", kScattered, Pool::kSum, true, {2, 1, 70, 100}, kBf16, kFp32},
    {"MeansOfBlocks", kPartOfARow, Pool::kSum, false, {1, 1, 64, 96}, kBfp8, kBf16, 1.0f / 96, 1},
    {"RoundedToBlocks", kOneCore, Pool::kSum, true, {1, 1, 96, 40}, kFp32, kBfp8, 1, 2},
    {"MaximaOfNegativeRows", kOneCore, Pool::kMaximum, false, {1, 2, 40, 70}, kBf16, kBf16, 1, -9},
    {"MaximaOfNegativeColumns",
     kPartOfARow,
     Pool::kMaximum,
     true,
     {3, 1, 33, 33},
     kBf16,
     kFp32,
     1,
     -9},
    {"MaximaOfBlocks", kScattered, Pool::kMaximum, false, {1, 1, 31, 1}, kBfp8, kBf16, 1, -9},
    {"MaximaOfWholeTiles", kOneCore, Pool::kMaximum, true, {1, 1, 64, 64}, kBf16},
    {"MinimaOfPositiveRows",
     kScattered,
     Pool::kMinimum,
     false,
     {2, 1, 33, 100},
     kBf16,
     kBf16,
     1,
     9},
    {"MinimaOfPositiveColumns", kOneCore, Pool::kMinimum, true, {1, 1, 31, 70}, kBf16, kFp32, 1, 9},
    {"MinimaOfFloat32", kPartOfARow, Pool::kMinimum, false, {1, 1, 70, 64}, kFp32, kBf16},
    {"InThreeLaunches", kPartOfARow, Pool::kSum, false, {5, 1, 33, 64}, kBf16, kBf16, 1, 1, 3},
};

class ReduceKernels : public ::testing::TestWithParam<size_t> {};

TEST_P(ReduceKernels, OutputIsTheReduction) {
  BootedCard card;
  RunReduce(card, kReduce[GetParam()]);
}

INSTANTIATE_TEST_SUITE_P(Cases, ReduceKernels, ::testing::Range(size_t{0}, std::size(kReduce)),
                         [](const auto& index) { return std::string(kReduce[index.param].name); });

}  // namespace
}  // namespace ttfd::op_test::op_reduce_test
