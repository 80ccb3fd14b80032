// The kernels of softmax and normalizations, by their words: cores, batches, padding, formats, weights and biases.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/op_reference.h"

namespace ttfd::op_test::op_rows_test {
namespace {

using hw::tensix::Format;
using ops::RowsFunction;

struct Rows {
  const char* name;
  OpCores cores;
  RowsFunction function;
  Size size;
  Format format;
  Format output = kBf16;
  float offset = 0;         // of the numbers
  uint32_t parameters = 0;  // 1: weight, 2: bias, too
  uint32_t buffered_rows = 2;
  uint32_t launches = 1;
};

constexpr float kEpsilon = 1e-3f;

std::vector<OpTensor> InputsOf(const Rows& of) {
  Random random(19);
  std::vector<OpTensor> inputs = {RandomTensor(random, of.size, of.format)};
  for (float& number : inputs[0].numbers) number += of.offset;
  inputs[0].Decode(inputs[0].Encode());
  for (uint32_t i = 0; i < of.parameters; ++i) {
    inputs.push_back(RandomTensor(random, {1, 1, 1, of.size[3]}, kBf16));
  }
  return inputs;
}

std::vector<double> ExpectedRow(const Rows& of, const float* x) {
  const uint32_t columns = of.size[3];
  std::vector<double> row(x, x + columns);
  double shift = 0, sum = 0;
  if (of.function == RowsFunction::kSoftmax) shift = *std::max_element(row.begin(), row.end());
  if (of.function == RowsFunction::kLayerNorm) {
    for (const double number : row) shift += number / columns;
  }
  for (double& number : row) {
    number -= shift;
    if (of.function == RowsFunction::kSoftmax) number = std::exp(number);
    sum += of.function == RowsFunction::kSoftmax ? number : number * number / columns;
  }
  const double divisor = of.function == RowsFunction::kSoftmax ? sum : std::sqrt(sum + kEpsilon);
  for (double& number : row) number /= divisor;
  return row;
}

std::vector<double> ExpectedOf(const Rows& of, const std::vector<OpTensor>& inputs) {
  const uint32_t columns = of.size[3];
  std::vector<double> expected;
  for (size_t first = 0; first < inputs[0].count(); first += columns) {
    std::vector<double> row = ExpectedRow(of, &inputs[0].numbers[first]);
    for (uint32_t i = 0; i < columns; ++i) {
      if (of.parameters > 0) row[i] *= inputs[1].numbers[i];
      if (of.parameters > 1) row[i] += inputs[2].numbers[i];
    }
    expected.insert(expected.end(), row.begin(), row.end());
  }
  return expected;
}

ops::RowsCompute ComputeOf(const Rows& of, const OpTensor& output) {
  ops::RowsCompute compute{};
  compute.tiles = output.tile_columns();
  compute.function = static_cast<uint32_t>(of.function);
  compute.has_weight = of.parameters > 0;
  compute.has_bias = of.parameters > 1;
  compute.mean_factor = std::bit_cast<uint32_t>(1 / static_cast<float>(of.size[3]));
  compute.epsilon = std::bit_cast<uint32_t>(kEpsilon);
  compute.rounds = of.output == kBfp8;
  compute.padding = PaddingOf(output);
  return compute;
}

void RunRows(BootedCard& card, const Rows& of) {
  const std::vector<OpTensor> inputs = InputsOf(of);
  OpTensor output{of.size, of.output};
  const uint32_t tiles = output.tile_columns();
  std::vector<OpBuffer> buffers = {
      {0, of.buffered_rows * tiles, of.format}, {3, 2, of.output}, {4, 1, kFp32}, {5, 1, kFp32}};
  if (of.function == RowsFunction::kSoftmax) buffers.push_back({6, tiles, kFp32});
  for (uint32_t i = 0; i < of.parameters; ++i) buffers.push_back({1 + i, 2, kBf16});
  OpProgram program(card, "rows", of.cores, buffers);
  program.Load(inputs, output);
  const ops::RowsReader reader{{},
                               tiles,
                               OpInputAddress(0),
                               of.parameters > 0,
                               OpInputAddress(1),
                               of.parameters > 1,
                               OpInputAddress(2)};
  const uint32_t items = output.tiles() / tiles;
  const ops::TileWriter writer{{}, {1, tiles, items, 1}, kOpOutputAddress};
  for (uint32_t launch = 0; launch < of.launches; ++launch) {
    const uint32_t first = items * launch / of.launches;
    const uint32_t end = items * (launch + 1) / of.launches;
    program.Launch(of.cores.Arguments(reader, first, end),
                   of.cores.Arguments(ComputeOf(of, output), first, end),
                   of.cores.Arguments(writer, first, end));
  }
  program.Read(output);
  ExpectNear(output, ExpectedOf(of, inputs), of.parameters > 1 ? 5e-4 : 1e-6);
}

constexpr RowsFunction kSoftmax = RowsFunction::kSoftmax, kRmsNorm = RowsFunction::kRmsNorm,
                       kLayerNorm = RowsFunction::kLayerNorm;

// Offsets of -200: what exp makes of padding would be infinity.
const Rows kRows[] = {
    {"SoftmaxOfOddRows", kOneCore, kSoftmax, {1, 2, 33, 70}, kBf16},
    {"SoftmaxOfLowRows", kPartOfARow, kSoftmax, {2, 2, 40, 33}, kBf16, kBf16, -200},
    {"SoftmaxOfHighRows", kScattered, kSoftmax, {3, 1, 32, 64}, kFp32, kBf16, 200},
    {"SoftmaxOfOneColumn", kOneCore, kSoftmax, {1, 1, 31, 1}, kBf16, kFp32, -3},
    {"SoftmaxOfBlocks", kOneCore, kSoftmax, {1, 1, 64, 100}, kBfp8, kBf16, 0, 0, 1},
    {"RmsNorm", kPartOfARow, kRmsNorm, {1, 3, 40, 100}, kBf16},
    {"RmsNormWithWeight", kScattered, kRmsNorm, {1, 6, 33, 70}, kBf16, kBf16, 1, 1},
    {"LayerNorm", kOneCore, kLayerNorm, {1, 2, 33, 70}, kBf16, kBf16, 3},
    {"LayerNormWithWeight", kPartOfARow, kLayerNorm, {1, 1, 64, 64}, kBf16, kBf16, -3, 1, 1},
    {"LayerNormWithBias", kScattered, kLayerNorm, {1, 6, 31, 33}, kFp32, kBf16, 3, 2},
    {"RoundedToBlocks", kOneCore, kLayerNorm, {1, 1, 40, 96}, kBfp8, kBfp8, 0, 2, 1},
    {"InThreeLaunches", kPartOfARow, kLayerNorm, {5, 1, 33, 64}, kBf16, kBf16, 0, 2, 2, 3},
};

class RowsKernels : public ::testing::TestWithParam<size_t> {};

TEST_P(RowsKernels, OutputIsTheFunctionOfRows) {
  BootedCard card;
  RunRows(card, kRows[GetParam()]);
}

INSTANTIATE_TEST_SUITE_P(Cases, RowsKernels, ::testing::Range(size_t{0}, std::size(kRows)),
                         [](const auto& index) { return std::string(kRows[index.param].name); });

}  // namespace
}  // namespace ttfd::op_test::op_rows_test
