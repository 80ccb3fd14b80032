// What the kernels of operations cost: bytes of their images, and instructions, counted on the model.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "firmware/ops/attention_words.h"
#include "runtime/sim/chip.h"
#include "runtime/sim/hart.h"
#include "tests/support/op_reference.h"

namespace ttfd::op_test::op_cost_test {
namespace {

// What a family takes of a core's memory for kernels, which traces pin; and all of them together.
TEST(OperationCost, ImagesOfAFamily) {
  constexpr size_t kLimit = 96 << 10;
  size_t all = 0;
  struct Family {
    std::string_view name;
    size_t limit;
    size_t bytes = 0;
  };
  Family families[] = {{"eltwise", 14'100}, {"matmul", 13'200},  {"reduce", 12'250},
                       {"rows", 13'900},    {"move", 15'700},    {"attention", 19'550},
                       {"argmax", 2'500},   {"integers", 2'400}, {"stamp", 620}};
  for (const std::string_view name : ops::OperationElfNames()) {
    const auto image = LoadKernel(ops::OperationElf(name), std::string(name));
    ASSERT_TRUE(image.ok()) << image.status().ToString();
    const size_t bytes = (*image)->bytes.size();
    std::printf("%s: %zu bytes\n", std::string(name).c_str(), bytes);
    all += bytes;
    for (Family& family : families) {
      constexpr std::string_view kOwnWriters[] = {"move", "attention", "argmax", "integers",
                                                  "stamp"};
      const bool has_own_writer = std::find(std::begin(kOwnWriters), std::end(kOwnWriters),
                                            family.name) != std::end(kOwnWriters);
      if (name == "tile_writer" ? !has_own_writer : name.starts_with(family.name)) {
        family.bytes += bytes;
      }
    }
  }
  for (const Family& family : families) {
    std::printf("%s: %zu bytes\n", std::string(family.name).c_str(), family.bytes);
    EXPECT_LE(family.bytes, family.limit) << family.name;
  }
  EXPECT_LE(all, kLimit);
}

constexpr uint32_t kSmall = 4, kLarge = 36;  // items
constexpr uint32_t kTileColumns = 4;

// Instructions of the busiest of a core's five harts.
struct Cost {
  uint64_t launch;  // all but its items
  uint64_t item;
};

class OperationInstructions : public ::testing::Test {
 protected:
  void SetUp() override {
    TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("counts instructions");
    if (TestDeviceIsHostile()) GTEST_SKIP() << "with hazards on, harts poll longer";
  }

  // `launch(items)` launches an operation on worker (0, 0).
  Cost Measure(const char* what, BootedCard& card, const std::function<void(uint32_t)>& launch) {
    constexpr hw::Coordinate kWorker = {1, 2};
    const auto count = [&](uint32_t items, std::array<uint64_t, hw::kHarts>& retired) {
      for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
        retired[hart] = -card.chip->FindHart(kWorker, hart)->retired;
      }
      launch(items);
      EXPECT_TRUE(card.Finish().ok());
      for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
        retired[hart] += card.chip->FindHart(kWorker, hart)->retired;
      }
    };
    std::array<uint64_t, hw::kHarts> small{}, large{};
    count(kSmall, small);  // the first launch: kernels are loaded
    count(kSmall, small);
    count(kLarge, large);
    Cost cost{};
    std::printf("%-10s", what);
    for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
      const uint64_t item = (large[hart] - small[hart]) / (kLarge - kSmall);
      const uint64_t own = small[hart] - kSmall * item;
      std::printf("  %s %lu + %lu an item", sim::HartName(hart), own, item);
      cost = {std::max(cost.launch, own), std::max(cost.item, item)};
    }
    std::printf("\n");
    return cost;
  }

  Cost Eltwise(const char* what, Combine combine, uint32_t inputs, uint32_t broadcast,
               const Steps& steps, hw::tensix::Format format = kBf16) {
    BootedCard card;
    std::vector<OpBuffer> buffers = {{ops::kOutputBuffer, 2, format}};
    for (uint32_t i = 0; i < inputs; ++i) buffers.push_back({i, 2, format});
    OpProgram program(card, "eltwise", kOneCore, buffers);
    ops::EltwiseReader reader{};
    reader.inputs = inputs;
    for (uint32_t& size : reader.size) size = kLarge;
    for (uint32_t i = 0; i < inputs; ++i) reader.input[i] = {OpInputAddress(i), {0, 0, 0, 1}};
    ops::EltwiseCompute compute{};
    compute.combine = static_cast<uint32_t>(combine);
    compute.broadcast = broadcast;
    compute.chain = ChainOf(steps);
    compute.padding = {32, 32, 0, 0};
    const ops::TileWriter writer{{}, {1, 1, kLarge, kTileColumns}, kOpOutputAddress};
    return Measure(what, card, [&](uint32_t items) {
      program.Launch(kOneCore.Arguments(reader, 0, items), kOneCore.Arguments(compute, 0, items),
                     kOneCore.Arguments(writer, 0, items));
    });
  }

