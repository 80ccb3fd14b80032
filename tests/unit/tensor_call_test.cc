// Wrong calls of operations are errors that name the operation, the argument and both values, and nothing is enqueued.
#include <gtest/gtest.h>

#include "tests/support/fake_ttfd_server.h"
#include "ttfd/tensor/ops.h"

namespace ttfd::tensor {
namespace {

using ttfd::testing::FakeTtfdServer;

class TensorCall : public ::testing::Test {
 protected:
  static Card Open(const FakeTtfdServer& server) {
    Result<Card> card = Card::Open({.connect = {.address = server.address()}});
    EXPECT_TRUE(card.ok()) << card.status().ToString();
    return *card;
  }
  Tensor Make(Shape shape, DType dtype = DType::kBFloat16, Layout layout = Layout::kTile) {
    const std::vector<float> elements(shape.elements());
    Tensor tensor = card_.FromHost(elements, std::move(shape), dtype, layout);
    EXPECT_TRUE(tensor.ok()) << tensor.status().ToString();
    return tensor;
  }
  static Status StatusOf(std::string_view name, std::vector<Tensor> inputs,
                         const Attributes& attributes = {}) {
    return Apply(name, inputs, attributes).front().status();
  }
  static void ExpectErrors(const std::vector<std::pair<Status, const char*>>& cases) {
    for (const auto& [status, message] : cases) {
      EXPECT_EQ(status.message(), message);
      EXPECT_EQ(status.code(), Code::kInvalidArgument) << message;
    }
  }

