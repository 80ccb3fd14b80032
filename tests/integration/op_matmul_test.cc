// The kernels of matrix products, by their words: cores, blocks, batches, padding, formats, bias, chains.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/op_reference.h"

namespace ttfd::op_test {
namespace {

using hw::tensix::Format;

struct Matmul {
  const char* name;
  OpCores cores;
  uint32_t outer, inner;      // batches
  bool one_b;                 // for all batches
  uint32_t rows, k, columns;  // numbers
  uint32_t block_rows, block_columns;
  Format a, b, output;
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
  const uint32_t outer = of.one_b ? 1 : of.outer, inner = of.one_b ? 1 : of.inner;
  MatmulTensors tensors{{RandomTensor(random, {of.outer, of.inner, of.rows, of.k}, of.a),
                         RandomTensor(random,
                                      of.transpose_b ? Size{outer, inner, of.columns, of.k}
                                                     : Size{outer, inner, of.k, of.columns},
                                      of.b)},
                        {{of.outer, of.inner, of.rows, of.columns}, of.output}};
  if (of.has_bias) {
    tensors.inputs.push_back(RandomTensor(random, {1, 1, 1, of.columns}, kBf16, 1));
  }
  return tensors;
}

ops::MatmulBlocks BlocksOf(const Matmul& of, const OpTensor& output) {
  return {of.block_rows, of.block_columns, output.tile_rows() / of.block_rows,
          output.tile_columns() / of.block_columns};
}

ops::MatmulReader ReaderOf(const Matmul& of, const MatmulTensors& tensors) {
  const OpTensor& a = tensors.inputs[0];
  const OpTensor& b = tensors.inputs[1];
  ops::MatmulReader reader{};
  reader.blocks = BlocksOf(of, tensors.output);
  reader.k_tiles = a.tile_columns();
  reader.inner_batches = of.inner;
  const uint32_t a_tiles = a.tile_rows() * a.tile_columns();
  reader.a = {OpInputAddress(0), a_tiles * of.inner, a_tiles, a.tile_columns(), 1};
  const uint32_t b_tiles = of.one_b ? 0 : b.tile_rows() * b.tile_columns();
  reader.b = {OpInputAddress(1), b_tiles * of.inner, b_tiles, b.tile_columns(), 1};
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
    const size_t column = element % of.columns, row = element / of.columns;
    const size_t batch = of.one_b ? 0 : row / of.rows;
    double sum = of.has_bias ? tensors.inputs[2].numbers[column] : 0;
    for (size_t k = 0; k < of.k; ++k) {
      const size_t from = of.transpose_b ? (batch * of.columns + column) * of.k + k
                                         : (batch * of.k + k) * of.columns + column;
      sum += double{a[row * of.k + k]} * b[from];
    }
    expected[element] = Apply(of.chain, sum);
  }
  return expected;
}

void RunMatmul(const Matmul& of, const MatmulTensors& tensors, OpTensor& output) {
  BootedCard card;
  const ops::MatmulBlocks blocks = BlocksOf(of, output);
  std::vector<OpBuffer> buffers = {
      {0, of.block_rows * of.blocks, of.a},
      {1, of.block_columns * of.blocks, of.b},
      {ops::kOutputBuffer, of.block_rows * of.block_columns, of.output}};
  if (of.has_bias) buffers.push_back({2, of.block_columns, kBf16});
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
  const uint32_t items = of.outer * of.inner * blocks.row_blocks * blocks.column_blocks;
  program.Launch(of.cores.Arguments(ReaderOf(of, tensors), 0, items),
                 of.cores.Arguments(compute, 0, items),
                 of.cores.Arguments(ops::TileWriter{{}, blocks, kOpOutputAddress}, 0, items));
  program.Read(output);
}

const Matmul kMatmul[] = {
    {"OneTile", kOneCore, 1, 1, false, 32, 32, 32, 1, 1, kBf16, kBf16, kFp32},
    {"PaddedOnOneCore", kOneCore, 1, 1, false, 33, 70, 50, 1, 2, kBf16, kBf16, kBf16},
    {"BlocksOfFour", kPartOfARow, 2, 3, false, 100, 96, 64, 2, 2, kBf16, kBf16, kFp32},
    {"OneFactorForAllBatches", kScattered, 2, 2, true, 40, 64, 128, 1, 4, kBf16, kBf16, kBf16},
    {"Transposed", kPartOfARow, 1, 2, false, 128, 45, 20, 4, 1, kBf16, kBf16, kFp32, true},
    {"TransposedBlocks", kScattered, 1, 1, false, 64, 64, 96, 2, 1, kBfp8, kBfp8, kBf16, true},
    {"BiasAndChain",
     kScattered,
     1,
     2,
     true,
     60,
     64,
     100,
     2,
     2,
     kBf16,
     kBf16,
     kFp32,
     false,
     true,
     {{Unary::kMultiplyScalar, 0.01f}, {Unary::kGelu, 0}}},
    {"BiasOfTransposed",
     kOneCore,
     1,
     1,
     false,
     40,
     96,
     64,
     1,
     2,
     kBf16,
     kFp32,
     kBf16,
     true,
     true,
     {},
     4,
     3},
    {"MixedFormats",
     kPartOfARow,
     1,
     1,
     false,
     64,
     128,
     256,
     1,
     4,
     kFp32,
     kBfp8,
     kBfp8,
     false,
     false,
     {{Unary::kRound, 0}}},
    {"PaddingOfAFunctionOf0",
     kOneCore,
     1,
     1,
     false,
     10,
     32,
     10,
     1,
     1,
     kBf16,
     kBf16,
     kBf16,
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
TEST(MatmulKernel, TakesAsManyPassesAsItIsTold) {
  double before = 0;
  for (uint32_t passes = 1; passes <= 4; ++passes) {
    const Matmul of = {"", kOneCore, 1,     1,     false, 32,    32, 32,    1,
                       1,  kBf16,    kBf16, kFp32, false, false, {}, passes};
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
}  // namespace ttfd::op_test
