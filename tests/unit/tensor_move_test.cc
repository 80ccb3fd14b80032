// Lowerings of operations that move elements, word by word.
#include <gtest/gtest.h>

#include "client/tensor/src/lower_move.h"

namespace ttfd::tensor::tensor_move_test {
namespace {

constexpr CardLimits kMoveLimits = {
    .cores = 12, .circular_buffer_bytes = 1u << 20, .launch_products = 4096};

struct MoveCase {
  const char* name;
  MoveOperation operation;
  std::vector<TensorSpec> inputs;
  TensorSpec output;
  const char* text;
};

class LowerMoveCases : public ::testing::TestWithParam<MoveCase> {};

TEST_P(LowerMoveCases, GivesTheseWords) {
  const MoveCase& given = GetParam();
  const client::Result<Lowering> lowering =
      LowerMove(given.operation, given.inputs, given.output, kMoveLimits);
  EXPECT_EQ(lowering.ok() ? lowering->ToText() : lowering.status().ToString(), given.text);
}

MoveSource Source(std::vector<MoveLevel> levels, uint64_t offset = 0, uint32_t input = 0) {
  return {.input = input, .offset = offset, .levels = std::move(levels)};
}

constexpr Layout kRows = Layout::kRowMajor;
constexpr DType kFloat32 = DType::kFloat32;

INSTANTIATE_TEST_SUITE_P(
    Tensor, LowerMoveCases,
    ::testing::Values(
        // One level: the elements are in one order.
        MoveCase{"Tilize",
                 {.sizes = {64, 768}, .sources = {Source({{0, 64, 768}, {0, 768, 1}})}},
                 {{{64, 768}, DType::kBFloat16, kRows}},
                 {{64, 768}},
                 R"(move on 12 cores: 12 items, 1 launches of 12
buffer 0: 16 pages of 2048 bytes
move @output 1 64 768 2 32 128 0 0 6 2 0 0 0 0 0 0 0 0 0 0 0 768 1 49152 0 0 0 0 0 1 @0 0 64 768 0 0
  49152 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
)"},
        MoveCase{"RowsOfBatches",
                 {.sizes = {2, 3, 5}, .sources = {Source({{0, 2, 5}, {0, 3, 10}, {0, 5, 1}})}},
                 {{{3, 2, 5}, kFloat32, kRows}},
                 {{2, 3, 5}, kFloat32, kRows},
                 R"(move on 6 cores: 6 items, 1 launches of 6
buffer 0: 7 pages of 4096 bytes
move @output 0 3 5 4 1 32 0 0 1 3 0 0 0 0 0 0 0 0 0 0 1 1 3 2 3 5 0 0 0 1 @0 0 2 5 0 0 2 5 0 3 10 0 5
  1 0 0 0 0 0 0 0 0 0
)"},
        MoveCase{"Transpose",
                 {.sizes = {70, 33}, .sources = {Source({{0, 70, 1}, {0, 33, 70}})}},
                 {{{33, 70}}},
                 {{70, 33}},
                 R"(move on 6 cores: 6 items, 1 launches of 6
buffer 0: 7 pages of 2048 bytes
move @output 1 70 33 2 32 32 0 0 2 3 0 0 0 0 0 0 0 0 0 0 0 1 2 70 33 0 0 0 0 1 @0 1 33 70 0 0 70 1 0
  33 70 0 0 0 0 0 0 0 0 0 0 0 0
)"},
        // Tiles move as they are, a column of them in the place of an element.
        MoveCase{"TilesOfBfp8",
                 {.sizes = {3, 64, 64},
                  .sources = {Source({{0, 2, 64 * 128}, {0, 64, 128}, {0, 64, 1}}, 64),
                              Source({{2, 3, 64 * 64}, {0, 64, 64}, {0, 64, 1}},
                                     uint64_t{0} - 2 * 64 * 64, 1)}},
                 {{{2, 64, 128}, DType::kBfp8}, {{1, 64, 64}, DType::kBfp8}},
                 {{3, 64, 64}, DType::kBfp8},
                 R"(move on 12 cores: 12 items, 1 launches of 12
buffer 0: 3 pages of 1088 bytes
move @output 0 2 2 1088 1 1 0 0 2 2 0 0 0 0 0 0 0 0 0 0 1 1 3 3 2 2 0 0 0 2 @0 1 64 128 2 0 2 8 0 2 4
  0 2 1 0 0 0 0 0 0 0 0 0 @1 1 64 64 0 2 3 0 0 2 2 0 2 1 0 0 0 0 0 0 0 0 0
)"},
        MoveCase{"PartsOfTilesOfBfp8",
                 {.sizes = {32, 32}, .sources = {Source({{0, 32, 64}, {0, 32, 1}}, 16)}},
                 {{{32, 64}, DType::kBfp8}},
                 {{32, 32}, DType::kBfp8},
                 "INVALID_ARGUMENT: elements of bfp8 move as whole tiles only, and these do not; "
                 "typecast to bfloat16 or float32 first [INVALID, field dtype]"},
        MoveCase{"Embedding",
                 {.sizes = {40, 64},
                  .sources = {Source({{0, 40, 64}, {0, 64, 1}}, 0, 1)},
                  .filling = ops::MoveFilling::kValue,
                  .index = MoveOperation::Index{.use = ops::MoveIndexUse::kGather,
                                                .input = 0,
                                                .level = 0,
                                                .limit = 1000}},
                 {{{40}, DType::kUInt32, kRows}, {{1000, 64}}},
                 {{40, 64}},
                 R"(move on 4 cores: 4 items, 1 launches of 4
buffer 0: 7 pages of 2048 bytes
move @output 1 40 64 2 32 32 0 0 2 2 1 0 1 0 1000 1 @0 0 1 40 0 1 2 40 64 0 0 0 0 1 @1 1 1000 64 0 0
  40 64 0 64 1 0 0 0 0 0 0 0 0 0 0 0 0
)"},
        MoveCase{"RowsOfACache",
                 {.sizes = {4, 2, 128, 64},
                  .sources = {Source({{1, 3, 64}, {0, 2, 128}, {0, 1, 0}, {0, 64, 1}}, 0, 1)},
                  .filling = ops::MoveFilling::kKeep,
                  .index = MoveOperation::Index{.use = ops::MoveIndexUse::kPosition,
                                                .input = 2,
                                                .level = 2,
                                                .matrices = 2},
                  .part = MoveOperation::Part{2, 4, 0, 1}},
                 {{{4, 2, 128, 64}}, {{1, 2, 2, 64}}, {{2}, DType::kUInt32, kRows}},
                 {{4, 2, 128, 64}},
                 R"(move on 4 cores: 4 items, 1 launches of 4
buffer 0: 10 pages of 2048 bytes
move @output 1 128 64 2 32 64 2 0 1 1 2 0 2 2 0 2 @2 0 1 2 2 1 4 4 2 128 64 0 0 1 @1 1 2 64 0 1 3 64
  0 2 128 0 1 0 0 64 1 0 0 0 0 0 0
)"},
        MoveCase{"RowsOfPages",
                 {.sizes = {6, 2, 64, 64},
                  .sources = {Source({{0, 2, 128}, {0, 2, 64}, {0, 1, 0}, {0, 64, 1}}, 0, 1)},
                  .filling = ops::MoveFilling::kKeep,
                  .index = MoveOperation::Index{.use = ops::MoveIndexUse::kPagedPosition,
                                                .input = 2,
                                                .level = 2,
                                                .limit = 6,
                                                .matrices = 2,
                                                .pages = MoveOperation::PageTable{.input = 3}},
                  .part = MoveOperation::Part{0, 4, 0, 1}},
                 {{{6, 2, 64, 64}},
                  {{1, 2, 2, 64}},
                  {{2}, DType::kUInt32, kRows},
                  {{2, 3}, DType::kUInt32, kRows}},
                 {{6, 2, 64, 64}},
                 R"(move on 4 cores: 4 items, 1 launches of 4
buffer 0: 10 pages of 2048 bytes
move @output 1 64 64 2 32 64 0 0 1 1 2 0 3 2 6 2 @2 0 1 2 2 1 4 6 2 64 64 0 0 1 @1 1 2 64 0 0 2 128 0
  2 64 0 1 0 0 64 1 0 0 0 0 0 0 @3 0 2 3 0
)"},
        MoveCase{"PagesOfAUser",
                 {.sizes = {6, 1, 64, 64},
                  .sources = {Source({{0, 2, 4096}, {0, 1, 0}, {0, 64, 64}, {0, 64, 1}}, 0, 1)},
                  .filling = ops::MoveFilling::kKeep,
                  .index = MoveOperation::Index{.use = ops::MoveIndexUse::kPagedMatrices,
                                                .input = MoveOperation::Index::kNoInput,
                                                .level = 2,
                                                .limit = 6,
                                                .matrices = 1,
                                                .pages = MoveOperation::PageTable{2, 3}},
                  .part = MoveOperation::Part{0, 2, 0, 64}},
                 {{{6, 1, 64, 64}}, {{1, 1, 128, 64}}, {{2, 3}, DType::kUInt32, kRows}},
                 {{6, 1, 64, 64}},
                 R"(move on 4 cores: 4 items, 1 launches of 4
buffer 0: 10 pages of 2048 bytes
move @output 1 64 64 2 32 64 0 0 1 2 2 0 4 2 6 1 0 0 0 0 2 1 4 6 1 64 64 0 0 1 @1 1 128 64 0 0 2 4096
  0 1 0 0 64 64 0 64 1 0 0 0 0 0 0 @2 0 2 3 3
)"},
        MoveCase{"TooManyLevels",
                 {.sizes = {2, 2, 2, 2, 2, 2, 2},
                  .sources = {Source({{0, 2, 1},
                                      {0, 2, 2},
                                      {0, 2, 4},
                                      {0, 2, 8},
                                      {0, 2, 16},
                                      {0, 2, 32},
                                      {0, 2, 64}})}},
                 {{{2, 2, 2, 2, 2, 2, 2}}},
                 {{2, 2, 2, 2, 2, 2, 2}},
                 "INVALID_ARGUMENT: more than 6 groups of extents of [2, 2, 2, 2, 2, 2, 2] are "
                 "moved differently [INVALID, field shape]"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace ttfd::tensor::tensor_move_test
