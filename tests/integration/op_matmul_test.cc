// The kernels of matrix products, by their words: cores, blocks, batches, padding, formats, bias, chains.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/op_reference.h"

namespace ttfd::op_test::op_matmul_test {
namespace {

using hw::tensix::Format;

struct Batches {
  uint32_t outer, inner;
  bool one_b = false;  // for all of them
};
struct Shape {
  uint32_t rows, k, columns;
};
struct Block {
  uint32_t rows, columns;  // of tiles
};
struct Formats {
  Format a, b, output;
};
struct Matmul {
  const char* name;
  OpCores cores;
  Batches batches;
  Shape shape;
  Block block;
  Formats formats;
  bool transpose_b = false;
  bool has_bias = false;
  Steps chain = {};
  uint32_t fidelity = 4;
  uint32_t blocks = 2;  // in the circular buffers of the factors
};

struct MatmulTensors {
  std::vector<OpTensor> inputs;  // a, b, bias
  OpTensor output;
};

MatmulTensors TensorsOf(const Matmul& of) {
  Random random(13);
  const uint32_t outer = of.batches.one_b ? 1 : of.batches.outer,
                 inner = of.batches.one_b ? 1 : of.batches.inner;
  MatmulTensors tensors{
      {RandomTensor(random, {of.batches.outer, of.batches.inner, of.shape.rows, of.shape.k},
                    of.formats.a),
       RandomTensor(random,
                    of.transpose_b ? Size{outer, inner, of.shape.columns, of.shape.k}
                                   : Size{outer, inner, of.shape.k, of.shape.columns},
                    of.formats.b)},
      {{of.batches.outer, of.batches.inner, of.shape.rows, of.shape.columns}, of.formats.output}};
  if (of.has_bias) {
    tensors.inputs.push_back(RandomTensor(random, {1, 1, 1, of.shape.columns}, kBf16, 1));
  }
  return tensors;
}

ops::MatmulBlocks BlocksOf(const Matmul& of, const OpTensor& output) {
  return {of.block.rows, of.block.columns, output.tile_rows() / of.block.rows,
          output.tile_columns() / of.block.columns};
}

ops::MatmulReader ReaderOf(const Matmul& of, const MatmulTensors& tensors) {
  const OpTensor& a = tensors.inputs[0];
  const OpTensor& b = tensors.inputs[1];
  ops::MatmulReader reader{};
  reader.blocks = BlocksOf(of, tensors.output);
  reader.k_tiles = a.tile_columns();
  reader.inner_batches = of.batches.inner;
  const uint32_t a_tiles = a.tile_rows() * a.tile_columns();
  reader.a = {OpInputAddress(0), a_tiles * of.batches.inner, a_tiles, a.tile_columns(), 1};
  const uint32_t b_tiles = of.batches.one_b ? 0 : b.tile_rows() * b.tile_columns();
  reader.b = {OpInputAddress(1), b_tiles * of.batches.inner, b_tiles, b.tile_columns(), 1};
  if (of.transpose_b) std::swap(reader.b.row_stride, reader.b.column_stride);
  reader.has_bias = of.has_bias ? 1 : 0;
  reader.bias_address = OpInputAddress(2);
  return reader;
}

std::vector<double> ExpectedOf(const Matmul& of, const MatmulTensors& tensors) {
  std::vector<double> expected(tensors.output.count());
  const auto& a = tensors.inputs[0].numbers;
  const auto& b = tensors.inputs[1].numbers;
  for (size_t element = 0; element < expected.size(); ++element) {
    const size_t column = element % of.shape.columns, row = element / of.shape.columns;
    const size_t batch = of.batches.one_b ? 0 : row / of.shape.rows;
    double sum = of.has_bias ? tensors.inputs[2].numbers[column] : 0;
    for (size_t k = 0; k < of.shape.k; ++k) {
      const size_t from = of.transpose_b ? (batch * of.shape.columns + column) * of.shape.k + k
                                         : (batch * of.shape.k + k) * of.shape.columns + column;
      sum += double{a[row * of.shape.k + k]} * b[from];
    }
    expected[element] = Apply(of.chain, sum);
  }
  return expected;
}

void RunMatmul(const Matmul& of, const MatmulTensors& tensors, OpTensor& output) {
  BootedCard card;
  const ops::MatmulBlocks blocks = BlocksOf(of, output);
  std::vector<OpBuffer> buffers = {
      {0, of.block.rows * of.blocks, of.formats.a},
      {1, of.block.columns * of.blocks, of.formats.b},
      {ops::kOutputBuffer, of.block.rows * of.block.columns, of.formats.output}};
  if (of.has_bias) buffers.push_back({2, of.block.columns, kBf16});
  OpProgram program(card, "matmul", of.cores, buffers);
  program.Load(tensors.inputs, output);
  ops::MatmulCompute compute{};
  compute.blocks = blocks;
  compute.k_tiles = tensors.inputs[0].tile_columns();
  compute.has_bias = of.has_bias ? 1 : 0;
  compute.transpose_b = of.transpose_b ? 1 : 0;
  compute.fidelity = of.fidelity;
  compute.chain = ChainOf(of.chain);
  compute.padding = PaddingOf(output);
  const uint32_t items =
      of.batches.outer * of.batches.inner * blocks.row_blocks * blocks.column_blocks;
  program.Launch(of.cores.Arguments(ReaderOf(of, tensors), 0, items),
                 of.cores.Arguments(compute, 0, items),
                 of.cores.Arguments(ops::TileWriter{{}, blocks, kOpOutputAddress}, 0, items));
  program.Read(output);
}

const Matmul kMatmul[] = {
    {"OneTile", kOneCore, {1, 1}, {32, 32, 32}, {1, 1}, {kBf16, kBf16, kFp32}},
    {"PaddedOnOneCore", kOneCore, {1, 1}, {33, 70, 50}, {1, 2}, {kBf16, kBf16, kBf16}},
    {"BlocksOfFour", kPartOfARow, {2, 3}, {100, 96, 64}, {2, 2}, {kBf16, kBf16, kFp32}},
    {"OneFactorForAllBatches",
     kScattered,
     {2, 2, true},
     {40, 64, 128},
     {1, 4},
     {kBf16, kBf16, kBf16}},
    {"Transposed", kPartOfARow, {1, 2}, {128, 45, 20}, {4, 1}, {kBf16, kBf16, kFp32}, true},
    {"TransposedBlocks", kScattered, {1, 1}, {64, 64, 96}, {2, 1}, {kBfp8, kBfp8, kBf16}, true},
    {"BiasAndChain",
     kScattered,
     {1, 2, true},
     {60, 64, 100},
     {2, 2},
     {kBf16, kBf16, kFp32},
     false,
     true,
     {{Unary::kMultiplyScalar, 0.01f}, {Unary::kGelu, 0}}},
    {"BiasOfTransposed",
     kOneCore,
     {1, 1},
     {40, 96, 64},
     {1, 2},
     {kBf16, kFp32, kBf16},
     true,
     true,
     {},
     4,
     3},
    {"MixedFormats",
     kPartOfARow,
     {1, 1},
     {64, 128, 256},
     {1, 4},
     {kFp32, kBfp8, kBfp8},
     false,
     false,
     {{Unary::kRound, 0}}},
    {"PaddingOfAFunctionOf0",
     kOneCore,
     {1, 1},
     {10, 32, 10},
     {1, 1},
     {kBf16, kBf16, kBf16},
     false,
     false,
     {{Unary::kMultiplyScalar, 0.0625f}, {Unary::kCos, 0}}},
};

class MatmulKernels : public ::testing::TestWithParam<size_t> {};

TEST_P(MatmulKernels, OutputIsTheProduct) {
  const Matmul& of = kMatmul[GetParam()];
  const MatmulTensors tensors = TensorsOf(of);
  OpTensor output = tensors.output;
  RunMatmul(of, tensors, output);
  ExpectNear(output, ExpectedOf(of, tensors));
}

INSTANTIATE_TEST_SUITE_P(Cases, MatmulKernels, ::testing::Range(size_t{0}, std::size(kMatmul)),
                         [](const auto& index) { return std::string(kMatmul[index.param].name); });

// (1 + 1/128) squared: each pass adds the products of other bits of the two mantissas.
TEST(MatmulKernel, HasTheNumberOfPassesOfItsWords) {
  double before = 0;
  for (uint32_t passes = 1; passes <= 4; ++passes) {
    Matmul of = kMatmul[0];
    of.fidelity = passes;
    MatmulTensors tensors = TensorsOf(of);
    for (OpTensor& input : tensors.inputs) {
      std::fill(input.numbers.begin(), input.numbers.end(), 1.0078125f);
    }
    RunMatmul(of, tensors, tensors.output);
    EXPECT_GT(tensors.output.numbers[0], before) << passes;
    before = tensors.output.numbers[0];
  }
  EXPECT_NEAR(before, 32 * 1.0078125 * 1.0078125, 1e-4);
}

}  // namespace
}  // namespace ttfd::op_test::op_matmul_test