  FakeTtfdServer server_;
  Card card_ = Open(server_);
};

TEST_F(TensorCall, NamesOperationArgumentAndValues) {
  const Tensor a = Make({128, 768});
  const Tensor b = Make({512, 3072});
  const Tensor rows = Make({128, 768}, DType::kFloat32, Layout::kRowMajor);
  Tensor freed = Make({32});
  freed.Deallocate();
  FakeTtfdServer other_server;
  const Tensor other = Open(other_server).FromHost(std::vector<float>(32), {32});
  ASSERT_TRUE(other.ok());
  const Tensor two_matrices = Make({2, 32, 32});
  const Tensor three_matrices = Make({3, 32, 32});
  const Tensor weight = Make({768, 64});
  const Tensor bias = Make({65});
  EXPECT_TRUE(card_.Finish().ok());
  const uint64_t commands = server_.seen().commands;

  ExpectErrors({
      {StatusOf("frobnicate", {a}), "there is no operation \"frobnicate\""},
      {StatusOf("add", {a}), "add: has 2 inputs at least, not 1"},
      {StatusOf("exp", {a, a}), "exp: has 1 input at most, not 2"},
      {StatusOf("exp", {a}, {{"speed", true}}), "exp: speed is no attribute"},
      {StatusOf("matmul", {a, a}, {{"fidelity", std::string("high")}}),
       "matmul: fidelity is a string; it must be a integer"},
      {StatusOf("matmul", {a, a}, {{"fidelity", int64_t{5}}}),
       "matmul: fidelity is 5; it must be 1 to 4"},
      {StatusOf("matmul", {a, b}),
       "matmul: b is bfloat16 [512, 3072] in layout tile; its inner extent 512 must be that of a, "
       "768 of [128, 768]"},
      {StatusOf("matmul", {three_matrices, two_matrices}),
       "matmul: b is bfloat16 [2, 32, 32] in layout tile; its batch cannot be broadcast with that "
       "of [3, 32, 32]"},
      {StatusOf("linear", {a, weight, bias}),
       "linear: bias is bfloat16 [65] in layout tile; it must be one row of 64 elements"},
      {StatusOf("add", {a, b}),
       "add: b is bfloat16 [512, 3072] in layout tile; it cannot be broadcast with [128, 768]"},
      {StatusOf("add", {a, b}, {{"activation", std::string("add")}}),
       "add: activation is \"add\", which is no function of one tensor"},
      {StatusOf("multiply", {a, rows}),
       "multiply: b is float32 [128, 768] in layout row_major; the layout must be tile"},
      {StatusOf("typecast", {a}, {{"dtype", std::string("int7")}}),
       "typecast: dtype is \"int7\"; it must be bfloat16, float32 or bfp8"},
      {StatusOf("clamp", {a}, {{"low", 2.0}, {"high", 1.0}}),
       "clamp: low is 2.000000; it must be at most high, 1.000000"},
      {StatusOf("add", {a, freed}), "add: b is deallocated"},
      {StatusOf("add", {a, other}), "add: b is on another card than a; all inputs have the same"},
  });
  EXPECT_EQ(card_.counts().operations, 0u);
  EXPECT_TRUE(card_.Finish().ok());
  EXPECT_EQ(server_.seen().commands, commands);
}

TEST_F(TensorCall, NamesExtentsAndRows) {
  const Tensor a = Make({128, 768});
  const Tensor two_matrices = Make({2, 32, 32});
  const Tensor bias = Make({65});
  const Tensor rows = Make({128, 768}, DType::kFloat32, Layout::kRowMajor);
  ExpectErrors({
      {StatusOf("sum", {two_matrices}, {{"dim", int64_t{0}}}),
       "sum: dim is 0; it must be -1 or -2, of [2, 32, 32]; permute other extents to there"},
      {StatusOf("max", {bias}, {{"dim", int64_t{-2}}}),
       "max: dim is -2; it must be -1, of [65]; permute other extents to there"},
      {StatusOf("mean", {a}),
       "mean: keepdim is false; it must be true, because [128, 1] has other tiles than [128]"},
      {StatusOf("min", {two_matrices}, {{"dim", int64_t{1}}}),
       "min: keepdim is false; it must be true, because [2, 1, 32] has other tiles than [2, 32]"},
      {StatusOf("softmax", {a}, {{"dim", int64_t{0}}}),
       "softmax: dim is 0; it must be -1, of [128, 768]; permute other extents to there"},
      {StatusOf("rms_norm", {a, bias}),
       "rms_norm: weight is bfloat16 [65] in layout tile; it must be one row of 768 elements"},
      {StatusOf("layer_norm", {a}, {{"epsilon", -1.0}}),
       "layer_norm: epsilon is -1.000000; it must be at least 0"},
      {StatusOf("softmax", {rows}),
       "softmax: x is float32 [128, 768] in layout row_major; the layout must be tile"},
  });
  EXPECT_EQ(card_.counts().operations, 0u);
}

TEST_F(TensorCall, ReducesToShapes) {
  const auto shape = [](const Tensor& tensor) {
    EXPECT_EQ(tensor.status().ToString(), "OK");
    return tensor.shape().ToString();
  };
  const Tensor x = Make({2, 33, 70});
  EXPECT_EQ(shape(Sum(x, -1, true)), "[2, 33, 1]");
  EXPECT_EQ(shape(Mean(x, 1, true)), "[2, 1, 70]");
  EXPECT_EQ(shape(Max(Make({33, 70}), 0)), "[70]");
  EXPECT_EQ(shape(Min(Make({1, 33, 70}), -2)), "[1, 70]");
  EXPECT_EQ(shape(Sum(Make({70}))), "[1]");
  EXPECT_EQ(shape(Sum(Make({1, 70}))), "[1]");
}

TEST_F(TensorCall, PassesAnErrorOfAnInputOn) {
  const Tensor wrong = Add(Make({2, 3}), Make({4, 5}));
  ASSERT_FALSE(wrong.ok());
  const Tensor last = Gelu(Matmul(Exp(wrong), Make({3, 3})));
  EXPECT_EQ(last.status().message(), wrong.status().message());
  EXPECT_EQ(last.ToHost().status().message(), wrong.status().message());
  EXPECT_EQ(last.spec(), TensorSpec());
}

TEST_F(TensorCall, RefusesElementsOfAnotherShape) {
  EXPECT_EQ(card_.FromHost(std::vector<float>(5), {2, 3}).status().message(),
            "a tensor of [2, 3] has 6 elements, not 5");
}

TEST_F(TensorCall, ReusesMemoryOfTensorsThatAreGone) {
  const uint64_t bytes = Make({64, 64}).spec().size_bytes();
  EXPECT_EQ(card_.counts().pooled_bytes, bytes);
  const Tensor again = Make({2, 32, 64});
  EXPECT_EQ(card_.counts().pooled_bytes, 0u);
}

TEST_F(TensorCall, MakesOneProgramForManyShapes) {
  for (const uint32_t rows : {64, 640, 33, 3200}) {
    EXPECT_EQ(Exp(Make({rows, 4096})).status().ToString(), "OK");
  }
  EXPECT_EQ(card_.counts().programs, 1u);
  EXPECT_EQ(card_.counts().operations, 4u);
}

}  // namespace
}  // namespace ttfd::tensor