  Cost Matmul(const char* what, uint32_t block_rows, uint32_t block_columns, uint32_t k_tiles) {
    BootedCard card;
    OpProgram program(card, "matmul", kOneCore,
                      {{0, 2 * block_rows, kBf16},
                       {1, 2 * block_columns, kBf16},
                       {ops::kOutputBuffer, block_rows * block_columns, kBf16}});
    ops::MatmulReader reader{};
    reader.blocks = {block_rows, block_columns, kLarge, 1};
    reader.k_tiles = k_tiles;
    reader.inner_batches = 1;
    reader.a = {OpInputAddress(0), 0, 0, k_tiles, 1};
    reader.b = {OpInputAddress(1), 0, 0, block_columns, 1};
    ops::MatmulCompute compute{};
    compute.blocks = reader.blocks;
    compute.k_tiles = k_tiles;
    compute.fidelity = 4;
    compute.padding = {32, 32, 0, 0};
    const ops::TileWriter writer{{}, reader.blocks, kOpOutputAddress};
    return Measure(what, card, [&](uint32_t items) {
      program.Launch(kOneCore.Arguments(reader, 0, items), kOneCore.Arguments(compute, 0, items),
                     kOneCore.Arguments(writer, 0, items));
    });
  }

  // Of rows of `tiles` tiles.
  Cost Reduce(const char* what, ops::Pool pool, uint32_t tiles) {
    BootedCard card;
    OpProgram program(
        card, "reduce", kOneCore,
        {{0, 4, kBf16}, {1, 1, kBf16}, {ops::kOutputBuffer, 2, kBf16}, {4, 1, kFp32}});
    const ops::ReduceReader reader{{}, tiles, 1, OpInputAddress(0)};
    ops::ReduceCompute compute{};
    compute.tiles = tiles;
    compute.pool = static_cast<uint32_t>(pool);
    compute.last = 30;
    compute.factor = 0x3F000000;
    compute.padding = {32, 1, kLarge, 1};
    const ops::TileWriter writer{{}, {1, 1, 1, 1}, kOpOutputAddress};
    return Measure(what, card, [&](uint32_t items) {
      program.Launch(kOneCore.Arguments(reader, 0, items), kOneCore.Arguments(compute, 0, items),
                     kOneCore.Arguments(writer, 0, items));
    });
  }

  Cost Rows(const char* what, ops::RowsFunction function, uint32_t tiles) {
    BootedCard card;
    OpProgram program(card, "rows", kOneCore,
                      {{0, 2 * tiles, kBf16},
                       {1, 2, kBf16},
                       {2, 2, kBf16},
                       {ops::kOutputBuffer, 2, kBf16},
                       {4, 1, kFp32},
                       {5, 1, kFp32},
                       {6, tiles, kFp32}});
    const uint32_t has = function != ops::RowsFunction::kSoftmax;  // weight and bias
    const ops::RowsReader reader{
        {}, tiles, OpInputAddress(0), has, OpInputAddress(1), has, OpInputAddress(2)};
    ops::RowsCompute compute{};
    compute.tiles = tiles;
    compute.function = static_cast<uint32_t>(function);
    compute.has_weight = compute.has_bias = has;
    compute.mean_factor = 0x3C000000;
    compute.epsilon = 0x3C000000;
    compute.padding = {32, 30, kLarge, tiles};
    const ops::TileWriter writer{{}, {1, tiles, kLarge, 1}, kOpOutputAddress};
    return Measure(what, card, [&](uint32_t items) {
      program.Launch(kOneCore.Arguments(reader, 0, items), kOneCore.Arguments(compute, 0, items),
                     kOneCore.Arguments(writer, 0, items));
    });
  }

