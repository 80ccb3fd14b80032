// Lowerings of operations, word by word: what the kernels will do is seen before anything runs.
#include <gtest/gtest.h>

#include "client/tensor/src/lower_eltwise.h"
#include "client/tensor/src/lower_matmul.h"
#include "client/tensor/src/lower_reduce.h"
#include "client/tensor/src/lower_rows.h"

namespace ttfd::tensor::tensor_lowering_test {
namespace {

constexpr CardLimits kLimits = {
    .cores = 12, .circular_buffer_bytes = 1u << 20, .launch_products = 4096};

std::string TextOf(const client::Result<Lowering>& lowering) {
  return lowering.ok() ? lowering->ToText() : lowering.status().ToString();
}

struct EltwiseCase {
  const char* name;
  EltwiseOperation operation;
  std::vector<TensorSpec> inputs;
  TensorSpec output;
  const char* text;
};

class LowerEltwiseCases : public ::testing::TestWithParam<EltwiseCase> {};

TEST_P(LowerEltwiseCases, GivesTheseWords) {
  const EltwiseCase& given = GetParam();
  EXPECT_EQ(TextOf(LowerEltwise(given.operation, given.inputs, given.output, kLimits)), given.text);
}

INSTANTIATE_TEST_SUITE_P(
    Tensor, LowerEltwiseCases,
    ::testing::Values(EltwiseCase{"Unary",
                                  {.chain = {{ops::Unary::kExp}}},
                                  {{{64, 96}}},
                                  {{64, 96}},
                                  R"(eltwise on 6 cores: 6 items, 1 launches of 6
buffer 0: 2 pages of 2048 bytes
buffer 3: 2 pages of 2048 bytes
reader 1 1 1 1 6 @0 0 0 0 1 0 0 0 0 0 0 0 0 0 0
compute 0 0 1 0 0 0 0 32 32 2 3
writer 1 1 1 1 @output
)"},
                      EltwiseCase{"PaddedBatch",
                                  {.chain = {{ops::Unary::kAddScalar, 1.0f}}},
                                  {{{2, 3, 33, 70}}},
                                  {{2, 3, 33, 70}},
                                  R"(eltwise on 12 cores: 36 items, 1 launches of 36
buffer 0: 2 pages of 2048 bytes
buffer 3: 2 pages of 2048 bytes
reader 1 1 1 1 36 @0 0 0 0 1 0 0 0 0 0 0 0 0 0 0
compute 0 0 17 1065353216 0 0 0 1 6 2 3
writer 1 1 1 1 @output
)"},
                      EltwiseCase{"RowOfOtherType",
                                  {.combine = ops::Combine::kAdd},
                                  {{{128, 64}}, {{64}, DType::kFloat32}},
                                  {{128, 64}, DType::kBfp8},
                                  R"(eltwise on 8 cores: 8 items, 1 launches of 8
buffer 0: 2 pages of 2048 bytes
buffer 1: 2 pages of 4096 bytes
buffer 3: 2 pages of 1088 bytes
reader 2 1 1 4 2 @0 0 0 2 1 @1 0 0 0 1 0 0 0 0 0
compute 1 512 21 0 0 0 0 32 32 4 2
writer 1 1 1 1 @output
)"},
                      EltwiseCase{"ColumnAndBatch",
                                  {.combine = ops::Combine::kMultiply},
                                  {{{5, 1, 40, 64}}, {{7, 40, 1}}},
                                  {{5, 7, 40, 64}},
                                  R"(eltwise on 12 cores: 140 items, 1 launches of 140
buffer 0: 2 pages of 2048 bytes
buffer 1: 2 pages of 2048 bytes
buffer 3: 2 pages of 2048 bytes
reader 2 5 7 2 2 @0 4 0 2 1 @1 0 2 1 0 0 0 0 0 0
compute 3 256 0 0 0 0 0 8 32 2 2
writer 1 1 1 1 @output
)"},
                      EltwiseCase{"Scalars",
                                  {.combine = ops::Combine::kWhere},
                                  {{{1}}, {{40, 40}}, {{1, 1, 1}}},
                                  {{1, 40, 40}},
                                  R"(eltwise on 4 cores: 4 items, 1 launches of 4
buffer 0: 2 pages of 2048 bytes
buffer 1: 2 pages of 2048 bytes
buffer 2: 2 pages of 2048 bytes
buffer 3: 2 pages of 2048 bytes
reader 3 1 1 1 4 @0 0 0 0 0 @1 0 0 0 1 @2 0 0 0 0
compute 13 196611 0 0 0 0 0 8 8 2 2
writer 1 1 1 1 @output
)"},
                      EltwiseCase{"TooManyLoops",
                                  {.combine = ops::Combine::kAdd},
                                  {{{2, 1, 2, 1, 2, 64, 64}}, {{1, 2, 1, 2, 1, 64, 64}}},
                                  {{2, 2, 2, 2, 2, 64, 64}},
                                  "INVALID_ARGUMENT: more than 4 groups of extents of [2, 2, 2, 2, "
                                  "2, 64, 64] are broadcast differently [INVALID, field shape]"}),
    [](const auto& test) { return test.param.name; });

struct MatmulCase {
  const char* name;
  MatmulOperation operation;
  TensorSpec a;
  TensorSpec b;
  std::optional<TensorSpec> bias;
  TensorSpec output;
  const char* text;
};

class LowerMatmulCases : public ::testing::TestWithParam<MatmulCase> {};

TEST_P(LowerMatmulCases, GivesTheseWords) {
  const MatmulCase& given = GetParam();
  EXPECT_EQ(TextOf(LowerMatmul(given.operation, given.a, given.b,
                               given.bias ? &*given.bias : nullptr, given.output, kLimits)),
            given.text);
}

INSTANTIATE_TEST_SUITE_P(
    Tensor, LowerMatmulCases,
    ::testing::Values(
        MatmulCase{"OneTile",
                   {},
                   {{32, 32}},
                   {{32, 32}},
                   {},
                   {{32, 32}},
                   R"(matmul on 1 cores: 1 items, 1 launches of 1
buffer 0: 4 pages of 2048 bytes
buffer 1: 4 pages of 2048 bytes
buffer 3: 2 pages of 2048 bytes
reader 1 1 1 1 1 1 @0 0 0 1 1 @1 0 0 1 1 0 0
compute 1 1 1 1 1 0 0 4 0 0 0 0 0 32 32 1 1
writer 1 1 1 1 @output
)"},
        MatmulCase{"BiasAndGelu",
                   {.chain = {{ops::Unary::kGelu}}},
                   {{128, 768}},
                   {{768, 3072}, DType::kBfp8},
                   TensorSpec{{3072}},
                   {{128, 3072}},
                   R"(matmul on 12 cores: 96 items, 3 launches of 36
buffer 0: 8 pages of 2048 bytes
buffer 1: 8 pages of 1088 bytes
buffer 2: 2 pages of 2048 bytes
buffer 3: 8 pages of 2048 bytes
reader 2 2 2 48 24 1 @0 0 0 24 1 @1 0 0 96 1 1 @2
compute 2 2 2 48 24 1 0 4 7 0 0 0 0 32 32 4 96
writer 2 2 2 48 @output
)"},
        MatmulCase{"TransposedAndPadded",
                   {.transpose_b = true, .fidelity = 2},
                   {{70, 40}},
                   {{33, 40}},
                   {},
                   {{70, 33}, DType::kFloat32},
                   R"(matmul on 6 cores: 6 items, 1 launches of 6
buffer 0: 4 pages of 2048 bytes
buffer 1: 4 pages of 2048 bytes
buffer 3: 2 pages of 4096 bytes
reader 1 1 3 2 2 1 @0 0 0 2 1 @1 0 0 1 2 0 0
compute 1 1 3 2 2 0 1 2 0 0 0 0 0 6 1 3 2
writer 1 1 3 2 @output
)"},
        MatmulCase{"OneFactorForTheBatch",
                   {},
                   {{4, 64, 32}},
                   {{32, 32}},
                   {},
                   {{4, 64, 32}},
                   R"(matmul on 8 cores: 8 items, 1 launches of 8
buffer 0: 4 pages of 2048 bytes
buffer 1: 4 pages of 2048 bytes
buffer 3: 2 pages of 2048 bytes
reader 1 1 8 1 1 1 @0 0 0 1 1 @1 0 0 1 1 0 0
compute 1 1 8 1 1 0 0 4 0 0 0 0 0 32 32 2 1
writer 1 1 8 1 @output
)"},
        MatmulCase{"BroadcastBatch",
                   {},
                   {{3, 1, 33, 32}},
                   {{5, 32, 32}},
                   {},
                   {{3, 5, 33, 32}},
                   R"(matmul on 12 cores: 30 items, 1 launches of 30
buffer 0: 4 pages of 2048 bytes
buffer 1: 4 pages of 2048 bytes
buffer 3: 2 pages of 2048 bytes
reader 1 1 2 1 1 5 @0 2 0 1 1 @1 0 1 1 1 0 0
compute 1 1 2 1 1 0 0 4 0 0 0 0 0 1 32 2 1
writer 1 1 2 1 @output
)"},
        MatmulCase{"TooManyLoops",
                   {},
                   {{2, 1, 2, 32, 32}},
                   {{2, 1, 32, 32}},
                   {},
                   {{2, 2, 2, 32, 32}},
                   "INVALID_ARGUMENT: more than 2 groups of extents of the batch are broadcast "
                   "differently: [2, 1, 2, 32, 32] and [2, 1, 32, 32] [INVALID, field shape]"}),
    [](const auto& test) { return test.param.name; });

struct ReduceCase {
  const char* name;
  ReduceOperation operation;
  TensorSpec input;
  TensorSpec output;
  const char* text;
};

class LowerReduceCases : public ::testing::TestWithParam<ReduceCase> {};

TEST_P(LowerReduceCases, GivesTheseWords) {
  const ReduceCase& given = GetParam();
  EXPECT_EQ(LowerReduce(given.operation, given.input, given.output, kLimits).ToText(), given.text);
}

INSTANTIATE_TEST_SUITE_P(Tensor, LowerReduceCases,
                         ::testing::Values(ReduceCase{"SumOfRows",
                                                      {},
                                                      {{2, 33, 70}},
                                                      {{2, 33, 1}},
                                                      R"(reduce on 4 cores: 4 items, 1 launches of 4
buffer 0: 4 pages of 2048 bytes
buffer 1: 1 pages of 2048 bytes
buffer 3: 2 pages of 2048 bytes
reader 3 1 @0
compute 3 0 0 6 1065353216 0 1 1 2 1
writer 1 1 1 1 @output
)"},
                                           ReduceCase{"MeanOfColumns",
                                                      {.to_row = true, .is_mean = true},
                                                      {{2, 64, 70}},
                                                      {{2, 1, 70}, DType::kBfp8},
                                                      R"(reduce on 6 cores: 6 items, 1 launches of 6
buffer 0: 4 pages of 2048 bytes
buffer 1: 1 pages of 2048 bytes
buffer 3: 2 pages of 1088 bytes
reader 2 3 @0
compute 2 0 1 32 1015021568 1 1 6 1 3
writer 1 1 1 1 @output
)"},
                                           ReduceCase{"MinimumOfRows",
                                                      {.pool = ops::Pool::kMinimum},
                                                      {{40, 100}, DType::kFloat32},
                                                      {{40, 1}},
                                                      R"(reduce on 2 cores: 2 items, 1 launches of 2
buffer 0: 4 pages of 4096 bytes
buffer 1: 1 pages of 2048 bytes
buffer 3: 2 pages of 2048 bytes
buffer 4: 1 pages of 4096 bytes
reader 4 1 @0
compute 4 2 0 4 3212836864 0 8 1 2 1
writer 1 1 1 1 @output
)"}),
                         [](const auto& test) { return test.param.name; });

struct RowsCase {
  const char* name;
  RowsOperation operation;
  TensorSpec input;
  std::vector<TensorSpec> rows;  // weight, bias
  TensorSpec output;
  const char* text;
};

class LowerRowsCases : public ::testing::TestWithParam<RowsCase> {};

TEST_P(LowerRowsCases, GivesTheseWords) {
  const RowsCase& given = GetParam();
  const auto row = [&given](size_t i) { return i < given.rows.size() ? &given.rows[i] : nullptr; };
  EXPECT_EQ(LowerRows(given.operation, given.input, row(0), row(1), given.output, kLimits).ToText(),
            given.text);
}

// Of rows of 4096 elements two do not fit together.
INSTANTIATE_TEST_SUITE_P(Tensor, LowerRowsCases,
                         ::testing::Values(RowsCase{"Softmax",
                                                    {},
                                                    {{2, 33, 70}},
                                                    {},
                                                    {{2, 33, 70}},
                                                    R"(rows on 4 cores: 4 items, 1 launches of 4
buffer 0: 6 pages of 2048 bytes
buffer 3: 2 pages of 2048 bytes
buffer 4: 1 pages of 4096 bytes
buffer 5: 1 pages of 4096 bytes
buffer 6: 3 pages of 4096 bytes
reader 3 @0 0 0 0 0
compute 3 0 0 0 1013583521 0 0 1 6 2 3
writer 1 3 4 1 @output
)"},
                                           RowsCase{"SoftmaxOfOneRowAtATime",
                                                    {},
                                                    {{32, 4096}},
                                                    {},
                                                    {{32, 4096}, DType::kBfp8},
                                                    R"(rows on 1 cores: 1 items, 1 launches of 1
buffer 0: 128 pages of 2048 bytes
buffer 3: 2 pages of 1088 bytes
buffer 4: 1 pages of 4096 bytes
buffer 5: 1 pages of 4096 bytes
buffer 6: 128 pages of 4096 bytes
reader 128 @0 0 0 0 0
compute 128 0 0 0 964689920 0 1 32 32 1 128
writer 1 128 1 1 @output
)"},
                                           RowsCase{"RmsNormWithWeight",
                                                    {ops::RowsFunction::kRmsNorm, 0.5f},
                                                    {{64, 768}},
                                                    {{{768}, DType::kFloat32}},
                                                    {{64, 768}},
                                                    R"(rows on 2 cores: 2 items, 1 launches of 2
buffer 0: 48 pages of 2048 bytes
buffer 1: 2 pages of 4096 bytes
buffer 3: 2 pages of 2048 bytes
buffer 4: 1 pages of 4096 bytes
buffer 5: 1 pages of 4096 bytes
reader 24 @0 1 @1 0 0
compute 24 1 1 0 984263339 1056964608 0 32 32 2 24
writer 1 24 2 1 @output
)"},
                                           RowsCase{"LayerNorm",
                                                    {ops::RowsFunction::kLayerNorm, 0.5f},
                                                    {{2, 16, 64}, DType::kFloat32},
                                                    {{{64}}, {{64}}},
                                                    {{2, 16, 64}},
                                                    R"(rows on 2 cores: 2 items, 1 launches of 2
buffer 0: 4 pages of 4096 bytes
buffer 1: 2 pages of 2048 bytes
buffer 2: 2 pages of 2048 bytes
buffer 3: 2 pages of 2048 bytes
buffer 4: 1 pages of 4096 bytes
buffer 5: 1 pages of 4096 bytes
reader 2 @0 1 @1 1 @2
compute 2 2 1 1 1015021568 1056964608 0 16 32 1 2
writer 1 2 2 1 @output
)"}),
                         [](const auto& test) { return test.param.name; });

TEST(LowerRows, NamesTheLimitOfARow) {
  const TensorSpec x = {{32, 32768}};
  EXPECT_EQ(
      LowerRows({}, x, nullptr, nullptr, x, kLimits).Check(kLimits).message(),
      "circular buffers of 6303744 bytes are more than the 1048576 that a worker has for them");
}

}  // namespace
}  // namespace ttfd::tensor::tensor_lowering_test
