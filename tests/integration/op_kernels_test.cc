// The kernels of operations, by their words: cores, broadcasts, batches, padding, formats, chains, blocks.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/op_program.h"
#include "tests/support/random.h"

namespace ttfd {
namespace {

using hw::tensix::Format;
using ops::Combine;
using ops::Unary;
using Size = std::array<uint32_t, 4>;

constexpr Format kBf16 = Format::kFloat16B, kFp32 = Format::kFloat32, kBfp8 = Format::kBfp8B;

// Multiples of `unit` up to 32 times as great, as the format has them.
OpTensor RandomTensor(Random& random, const Size& size, Format format, float unit = 0.125f) {
  OpTensor tensor{size, format};
  for (uint64_t i = 0; i < tensor.count(); ++i) {
    tensor.numbers.push_back(static_cast<float>(static_cast<int>(random() % 65) - 32) * unit);
  }
  tensor.Decode(tensor.Encode());
  return tensor;
}

// Numbers are those expected, but for the rounding of the format they were written in.
void ExpectNear(const OpTensor& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.numbers.size(), expected.size());
  double largest = 0;
  for (const double number : expected) largest = std::max(largest, std::abs(number));
  size_t wrong = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double allowed = found.format == kFp32   ? std::abs(expected[i]) * 1e-4 + 1e-6
                           : found.format == kBf16 ? std::abs(expected[i]) / 250 + 1e-6
                                                   : largest / 64;
    if (std::abs(found.numbers[i] - expected[i]) <= allowed) continue;
    if (++wrong <= 3) {
      ADD_FAILURE() << "number " << i << " is " << found.numbers[i] << ", not " << expected[i];
    }
  }
  EXPECT_EQ(wrong, 0u) << "of " << expected.size();
}

// ---- functions

using Step = std::pair<Unary, float>;
using Steps = std::vector<Step>;

ops::Chain ChainOf(const Steps& steps) {
  ops::Chain chain{};
  for (size_t i = 0; i < steps.size(); ++i) {
    chain.codes |= static_cast<uint32_t>(steps[i].first) << 8 * i;
    chain.operands[i] = std::bit_cast<uint32_t>(steps[i].second);
  }
  return chain;
}

double Apply(const Step& step, double x) {
  switch (step.first) {
    case Unary::kNone:
      return x;
    case Unary::kExp:
      return std::exp(x);
    case Unary::kReciprocal:
      return 1 / x;
    case Unary::kSqrt:
      return std::sqrt(x);
    case Unary::kRsqrt:
      return 1 / std::sqrt(x);
    case Unary::kSilu:
      return x / (1 + std::exp(-x));
    case Unary::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Unary::kGelu:
      return x / 2 * std::erfc(-x / std::sqrt(2));
    case Unary::kTanh:
      return std::tanh(x);
    case Unary::kRelu:
      return std::max(x, 0.0);
    case Unary::kAbs:
      return std::abs(x);
    case Unary::kNegate:
      return -x;
    case Unary::kSquare:
      return x * x;
    case Unary::kLog:
      return std::log(x);
    case Unary::kSin:
      return std::sin(x);
    case Unary::kCos:
      return std::cos(x);
    case Unary::kFloor:
      return std::floor(x);
    case Unary::kAddScalar:
      return x + step.second;
    case Unary::kMultiplyScalar:
      return x * step.second;
    case Unary::kMaximumScalar:
      return std::max<double>(x, step.second);
    case Unary::kMinimumScalar:
      return std::min<double>(x, step.second);
    case Unary::kRound:
      return FromBfloat16(ToBfloat16(static_cast<float>(x)));
  }
  return 0;
}
double Apply(const Steps& steps, double x) {
  for (const Step& step : steps) x = Apply(step, x);
  return x;
}

