// The kernels of attention, by their words: cores, groups of heads, windows, positions, pages, masks.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "firmware/ops/attention_words.h"
#include "tests/support/op_reference.h"

namespace ttfd::op_test::op_attention_test {
namespace {

using hw::tensix::Format;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr uint32_t kAll = ops::kAttentionAll;

struct Attention {
  const char* name;
  OpCores cores;
  Size q;  // users, heads, rows, columns; decoding 1, users, heads, columns
  Size k;
  uint32_t value_columns;
  Format format = kBf16;  // of keys and values
  bool is_decode = false;
  bool by_row = false;
  uint32_t back = kAll;
  uint32_t ahead = kAll;
  std::vector<uint32_t> positions = {};
  std::vector<uint32_t> table = {};  // of one row of blocks for each user
  Size mask = {};
  Format query_format = kBf16;
  uint32_t launches = 1;

  uint32_t users() const { return q[is_decode ? 1 : 0]; }
  uint32_t heads() const { return q[is_decode ? 2 : 1]; }
  uint32_t blocks() const { return table.empty() ? 1 : uint32_t(table.size()) / users(); }
  uint32_t keys() const { return k[2] * blocks(); }
  // What is beyond the positions is infinite.
  bool has_open_end() const {
    return positions.size() == users() && table.empty() && format == kBf16;
  }
};

struct Inputs {
  OpTensor q, k, v, mask;
};

// Keys beyond the positions are infinite.
void HideInfinities(const Attention& of, OpTensor* tensor) {
  const Size& size = tensor->size;
  for (uint32_t user = 0; user < of.users(); ++user) {
    for (uint32_t head = 0; head < size[1]; ++head) {
      float* const rows = &tensor->numbers[(size_t{user} * size[1] + head) * size[2] * size[3]];
      std::fill(rows + (of.positions[user] + 1) * size[3], rows + size[2] * size[3], kInfinity);
    }
  }
}

Inputs InputsOf(const Attention& of) {
  Random random(23);
  Inputs inputs = {RandomTensor(random, of.q, of.query_format, 1.0f / 16),
                   RandomTensor(random, of.k, of.format, 1.0f / 32),
                   RandomTensor(random, {of.k[0], of.k[1], of.k[2], of.value_columns}, of.format),
                   {}};
  if (of.mask[0] != 0) {
    inputs.mask = RandomTensor(random, of.mask, kBf16);
    for (size_t i = 0; i < inputs.mask.numbers.size(); i += 7) inputs.mask.numbers[i] = -kInfinity;
    for (uint32_t i = 0; i < of.mask[3]; ++i) inputs.mask.numbers[i] = -kInfinity;  // a whole row
  }
  if (of.has_open_end()) HideInfinities(of, &inputs.k), HideInfinities(of, &inputs.v);
  return inputs;
}

double At(const OpTensor& tensor, uint32_t i, uint32_t j, uint32_t row, uint32_t column) {
  const Size& size = tensor.size;
  const auto in = [&size](size_t extent, uint32_t number) {
    return size[extent] == 1 ? 0 : number;
  };
  return tensor
      .numbers[((size_t{in(0, i)} * size[1] + in(1, j)) * size[2] + in(2, row)) * size[3] + column];
}

// One query of a head, `row` of the rows of its mask.
struct Query {
  uint32_t user;
  uint32_t head;
  uint32_t row;
};

bool Sees(const Attention& of, const Query& query, uint32_t key) {
  int64_t place = of.keys() - 1;
  if (of.by_row) place = query.row;
  if (!of.positions.empty()) {
    place = std::min<int64_t>(of.positions[of.positions.size() == 1 ? 0 : query.user], place);
  }
  return key + int64_t{of.back} >= place && key <= place + int64_t{of.ahead};
}

void AppendExpected(const Attention& of, const Inputs& inputs, const Query& query,
                    std::vector<double>* expected) {
  const uint32_t head = query.head / (of.heads() / of.k[1]);
  const auto block = [&of, &query](uint32_t key) {
    return of.table.empty() ? query.user : of.table[query.user * of.blocks() + key / of.k[2]];
  };
  std::vector<double> row(of.value_columns);
  double sum = 0;
  for (uint32_t key = 0; key < of.keys(); ++key) {
    if (!Sees(of, query, key)) continue;
    double score = 0;
    for (uint32_t i = 0; i < of.q[3]; ++i) {
      score += (of.is_decode ? At(inputs.q, 0, query.user, query.head, i)
                             : At(inputs.q, query.user, query.head, query.row, i)) *
               At(inputs.k, block(key), head, key % of.k[2], i);
    }
    if (of.mask[0] != 0) {
      score += of.is_decode ? At(inputs.mask, query.user, 0, query.head, key)
                            : At(inputs.mask, query.user, query.head, query.row, key);
    }
    const double weight = std::exp(score);
    sum += weight;
    for (uint32_t i = 0; i < of.value_columns; ++i) {
      row[i] += weight * At(inputs.v, block(key), head, key % of.k[2], i);
    }
  }
  for (const double number : row) expected->push_back(sum == 0 ? 0 : number / sum);
}

std::vector<double> ExpectedOf(const Attention& of, const Inputs& inputs) {
  std::vector<double> expected;
  const uint32_t rows = of.is_decode ? 1 : of.q[2];
  for (uint32_t user = 0; user < of.users(); ++user) {
    for (uint32_t head = 0; head < of.heads(); ++head) {
      for (uint32_t row = 0; row < rows; ++row) {
        AppendExpected(of, inputs, {user, head, row}, &expected);
      }
    }
  }
  return expected;
}

constexpr uint32_t kMaskInput = 3, kTableInput = 4, kPositionInput = 5;

ops::AttentionUnits UnitsOf(const Attention& of, const OpTensor& output) {
  const uint32_t parts = of.is_decode ? of.k[1] : 1, part_rows = of.q[2] / parts;
  const uint32_t slices = parts == 1 ? output.tile_rows() : (part_rows + 30) / 32 + 1;
  return {parts, part_rows, slices, of.q[2], output.tile_rows()};
}

ops::AttentionSteps StepsOf(const Attention& of, const OpTensor& output) {
  return {of.mask[0] != 0 ? 1u : ops::kAttentionTiles, output.tile_columns() % 2 == 0 ? 2u : 1u};
}

ops::AttentionReader ReaderOf(const Attention& of, const Inputs& inputs, const OpTensor& output) {
  ops::AttentionReader reader{};
  reader.units = UnitsOf(of, output);
  reader.visible = {of.keys(), of.by_row, of.back, of.ahead};
  reader.query_address = OpInputAddress(0);
  reader.key_address = OpInputAddress(1);
  reader.value_address = OpInputAddress(2);
  reader.steps = StepsOf(of, output);
  reader.key_tiles = inputs.q.tile_columns();
  reader.value_tiles = output.tile_columns();
  reader.group = of.is_decode ? 1 : of.heads() / of.k[1];
  reader.heads = of.k[1];
  reader.blocks = {inputs.k.tile_rows(),
                   of.k[0],
                   !of.table.empty(),
                   {OpInputAddress(kTableInput), 0, of.users(), of.blocks()}};
  const auto positions = static_cast<uint32_t>(of.positions.size());
  reader.positions = std::min(positions, 2u);
  reader.position = {OpInputAddress(kPositionInput), 0, 1, positions};
  if (of.mask[0] != 0) {
    const uint32_t matrix = inputs.mask.tile_rows() * inputs.mask.tile_columns();
    reader.mask = {1,
                   OpInputAddress(kMaskInput),
                   of.is_decode ? 1 : of.heads(),
                   of.mask[0] == 1 ? 0 : matrix * of.mask[1],
                   of.mask[1] == 1 ? 0 : matrix,
                   of.mask[2] == 1 ? 0 : inputs.mask.tile_columns()};
  }
  return reader;
}

ops::AttentionCompute ComputeOf(const Attention& of, const Inputs& inputs, const OpTensor& output) {
  ops::AttentionCompute compute{};
  compute.units = UnitsOf(of, output);
  compute.visible = {of.keys(), of.by_row, of.back, of.ahead};
  compute.key_tiles = inputs.q.tile_columns();
  compute.value_tiles = output.tile_columns();
  compute.steps = StepsOf(of, output);
  compute.scale = std::bit_cast<uint32_t>(std::numbers::log2e_v<float>);
  if (of.mask[0] != 0) {
    compute.mask = static_cast<uint32_t>(of.mask[2] == 1 ? ops::AttentionMask::kRow
                                                         : ops::AttentionMask::kTile);
  }
  compute.padding = PaddingOf(output);
  return compute;
}

// The rows of a row-major tensor of integers, each a page.
void WriteIntegers(BootedCard& card, uint32_t input, const std::vector<uint32_t>& numbers,
                   uint32_t columns) {
  if (numbers.empty()) return;
  const auto bytes = std::as_bytes(std::span(numbers));
  const Region region = {MemoryKind::kDram, -1, OpInputAddress(input), 4 * columns, bytes.size()};
  const Status written = card.Write(region, 0, {bytes.begin(), bytes.end()});
  EXPECT_TRUE(written.ok()) << written.ToString();
}

void RunAttention(BootedCard& card, const Attention& of) {
  const Inputs inputs = InputsOf(of);
  OpTensor output{{of.q[0], of.q[1], of.q[2], of.value_columns}, of.query_format};
  const uint32_t key_tiles = inputs.q.tile_columns(), value_tiles = output.tile_columns();
  OpProgram program(card, "attention", of.cores,
                    {{0, 6 * key_tiles, of.format},
                     {1, 6 * value_tiles, of.format},
                     {2, 2, kBf16},
                     {3, 4, of.query_format},
                     {4, 2 * key_tiles, of.query_format},
                     {5, StepsOf(of, output).tiles, kFp32},
                     {6, 1, kFp32},
                     {7, value_tiles, kFp32},
                     {8, 2, kBf16},
                     {9, 2, kBf16},
                     {10, 2, kBf16},
                     {11, 1, kBf16}});
  std::vector<OpTensor> loaded = {inputs.q, inputs.k, inputs.v};
  if (of.mask[0] != 0) loaded.push_back(inputs.mask);
  program.Load(loaded, output);
  WriteIntegers(card, kTableInput, of.table, of.blocks());
  WriteIntegers(card, kPositionInput, of.positions, static_cast<uint32_t>(of.positions.size()));
  const ops::AttentionUnits units = UnitsOf(of, output);
  const ops::AttentionWriter writer{{}, units, kOpOutputAddress, value_tiles};
  const uint32_t items = of.q[0] * of.q[1] * units.parts * units.slices;
  for (uint32_t launch = 0; launch < of.launches; ++launch) {
    const uint32_t first = items * launch / of.launches;
    const uint32_t end = items * (launch + 1) / of.launches;
    program.Launch(of.cores.Arguments(ReaderOf(of, inputs, output), first, end),
                   of.cores.Arguments(ComputeOf(of, inputs, output), first, end),
                   of.cores.Arguments(writer, first, end));
  }
  program.Read(output);
  ExpectNear(output, ExpectedOf(of, inputs), 0.01);
}

const Attention kAttentions[] = {
    {.name = "All",
     .cores = kOneCore,
     .q = {2, 4, 40, 64},
     .k = {2, 2, 70, 64},
     .value_columns = 64},
    {.name = "Causal",
     .cores = kPartOfARow,
     .q = {1, 2, 100, 32},
     .k = {1, 1, 100, 32},
     .value_columns = 40,
     .by_row = true,
     .ahead = 0},
    {.name = "CausalWindow",
     .cores = kScattered,
     .q = {1, 2, 70, 33},
     .k = {1, 2, 70, 33},
     .value_columns = 32,
     .format = kBfp8,
     .by_row = true,
     .back = 34,
     .ahead = 0},
    {.name = "WindowInBothDirections",
     .cores = kOneCore,
     .q = {1, 1, 97, 32},
     .k = {1, 1, 97, 32},
     .value_columns = 32,
     .by_row = true,
     .back = 3,
     .ahead = 3},
    {.name = "Float32",
     .cores = kOneCore,
     .q = {1, 1, 33, 32},
     .k = {1, 1, 33, 32},
     .value_columns = 96,
     .format = kFp32,
     .query_format = kFp32},
    {.name = "MaskOfUsers",
     .cores = kScattered,
     .q = {2, 2, 40, 32},
     .k = {2, 1, 65, 32},
     .value_columns = 32,
     .mask = {2, 1, 40, 65}},
    {.name = "MaskOfHeads",
     .cores = kOneCore,
     .q = {2, 2, 40, 32},
     .k = {2, 2, 33, 32},
     .value_columns = 32,
     .mask = {1, 2, 1, 33}},
    {.name = "Decode",
     .cores = kPartOfARow,
     .q = {1, 4, 8, 32},
     .k = {4, 2, 100, 32},
     .value_columns = 32,
     .is_decode = true,
     .ahead = 0,
     .positions = {0, 31, 64, 99}},
    {.name = "DecodeWindow",
     .cores = kOneCore,
     .q = {1, 2, 4, 64},
     .k = {2, 4, 130, 64},
     .value_columns = 64,
     .format = kBfp8,
     .is_decode = true,
     .back = 40,
     .ahead = 0,
     .positions = {129, 65}},
    {.name = "DecodeBeyondTheKeys",
     .cores = kOneCore,
     .q = {1, 2, 6, 32},
     .k = {2, 2, 70, 32},
     .value_columns = 32,
     .is_decode = true,
     .ahead = 0,
     .positions = {0xFFFFFFFF}},
    {.name = "GroupsAcrossTiles",
     .cores = kScattered,
     .q = {1, 2, 72, 32},
     .k = {2, 3, 40, 32},
     .value_columns = 32,
     .is_decode = true},
    {.name = "GroupsOfOddSize",
     .cores = kPartOfARow,
     .q = {1, 3, 35, 32},
     .k = {3, 7, 40, 32},
     .value_columns = 32,
     .is_decode = true,
     .ahead = 0,
     .positions = {5, 33, 1}},
    {.name = "DecodeWithMask",
     .cores = kOneCore,
     .q = {1, 2, 8, 32},
     .k = {2, 2, 65, 32},
     .value_columns = 32,
     .is_decode = true,
     .mask = {2, 1, 8, 65}},
    {.name = "Pages",
     .cores = kScattered,
     .q = {1, 3, 8, 32},
     .k = {9, 2, 64, 32},
     .value_columns = 64,
     .is_decode = true,
     .ahead = 0,
     .positions = {70, 127, 9},
     .table = {8, 0, 3, 1, 2, 7}},
    {.name = "InThreeLaunches",
     .cores = kPartOfARow,
     .q = {2, 3, 64, 32},
     .k = {2, 1, 64, 32},
     .value_columns = 32,
     .by_row = true,
     .ahead = 0,
     .launches = 3},
};

class AttentionKernels : public ::testing::TestWithParam<size_t> {};

TEST_P(AttentionKernels, OutputIsTheWeightedMeanOfValues) {
  BootedCard card;
  RunAttention(card, kAttentions[GetParam()]);
}

INSTANTIATE_TEST_SUITE_P(Cases, AttentionKernels,
                         ::testing::Range(size_t{0}, std::size(kAttentions)),
                         [](const auto& index) {
                           return std::string(kAttentions[index.param].name);
                         });

}  // namespace
}  // namespace ttfd::op_test::op_attention_test
