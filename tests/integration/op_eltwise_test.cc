// The kernels of element-wise operations, by their words: cores, broadcasts, batches, padding, formats, chains.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/op_reference.h"

namespace ttfd::op_test::op_eltwise_test {
namespace {

using hw::tensix::Format;

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

}  // namespace
}  // namespace ttfd::op_test::op_eltwise_test