double Apply(Combine combine, double a, double b, double c) {
  switch (combine) {
    case Combine::kNone:
      return a;
    case Combine::kAdd:
      return a + b;
    case Combine::kSubtract:
      return a - b;
    case Combine::kMultiply:
      return a * b;
    case Combine::kDivide:
      return a / b;
    case Combine::kMaximum:
      return std::max(a, b);
    case Combine::kMinimum:
      return std::min(a, b);
    case Combine::kEqual:
      return a == b;
    case Combine::kNotEqual:
      return a != b;
    case Combine::kLess:
      return a < b;
    case Combine::kLessOrEqual:
      return a <= b;
    case Combine::kGreater:
      return a > b;
    case Combine::kGreaterOrEqual:
      return a >= b;
    case Combine::kWhere:
      return a != 0 ? b : c;
  }
  return 0;
}

ops::Padding PaddingOf(const OpTensor& output) {
  return {(output.size[2] - 1) % 32 + 1, (output.size[3] - 1) % 32 + 1, output.tile_rows(),
          output.tile_columns()};
}

// ---- element-wise

struct Eltwise {
  const char* name;
  OpCores cores;
  Combine combine;
  std::vector<std::pair<Size, Format>> inputs;
  Size size;  // of the output
  Format format;
  Steps chain = {};
  uint32_t pages = 2;  // of circular buffers
  uint32_t launches = 1;
};

ops::EltwiseReader ReaderOf(const std::vector<OpTensor>& inputs, const OpTensor& output) {
  ops::EltwiseReader reader{};
  const Size tiles = {output.size[0], output.size[1], output.tile_rows(), output.tile_columns()};
  reader.inputs = static_cast<uint32_t>(inputs.size());
  std::copy(tiles.begin(), tiles.end(), reader.size);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const OpTensor& input = inputs[i];
    const Size own = {input.size[0], input.size[1], input.tile_rows(), input.tile_columns()};
    reader.input[i].address = OpInputAddress(i);
    uint32_t stride = 1;
    for (uint32_t dimension = ops::kDimensions; dimension-- != 0;) {
      reader.input[i].stride[dimension] = own[dimension] == 1 ? 0 : stride;
      stride *= own[dimension];
    }
  }
  return reader;
}

ops::EltwiseCompute ComputeOf(const Eltwise& of, const OpTensor& output) {
  ops::EltwiseCompute compute{};
  compute.combine = static_cast<uint32_t>(of.combine);
  for (size_t i = 0; i < of.inputs.size(); ++i) {
    const Size& size = of.inputs[i].first;
    const uint32_t column = size[3] == 1 && of.size[3] != 1 ? 1 : 0;
    const uint32_t row = size[2] == 1 && of.size[2] != 1 ? 2 : 0;
    compute.broadcast |= (column | row) << 8 * i;
  }
  compute.chain = ChainOf(of.chain);
  compute.padding = PaddingOf(output);
  return compute;
}

std::vector<double> ExpectedOf(const Eltwise& of, const std::vector<OpTensor>& inputs,
                               const OpTensor& output) {
  std::vector<double> expected(output.count());
  for (size_t element = 0; element < expected.size(); ++element) {
    double numbers[3] = {};
    for (size_t i = 0; i < inputs.size(); ++i) {
      size_t from = 0, unit = 1, rest = element;
      for (uint32_t dimension = 4; dimension-- != 0;) {
        const size_t index = rest % output.size[dimension];
        rest /= output.size[dimension];
        if (inputs[i].size[dimension] != 1) from += index * unit;
        unit *= inputs[i].size[dimension];
      }
      numbers[i] = inputs[i].numbers[from];
    }
    expected[element] = Apply(of.chain, Apply(of.combine, numbers[0], numbers[1], numbers[2]));
  }
  return expected;
}