  // Of queries of `rows` rows and two tiles of columns, and as many keys as `steps` tiles have rows.
  Cost Attention(const char* what, uint32_t rows, uint32_t steps) {
    BootedCard card;
    OpProgram program(card, "attention", kOneCore,
                      {{0, 12, kBf16},
                       {1, 12, kBf16},
                       {ops::kOutputBuffer, 4, kBf16},
                       {4, 4, kBf16},
                       {5, 3, kFp32},
                       {6, 1, kFp32},
                       {7, 2, kFp32},
                       {8, 2, kBf16},
                       {9, 2, kBf16},
                       {10, 2, kBf16}});
    const ops::AttentionUnits units = {1, rows, 1, rows, 1};
    const ops::AttentionVisible visible = {32 * steps, 0, ops::kAttentionAll, 0};
    ops::AttentionReader reader{};
    reader.units = units;
    reader.visible = visible;
    reader.steps = {3, 2};
    reader.query_address = OpInputAddress(0);
    reader.key_address = OpInputAddress(1);
    reader.value_address = OpInputAddress(2);
    reader.key_tiles = reader.value_tiles = 2;
    reader.group = kLarge;
    reader.heads = 1;
    reader.blocks = {steps, 1, 0, {}};
    ops::AttentionCompute compute{};
    compute.units = units;
    compute.visible = visible;
    compute.key_tiles = compute.value_tiles = 2;
    compute.steps = reader.steps;
    compute.scale = 0x3F800000;
    compute.padding = {rows, 32, 1, 2};
    const ops::AttentionWriter writer{{}, units, kOpOutputAddress, 2};
    return Measure(what, card, [&](uint32_t items) {
      program.Launch(kOneCore.Arguments(reader, 0, items), kOneCore.Arguments(compute, 0, items),
                     kOneCore.Arguments(writer, 0, items));
    });
  }
};

TEST_F(OperationInstructions, OfTilesOfElements) {
  const Cost copy = Eltwise("copy", Combine::kNone, 1, 0, {});
  const Cost sum = Eltwise("sum", Combine::kAdd, 2, 0, {});
  const Cost exact = Eltwise("exact sum", Combine::kAdd, 2, 0, {}, kFp32);
  const Cost row = Eltwise("sum row", Combine::kAdd, 2, 2 << 8, {});
  const Cost gelu = Eltwise("gelu", Combine::kNone, 1, 0, {{Unary::kGelu, 0}});
  EXPECT_LE(copy.item, 320u);
  EXPECT_LE(sum.item, 450u);
  EXPECT_LE(exact.item, 480u);
  EXPECT_LE(row.item, 480u);
  EXPECT_LE(gelu.item, 1600u);
  EXPECT_LE(std::max(copy.launch, exact.launch), 580u);
}

TEST_F(OperationInstructions, OfBlocksOfProducts) {
  EXPECT_LE(Matmul("1x1x1", 1, 1, 1).item, 420u);
  EXPECT_LE(Matmul("1x1x8", 1, 1, 8).item, 3000u);
  EXPECT_LE(Matmul("2x2x8", 2, 2, 8).item, 4500u);
}

TEST_F(OperationInstructions, OfReductions) {
  EXPECT_LE(Reduce("sum 1", ops::Pool::kSum, 1).item, 460u);
  EXPECT_LE(Reduce("sum 8", ops::Pool::kSum, 8).item, 1800u);
  EXPECT_LE(Reduce("max 1", ops::Pool::kMaximum, 1).item, 740u);
  EXPECT_LE(Reduce("max 8", ops::Pool::kMaximum, 8).item, 2500u);
}

TEST_F(OperationInstructions, OfRowsOfFourTiles) {
  EXPECT_LE(Rows("softmax", ops::RowsFunction::kSoftmax, 4).item, 9500u);
  EXPECT_LE(Rows("rms_norm", ops::RowsFunction::kRmsNorm, 4).item, 7900u);
  EXPECT_LE(Rows("layer_norm", ops::RowsFunction::kLayerNorm, 4).item, 11500u);
}

// Eight more tiles of keys cost eight steps.
TEST_F(OperationInstructions, OfStepsOfAttention) {
  const Cost one = Attention("32 rows", 32, 1), nine = Attention("32 rows, 9", 32, 9);
  const Cost few = Attention("8 rows", 8, 1), few_nine = Attention("8 rows, 9", 8, 9);
  const uint64_t step = (nine.item - one.item) / 8, few_step = (few_nine.item - few.item) / 8;
  std::printf("step: %lu of 32 rows, %lu of 8\n", step, few_step);
  EXPECT_LE(one.item, 4400u);
  EXPECT_LE(step, 2900u);
  EXPECT_LE(few.item, 1750u);
  EXPECT_LE(few_step, 870u);
}

}  // namespace
}  // namespace ttfd::op_test::op_cost_test
