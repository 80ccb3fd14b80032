// Lowerings of attention, word by word.
#include <gtest/gtest.h>

#include "client/tensor/src/lower_attention.h"

namespace ttfd::tensor::tensor_attention_test {
namespace {

constexpr CardLimits kLimits = {
    .cores = 12, .circular_buffer_bytes = 1u << 20, .launch_products = 4096};

struct AttentionCase {
  const char* name;
  AttentionOperation operation;
  std::vector<TensorSpec> inputs;
  TensorSpec output;
  const char* text;
};

class LowerAttentionCases : public ::testing::TestWithParam<AttentionCase> {};

TEST_P(LowerAttentionCases, GivesTheseWords) {
  const AttentionCase& given = GetParam();
  EXPECT_EQ(LowerAttention(given.operation, given.inputs, given.output, kLimits).ToText(),
            given.text);
}

TensorSpec Integers(Shape shape, Layout layout = Layout::kRowMajor) {
  return {std::move(shape), DType::kUInt32, layout};
}

INSTANTIATE_TEST_SUITE_P(
    Tensor, LowerAttentionCases,
    ::testing::Values(
        AttentionCase{"All",
                      {},
                      {{{2, 6, 70, 64}}, {{2, 3, 100, 64}}, {{2, 3, 100, 80}}},
                      {{2, 6, 70, 80}},
                      R"(attention on 12 cores: 36 items, 1 launches of 36
buffer 0: 12 pages of 2048 bytes
buffer 1: 18 pages of 2048 bytes
buffer 3: 6 pages of 2048 bytes
buffer 4: 4 pages of 2048 bytes
buffer 5: 3 pages of 4096 bytes
buffer 6: 1 pages of 4096 bytes
buffer 7: 3 pages of 4096 bytes
buffer 8: 2 pages of 2048 bytes
buffer 9: 2 pages of 2048 bytes
buffer 10: 2 pages of 2048 bytes
reader 1 70 3 70 3 100 0 1073741824 1073741824 3 3 @0 @1 @2 2 3 2 3 4 2 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
  0
compute 1 70 3 70 3 100 0 1073741824 1073741824 2 3 3 3 1069066811 0 6 16 3 3
writer 1 70 3 70 3 @output 3
)"},
        AttentionCase{"Causal",
                      {.is_causal = true, .sliding_window = 40},
                      {{{1, 2, 64, 128}, DType::kFloat32},
                       {{1, 1, 64, 128}, DType::kBfp8},
                       {{1, 1, 64, 128}, DType::kBfp8}},
                      {{1, 2, 64, 128}, DType::kFloat32},
                      R"(attention on 4 cores: 4 items, 1 launches of 4
buffer 0: 24 pages of 1088 bytes
buffer 1: 24 pages of 1088 bytes
buffer 3: 4 pages of 4096 bytes
buffer 4: 8 pages of 4096 bytes
buffer 5: 3 pages of 4096 bytes
buffer 6: 1 pages of 4096 bytes
buffer 7: 4 pages of 4096 bytes
buffer 8: 2 pages of 2048 bytes
buffer 9: 2 pages of 2048 bytes
buffer 10: 2 pages of 2048 bytes
reader 1 64 2 64 2 64 1 39 0 3 2 @0 @1 @2 4 4 2 1 2 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
compute 1 64 2 64 2 64 1 39 0 4 4 3 2 1069066811 0 32 32 2 4
writer 1 64 2 64 2 @output 4
)"},
        AttentionCase{"WindowInBothDirections",
                      {.sliding_window = 9},
                      {{{1, 1, 33, 32}}, {{1, 1, 33, 32}}, {{1, 1, 33, 32}}},
                      {{1, 1, 33, 32}},
                      R"(attention on 2 cores: 2 items, 1 launches of 2
buffer 0: 6 pages of 2048 bytes
buffer 1: 6 pages of 2048 bytes
buffer 3: 2 pages of 2048 bytes
buffer 4: 2 pages of 2048 bytes
buffer 5: 3 pages of 4096 bytes
buffer 6: 1 pages of 4096 bytes
buffer 7: 1 pages of 4096 bytes
buffer 8: 2 pages of 2048 bytes
buffer 9: 2 pages of 2048 bytes
buffer 10: 2 pages of 2048 bytes
reader 1 33 2 33 2 33 1 4 4 3 1 @0 @1 @2 1 1 1 1 2 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
compute 1 33 2 33 2 33 1 4 4 1 1 3 1 1069066811 0 1 32 2 1
writer 1 33 2 33 2 @output 1
)"},
        AttentionCase{"MaskOfHeads",
                      {.mask = 3},
                      {{{2, 4, 64, 32}}, {{2, 4, 96, 32}}, {{2, 4, 96, 32}}, {{1, 4, 1, 96}}},
                      {{2, 4, 64, 32}},
                      R"(attention on 12 cores: 16 items, 1 launches of 16
buffer 0: 2 pages of 2048 bytes
buffer 1: 2 pages of 2048 bytes
buffer 2: 2 pages of 2048 bytes
buffer 3: 2 pages of 2048 bytes
buffer 4: 2 pages of 2048 bytes
buffer 5: 1 pages of 4096 bytes
buffer 6: 1 pages of 4096 bytes
buffer 7: 1 pages of 4096 bytes
buffer 8: 2 pages of 2048 bytes
buffer 9: 2 pages of 2048 bytes
buffer 10: 2 pages of 2048 bytes
reader 1 64 2 64 2 96 0 1073741824 1073741824 1 1 @0 @1 @2 1 1 1 4 3 2 0 0 0 0 0 0 0 0 0 0 1 @3 4 0 3
  0
compute 1 64 2 64 2 96 0 1073741824 1073741824 1 1 1 1 1069066811 2 32 32 2 1
writer 1 64 2 64 2 @output 1
)"},
        AttentionCase{"Decode",
                      {.is_decode = true, .is_causal = true, .positions = 3},
                      {{{1, 32, 8, 64}}, {{32, 2, 256, 64}}, {{32, 2, 256, 64}}, Integers({32})},
                      {{1, 32, 8, 64}},
                      R"(attention on 12 cores: 64 items, 1 launches of 64
buffer 0: 12 pages of 2048 bytes
buffer 1: 12 pages of 2048 bytes
buffer 3: 4 pages of 2048 bytes
buffer 4: 4 pages of 2048 bytes
buffer 5: 3 pages of 4096 bytes
buffer 6: 1 pages of 4096 bytes
buffer 7: 2 pages of 4096 bytes
buffer 8: 2 pages of 2048 bytes
buffer 9: 2 pages of 2048 bytes
buffer 10: 2 pages of 2048 bytes
buffer 11: 1 pages of 2048 bytes
reader 2 4 1 8 1 256 0 1073741824 0 3 2 @0 @1 @2 2 2 1 2 8 32 0 0 0 0 0 2 @3 0 1 32 0 0 0 0 0 0
compute 2 4 1 8 1 256 0 1073741824 0 2 2 3 2 1069066811 0 8 32 1 2
writer 2 4 1 8 1 @output 2
)"},
        AttentionCase{"DecodeOfGroupsAcrossTiles",
                      {.is_decode = true, .mask = 3},
                      {{{1, 2, 48, 64}}, {{2, 2, 40, 64}}, {{2, 2, 40, 64}}, {{2, 1, 48, 40}}},
                      {{1, 2, 48, 64}},
                      R"(attention on 8 cores: 8 items, 1 launches of 8
buffer 0: 4 pages of 2048 bytes
buffer 1: 4 pages of 2048 bytes
buffer 2: 2 pages of 2048 bytes
buffer 3: 4 pages of 2048 bytes
buffer 4: 4 pages of 2048 bytes
buffer 5: 1 pages of 4096 bytes
buffer 6: 1 pages of 4096 bytes
buffer 7: 2 pages of 4096 bytes
buffer 8: 2 pages of 2048 bytes
buffer 9: 2 pages of 2048 bytes
buffer 10: 2 pages of 2048 bytes
reader 2 24 2 48 2 40 0 1073741824 0 1 2 @0 @1 @2 2 2 1 2 2 2 0 0 0 0 0 0 0 0 0 0 1 @3 1 4 0 2
compute 2 24 2 48 2 40 0 1073741824 0 2 2 1 2 1069066811 1 16 32 2 2
writer 2 24 2 48 2 @output 2
)"},
        AttentionCase{"Pages",
                      {.is_decode = true,
                       .is_causal = true,
                       .sliding_window = 64,
                       .page_table = 3,
                       .positions = 4},
                      {{{1, 3, 16, 64}},
                       {{20, 4, 64, 64}, DType::kBfp8},
                       {{20, 4, 64, 64}, DType::kBfp8},
                       Integers({3, 6}),
                       Integers({1, 3}, Layout::kTile)},
                      {{1, 3, 16, 64}},
                      R"(attention on 12 cores: 12 items, 1 launches of 12
buffer 0: 12 pages of 1088 bytes
buffer 1: 12 pages of 1088 bytes
buffer 3: 4 pages of 2048 bytes
buffer 4: 4 pages of 2048 bytes
buffer 5: 3 pages of 4096 bytes
buffer 6: 1 pages of 4096 bytes
buffer 7: 2 pages of 4096 bytes
buffer 8: 2 pages of 2048 bytes
buffer 9: 2 pages of 2048 bytes
buffer 10: 2 pages of 2048 bytes
buffer 11: 1 pages of 2048 bytes
reader 4 4 1 16 1 384 0 63 0 3 2 @0 @1 @2 2 2 1 4 2 20 1 @3 0 3 6 2 @4 1 1 3 0 0 0 0 0 0
compute 4 4 1 16 1 384 0 63 0 2 2 3 2 1069066811 0 16 32 1 2
writer 4 4 1 16 1 @output 2
)"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace ttfd::tensor::tensor_attention_test