// `change`: of the inputs, before they are used.
void RunEltwise(BootedCard& card, const Eltwise& of,
                const std::function<void(std::vector<OpTensor>&)>& change = {}) {
  Random random(11);
  std::vector<OpTensor> inputs;
  std::vector<OpBuffer> buffers;
  for (const auto& [size, format] : of.inputs) {
    buffers.push_back({static_cast<uint32_t>(inputs.size()), of.pages, format});
    inputs.push_back(RandomTensor(random, size, format));
  }
  if (change) change(inputs);
  buffers.push_back({ops::kOutputBuffer, of.pages, of.format});
  OpTensor output{of.size, of.format};
  OpProgram program(card, "eltwise", of.cores, buffers);
  program.Load(inputs, output);
  const ops::TileWriter writer{
      {}, {1, 1, output.tile_rows(), output.tile_columns()}, kOpOutputAddress};
  for (uint32_t launch = 0; launch < of.launches; ++launch) {
    const uint32_t first = output.tiles() * launch / of.launches;
    const uint32_t end = output.tiles() * (launch + 1) / of.launches;
    program.Launch(of.cores.Arguments(ReaderOf(inputs, output), first, end),
                   of.cores.Arguments(ComputeOf(of, output), first, end),
                   of.cores.Arguments(writer, first, end));
  }
  program.Read(output);
  ExpectNear(output, ExpectedOf(of, inputs, output));
}

const OpCores kOneCore = OpCores::Rectangle(0, 0, 1, 1);
const OpCores kPartOfARow = OpCores::Rectangle(2, 1, 3, 7);
const OpCores kScattered = OpCores::Bitmap({{1, 0}, {6, 0}, {0, 2}, {9, 4}, {3, 9}});

const Eltwise kEltwise[] = {
    {"SumOnOneCore",
     kOneCore,
     Combine::kAdd,
     {{{1, 2, 70, 100}, kBf16}, {{1, 2, 70, 100}, kBf16}},
     {1, 2, 70, 100},
     kBf16},
    {"RowOfFloat32",
     kPartOfARow,
     Combine::kSubtract,
     {{{2, 3, 40, 64}, kFp32}, {{1, 1, 1, 64}, kFp32}},
     {2, 3, 40, 64},
     kFp32},
    {"ColumnOfEachBatch",
     kScattered,
     Combine::kMultiply,
     {{{1, 2, 64, 33}, kFp32}, {{2, 1, 64, 1}, kBfp8}},
     {2, 2, 64, 33},
     kBf16},
    {"NumberFirst",
     kScattered,
     Combine::kSubtract,
     {{{1, 1, 1, 1}, kBf16}, {{3, 1, 17, 128}, kBf16}},
     {3, 1, 17, 128},
     kFp32},
    {"RowTimesColumn",
     kPartOfARow,
     Combine::kMultiply,
     {{{1, 1, 1, 70}, kBf16}, {{1, 1, 70, 1}, kBf16}},
     {1, 1, 70, 70},
     kFp32},
    {"WhereOfThreeFormats",
     kPartOfARow,
     Combine::kWhere,
     {{{1, 3, 48, 1}, kBf16}, {{1, 1, 1, 1}, kFp32}, {{1, 3, 48, 80}, kBfp8}},
     {1, 3, 48, 80},
     kFp32},
    {"ChainOfFour",
     kScattered,
     Combine::kNone,
     {{{1, 1, 100, 200}, kFp32}},
     {1, 1, 100, 200},
     kFp32,
     {{Unary::kExp, 0}, {Unary::kAddScalar, 1}, {Unary::kLog, 0}, {Unary::kMultiplyScalar, -0.5f}}},
    {"RoundedToBlocks",
     kPartOfARow,
     Combine::kAdd,
     {{{1, 1, 96, 96}, kFp32}, {{1, 1, 96, 96}, kFp32}},
     {1, 1, 96, 96},
     kBfp8,
     {{Unary::kRound, 0}}},
    {"MoreCoresThanTiles",
     OpCores::Rectangle(1, 2, 4, 11),
     Combine::kMaximum,
     {{{1, 1, 5, 32}, kBf16}, {{1, 1, 5, 32}, kBf16}},
     {1, 1, 5, 32},
     kBf16},
    {"OnePageEach",
     kOneCore,
     Combine::kAdd,
     {{{1, 1, 64, 64}, kBf16}, {{1, 1, 64, 64}, kBf16}},
     {1, 1, 64, 64},
     kBf16,
     {},
     1},
    {"ManyPages",
     kOneCore,
     Combine::kAdd,
     {{{2, 2, 64, 64}, kBf16}, {{1, 1, 64, 64}, kBf16}},
     {2, 2, 64, 64},
     kBf16,
     {},
     6},
    {"InThreeLaunches",
     kPartOfARow,
     Combine::kMinimum,
     {{{5, 1, 33, 32}, kBf16}, {{5, 1, 33, 32}, kBf16}},
     {5, 1, 33, 32},
     kBf16,
     {},
     2,
     3},
};

class EltwiseKernels : public ::testing::TestWithParam<size_t> {};

TEST_P(EltwiseKernels, OutputIsTheFunctionOfItsInputs) {
  BootedCard card;
  RunEltwise(card, kEltwise[GetParam()]);
}

INSTANTIATE_TEST_SUITE_P(Cases, EltwiseKernels, ::testing::Range(size_t{0}, std::size(kEltwise)),
                         [](const auto& index) { return std::string(kEltwise[index.param].name); });

TEST(EltwiseKernel, HasEveryCombination) {
  BootedCard card;
  for (auto combine = static_cast<uint32_t>(Combine::kNone);
       combine <= static_cast<uint32_t>(Combine::kWhere); ++combine) {
    SCOPED_TRACE(combine);
    Eltwise of = {"", kPartOfARow, static_cast<Combine>(combine), {}, {1, 1, 40, 70}, kFp32};
    const bool is_none = of.combine == Combine::kNone, is_where = of.combine == Combine::kWhere;
    of.inputs.assign(is_none ? 1 : is_where ? 3 : 2, {of.size, kBf16});
    RunEltwise(card, of, [&](std::vector<OpTensor>& inputs) {
      for (float& divisor : inputs.back().numbers) {
        if (of.combine == Combine::kDivide && divisor == 0) divisor = 3;
      }
    });
  }
}

TEST(EltwiseKernel, HasEveryFunction) {
  BootedCard card;
  for (auto code = static_cast<uint32_t>(Unary::kExp); code <= static_cast<uint32_t>(Unary::kRound);
       ++code) {
    SCOPED_TRACE(code);
    const auto function = static_cast<Unary>(code);
    const Eltwise of = {
        "",    kScattered,        Combine::kNone, {{{1, 1, 40, 70}, kFp32}}, {1, 1, 40, 70},
        kFp32, {{function, 0.7f}}};
    RunEltwise(card, of, [&](std::vector<OpTensor>& inputs) {
      const bool is_above_0 = function == Unary::kReciprocal || function == Unary::kSqrt ||
                              function == Unary::kRsqrt || function == Unary::kLog;
      for (float& number : inputs[0].numbers) {
        number = is_above_0 ? std::abs(number) + 0.1f : number * 1.01f;
      }
    });
  }
}

// ---- matrix products

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

// What a family takes of a core's memory for kernels.
TEST(OperationImages, AreSmall) {
  size_t eltwise = 0, matmul = 0;
  for (const std::string_view name : ops::OperationElfNames()) {
    const auto image = LoadKernel(ops::OperationElf(name), std::string(name));
    ASSERT_TRUE(image.ok()) << image.status().ToString();
    const size_t bytes = (*image)->bytes.size();
    std::printf("%s: %zu bytes\n", std::string(name).c_str(), bytes);
    if (!name.starts_with("matmul")) eltwise += bytes;
    if (!name.starts_with("eltwise")) matmul += bytes;
  }
  std::printf("eltwise: %zu bytes, matmul: %zu bytes\n", eltwise, matmul);
  EXPECT_LE(eltwise, 13'500u);
  EXPECT_LE(matmul, 13'000u);
}

}  // namespace
}  // namespace ttfd
