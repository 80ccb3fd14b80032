// Wrong calls of operations are errors that name the operation, the argument and both values, and nothing is enqueued.
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/fake_ttfd_server.h"
#include "ttfd/tensor/decode.h"
#include "ttfd/tensor/images.h"
#include "ttfd/tensor/ops.h"

namespace ttfd::tensor::tensor_call_test {
namespace {

using ttfd::testing::FakeTtfdServer;
using Integers = std::vector<int64_t>;
using Cases = std::vector<std::pair<Status, const char*>>;

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

  static Status Called(std::string_view name, std::vector<Tensor> inputs,
                       const Attributes& attributes = {}) {
    return Apply(name, inputs, attributes).front().status();
  }
  // Makes the calls, which enqueue nothing and are refused with these messages.
  void ExpectRefused(const std::function<Cases()>& calls) {
    EXPECT_TRUE(card_.Finish().ok());
    const uint64_t commands = server_.seen().commands;
    for (const auto& [status, message] : calls()) {
      EXPECT_EQ(status.message(), message);
      EXPECT_EQ(status.code(), Code::kInvalidArgument) << message;
    }
    EXPECT_EQ(card_.counts().operations, 0u);
    EXPECT_TRUE(card_.Finish().ok());
    EXPECT_EQ(server_.seen().commands, commands);
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
  const Tensor integers = card_.FromHost(std::vector<uint32_t>(32), {32}, Layout::kTile);
  const auto cases = [&]() -> Cases {
    return {
        {Called("frobnicate", {a}), "there is no operation \"frobnicate\""},
        {Called("add", {a}), "add: has 2 inputs at least, not 1"},
        {Called("exp", {a, a}), "exp: has 1 input at most, not 2"},
        {Called("exp", {a}, {{"speed", true}}), "exp: speed is no attribute"},
        {Called("matmul", {a, a}, {{"fidelity", std::string("high")}}),
         "matmul: fidelity is a string; it must be a integer"},
        {Called("matmul", {a, a}, {{"fidelity", int64_t{5}}}),
         "matmul: fidelity is 5; it must be 1 to 4"},
        {Called("matmul", {a, b}),
         "matmul: b is bfloat16 [512, 3072] in layout tile; its inner extent 512 must be that of "
         "a, "
         "768 of [128, 768]"},
        {Called("matmul", {three_matrices, two_matrices}),
         "matmul: b is bfloat16 [2, 32, 32] in layout tile; its batch cannot be broadcast with "
         "that "
         "of [3, 32, 32]"},
        {Called("linear", {a, weight, bias}),
         "linear: bias is bfloat16 [65] in layout tile; it must be one row of 64 elements"},
        {Called("add", {a, b}),
         "add: b is bfloat16 [512, 3072] in layout tile; it cannot be broadcast with [128, 768]"},
        {Called("add", {a, b}, {{"activation", std::string("add")}}),
         "add: activation is \"add\", which is no function of one tensor"},
        {Called("multiply", {a, rows}),
         "multiply: b is float32 [128, 768] in layout row_major; the layout must be tile"},
        {Called("typecast", {a}, {{"dtype", std::string("int7")}}),
         "typecast: dtype is \"int7\"; it must be bfloat16, float32 or bfp8"},
        {Called("clamp", {a}, {{"low", 2.0}, {"high", 1.0}}),
         "clamp: low is 2.000000; it must be at most high, 1.000000"},
        {Called("exp", {integers}),
         "exp: x is uint32 [32] in layout tile; the dtype must be bfloat16, float32 or bfp8"},
        {Called("bitwise_and", {integers, a}),
         "bitwise_and: b is bfloat16 [128, 768] in layout tile; the dtype must be uint32"},
        {Called("add", {integers, integers}, {{"activation", std::string("relu")}}),
         "add: activation is \"relu\"; of uint32 it must be empty"},
        {Called("exp", {a}, {{"dtype", std::string("uint32")}}),
         "exp: dtype is \"uint32\"; it must be bfloat16, float32 or bfp8"},
        {Called("add", {a, freed}), "add: b is deallocated"},
        {Called("add", {a, other}), "add: b is on another card than a; all inputs have the same"},
    };
  };
  ExpectRefused(cases);
}

TEST_F(TensorCall, NamesArgumentsOfReductionsAndRows) {
  const Tensor a = Make({128, 768});
  const Tensor bias = Make({65});
  const Tensor two_matrices = Make({2, 32, 32});
  const Tensor rows = Make({128, 768}, DType::kFloat32, Layout::kRowMajor);
  const auto cases = [&]() -> Cases {
    return {
        {Called("sum", {two_matrices}, {{"dim", int64_t{3}}}),
         "sum: dim is 3; it must be an extent of [2, 32, 32], -3 to 2"},
        {Called("max", {bias}, {{"dim", int64_t{-2}}}),
         "max: dim is -2; it must be an extent of [65], -1 to 0"},
        {Called("mean", {two_matrices}, {{"dims", Integers{0, -3}}}),
         "mean: dims is [0, -3]; it must have extents of [2, 32, 32], each once at most"},
        {Called("cumsum", {bias}, {{"dim", int64_t{1}}}),
         "cumsum: dim is 1; it must be an extent of [65], -1 to 0"},
        {Called("argmax", {two_matrices}, {{"dim", int64_t{1}}}),
         "argmax: dim is 1; it must be -1, of [2, 32, 32]; permute other extents to there"},
        {Called("sum", {a}, {{"dtype", std::string("bfp8")}}),
         "sum: keepdim is false; it must be true, because the output is bfp8 and [128, 1] has "
         "other tiles than [128]"},
        {Called("softmax", {a}, {{"dim", int64_t{0}}}),
         "softmax: dim is 0; it must be -1, of [128, 768]; permute other extents to there"},
        {Called("rms_norm", {a, bias}),
         "rms_norm: weight is bfloat16 [65] in layout tile; it must be one row of 768 elements"},
        {Called("layer_norm", {a}, {{"epsilon", -1.0}}),
         "layer_norm: epsilon is -1.000000; it must be at least 0"},
        {Called("softmax", {rows}),
         "softmax: x is float32 [128, 768] in layout row_major; the layout must be tile"},
    };
  };
  ExpectRefused(cases);
}

TEST_F(TensorCall, NamesArgumentsOfMoves) {
  const Tensor a = Make({128, 768});
  const Tensor two_matrices = Make({2, 32, 32});
  const Tensor three_matrices = Make({3, 32, 32});
  const Tensor blocks = Make({64, 64}, DType::kBfp8);
  const Tensor part_of_tile = Make({40, 32}, DType::kBfp8);
  const auto cases = [&]() -> Cases {
    return {
        {Called("to_layout", {a}, {{"layout", std::string("flat")}}),
         "to_layout: layout is \"flat\"; it must be tile or row_major"},
        {Called("to_layout", {blocks}, {{"layout", std::string("row_major")}}),
         "to_layout: x is bfp8 [64, 64] in layout tile; bfp8 has layout tile only, not row_major"},
        {Called("reshape", {a}, {{"shape", Integers{100, -1}}}),
         "reshape: shape is [100, -1]; its extents must have the 98304 elements of [128, 768]"},
        {Called("permute", {a}, {{"dims", Integers{1, 1}}}),
         "permute: dims is [1, 1]; it must have each extent of [128, 768] once"},
        {Called("permute", {blocks}, {{"dims", Integers{1, 0}}}),
         "permute: output cannot be made: elements of bfp8 move as whole tiles only, and these do "
         "not; typecast to bfloat16 or float32 first"},
        {Called("transpose", {a}, {{"dim0", int64_t{2}}}),
         "transpose: dim0 is 2; it must be an extent of [128, 768], -2 to 1"},
        {Called("slice", {a}, {{"begins", Integers{0, 5}}, {"ends", Integers{128, 5}}}),
         "slice: ends is [128, 5]; from begins [0, 5] on there must be elements in each extent of "
         "[128, 768]"},
        {Called("slice", {a}, {{"begins", Integers{0}}}),
         "slice: begins is [0]; it must have 2 numbers, for [128, 768]"},
        {Called("concat", {}), "concat: has 1 input at least, not 0"},
        {Called("concat", std::vector<Tensor>(9, part_of_tile)),
         "concat: output cannot be made: elements of bfp8 move as whole tiles only, and these do "
         "not; typecast to bfloat16 or float32 first"},
        {Called("concat", {two_matrices, three_matrices, a}),
         "concat: tensors is bfloat16 [128, 768] in layout tile; it must be like bfloat16 [2, 32, "
         "32] in layout tile in all but extent 0"},
    };
  };
  ExpectRefused(cases);
}

TEST_F(TensorCall, NamesArgumentsOfIndicesAndPadding) {
  const Tensor a = Make({128, 768});
  const Tensor weight = Make({768, 64});
  const Tensor two_matrices = Make({2, 32, 32});
  const Tensor indices = card_.FromHost(std::vector<uint32_t>(32), {32});
  const auto cases = [&]() -> Cases {
    return {
        {Called("repeat", {a}, {{"repeats", Integers{0, 1}}}),
         "repeat: repeats is [0, 1]; numbers are at least 1, and [128, 768] times them below 2^32"},
        {Called("pad", {a}, {{"padding", Integers{0, 0, -1, 0}}}),
         "pad: padding is [0, 0, -1, 0]; numbers are at least 0, and the extents of [128, 768] "
         "with "
         "them below 2^32"},
        {Called("pad", {indices}, {{"padding", Integers{0, 1}}, {"value", 0.5}}),
         "pad: value is 0.500000; it must be an integer of uint32"},
        {Called("embedding", {a, weight}),
         "embedding: indices is bfloat16 [128, 768] in layout tile; the dtype must be uint32"},
        {Called("embedding", {indices, two_matrices}),
         "embedding: weight is bfloat16 [2, 32, 32] in layout tile; it must be a matrix, a row for "
         "each index"},
    };
  };
  ExpectRefused(cases);
}

TEST_F(TensorCall, NamesArgumentsOfCachesAndHeads) {
  const Tensor a = Make({128, 768});
  const Tensor two_matrices = Make({2, 32, 32});
  const Tensor indices = card_.FromHost(std::vector<uint32_t>(32), {32});
  const Tensor cache = Make({4, 2, 64, 32});
  const Tensor users = Make({1, 2, 3, 32});
  const auto cases = [&]() -> Cases {
    return {
        {Called("fill_cache", {cache, cache}),
         "fill_cache: input is bfloat16 [4, 2, 64, 32] in "
         "layout tile; it is the memory of cache"},
        {Called("copy_into", {cache, users}),
         "copy_into: x is bfloat16 [1, 2, 3, 32] in layout tile; it must have the shape and dtype "
         "of target, bfloat16 [4, 2, 64, 32] in layout tile"},
        {Called("copy_into", {cache, cache}),
         "copy_into: x is bfloat16 [4, 2, 64, 32] in layout tile; it is the memory of target"},
        {Called("update_cache", {cache, users}, {{"batch_offset", int64_t{2}}}),
         "update_cache: batch_offset is 2; with the 3 of input it must be at most 4 of [4, 2, 64, "
         "32]"},
        {Called("update_cache", {cache, users, indices}),
         "update_cache: update_indices is uint32 [32] in layout row_major; it must be uint32, one "
         "or "
         "3 elements, as users of input"},
        {Called("split_query_key_value_and_split_heads", {two_matrices},
                {{"num_heads", int64_t{3}}}),
         "split_query_key_value_and_split_heads: input is bfloat16 [2, 32, 32] in layout tile; its "
         "last extent must be that of 9 heads"},
        {Called("split_query_key_value_and_split_heads", {a}),
         "split_query_key_value_and_split_heads: input is bfloat16 [128, 768] in layout tile; it "
         "must have three extents, or 1 as the second of four"},
        {Called("concatenate_heads", {a}),
         "concatenate_heads: x is bfloat16 [128, 768] in layout tile; it must have four extents: "
         "users, heads, rows, columns"},
    };
  };
  ExpectRefused(cases);
}

TEST_F(TensorCall, NamesArgumentsOfAttention) {
  constexpr const char* kAttention = "scaled_dot_product_attention";
  const Tensor q = Make({2, 6, 64, 32});
  const Tensor k = Make({2, 3, 64, 32}), more = Make({2, 3, 96, 32});
  const Tensor blocks = Make({2, 6, 64, 32}, DType::kBfp8), three_extents = Make({6, 64, 32});
  const Tensor narrow = Make({2, 3, 64, 16}), four_heads = Make({2, 4, 64, 32});
  const Tensor mask = Make({2, 6, 32, 64});
  const auto cases = [&]() -> Cases {
    return {
        {Called(kAttention, {three_extents, k, k}),
         "scaled_dot_product_attention: q is bfloat16 [6, 64, 32] in layout tile; it must have "
         "four extents: users, heads, rows, columns"},
        {Called(kAttention, {blocks, k, k}),
         "scaled_dot_product_attention: q is bfp8 [2, 6, 64, 32] in layout tile; the dtype must be "
         "bfloat16 or float32"},
        {Called(kAttention, {q, narrow, k}),
         "scaled_dot_product_attention: k is bfloat16 [2, 3, 64, 16] in layout tile; it must have "
         "four extents: users of q, heads, keys, and the columns of q, bfloat16 [2, 6, 64, 32] in "
         "layout tile"},
        {Called(kAttention, {q, four_heads, k}),
         "scaled_dot_product_attention: k is bfloat16 [2, 4, 64, 32] in layout tile; its heads "
         "must divide the 6 of q, bfloat16 [2, 6, 64, 32] in layout tile"},
        {Called(kAttention, {q, k, more}),
         "scaled_dot_product_attention: v is bfloat16 [2, 3, 96, 32] in layout tile; it must be "
         "like k in all but its last extent, bfloat16 [2, 3, 64, 32] in layout tile"},
        {Called(kAttention, {q, k, k, mask}),
         "scaled_dot_product_attention: mask is bfloat16 [2, 6, 32, 64] in layout tile; it must be "
         "numbers in layout tile, [2, 6, 64, 64], or 1 in place of an extent but the last"},
        {Called(kAttention, {q, more, more}, {{"is_causal", true}}),
         "scaled_dot_product_attention: is_causal is given; the 96 keys of bfloat16 [2, 3, 96, 32] "
         "in layout tile must be the 64 rows of bfloat16 [2, 6, 64, 32] in layout tile"},
        {Called(kAttention, {q, k, k}, {{"sliding_window", int64_t{-1}}}),
         "scaled_dot_product_attention: sliding_window is -1; it must be 0 to 1073741824"},
        {Called(kAttention, {q, k, k}, {{"scale", -1.0}}),
         "scaled_dot_product_attention: scale is -1.000000; it must be at least 0"},
    };
  };
  ExpectRefused(cases);
}

TEST_F(TensorCall, NamesArgumentsOfPagedCaches) {
  const Tensor cache = Make({4, 2, 64, 32});
  const Tensor row = Make({1, 3, 2, 32});
  const Tensor prompt = Make({1, 2, 70, 32});
  const Tensor three = card_.FromHost(std::vector<uint32_t>(3), {3});
  const Tensor two = card_.FromHost(std::vector<uint32_t>(2), {2});
  const Tensor table = card_.FromHost(std::vector<uint32_t>(2), {2, 1});
  const auto cases = [&]() -> Cases {
    return {
        {Called("paged_update_cache", {cache, prompt, three, table}),
         "paged_update_cache: input is bfloat16 [1, 2, 70, 32] in layout tile; it must be one "
         "matrix of each user with the dtype, heads and columns of cache, bfloat16 [4, 2, 64, 32] "
         "in layout tile"},
        {Called("paged_update_cache", {cache, row, two, table}),
         "paged_update_cache: update_indices is uint32 [2] in layout row_major; it must be uint32, "
         "3 elements, as users of input"},
        {Called("paged_update_cache", {cache, row, three, table}),
         "paged_update_cache: page_table is uint32 [2, 1] in layout row_major; it must be uint32 "
         "and a matrix, a row for each of 3 users"},
        {Called("paged_fill_cache", {cache, prompt, table}),
         "paged_fill_cache: input is bfloat16 [1, 2, 70, 32] in layout tile; its rows must be at "
         "most the 64 of the pages of a user"},
        {Called("paged_fill_cache", {cache, prompt, table}, {{"batch_offset", int64_t{2}}}),
         "paged_fill_cache: batch_offset is 2; it must be below the 2 rows of page_table"},
    };
  };
  ExpectRefused(cases);
}

TEST_F(TensorCall, NamesArgumentsOfDecodingAttention) {
  constexpr const char* kDecode = "scaled_dot_product_attention_decode";
  constexpr const char* kPaged = "paged_scaled_dot_product_attention_decode";
  const Tensor q = Make({1, 2, 6, 32}), k = Make({2, 3, 64, 32}), pages = Make({9, 3, 40, 32});
  const Tensor users_first = Make({2, 2, 6, 32}), mask = Make({2, 1, 6, 32});
  const auto integers = [this](const Shape& of) {
    return card_.FromHost(std::vector<uint32_t>(of.elements()), of);
  };
  const Tensor two = integers({2}), three = integers({3}), table = integers({2, 4});
  const auto cases = [&]() -> Cases {
    return {
        {Called(kDecode, {users_first, k, k, two}),
         "scaled_dot_product_attention_decode: q is bfloat16 [2, 2, 6, 32] in layout tile; it must "
         "have four extents: 1, users, heads, columns"},
        {Called(kDecode, {q, k, k, three}),
         "scaled_dot_product_attention_decode: positions is uint32 [3] in layout row_major; it "
         "must be uint32, one or 2 elements, as users of q"},
        {Called(kDecode, {q, k, k, k, k}),
         "scaled_dot_product_attention_decode: positions is bfloat16 [2, 3, 64, 32] in layout "
         "tile; it must be uint32, one or 2 elements, as users of q"},
        {Called(kDecode, {q, k, k}),
         "scaled_dot_product_attention_decode: is_causal is true; it needs positions"},
        {Called(kDecode, {q, k, k}, {{"is_causal", false}, {"sliding_window", int64_t{5}}}),
         "scaled_dot_product_attention_decode: sliding_window is 5; it needs is_causal and "
         "positions"},
        {Called(kDecode, {q, k, k, two, mask}),
         "scaled_dot_product_attention_decode: mask is bfloat16 [2, 1, 6, 32] in layout tile; it "
         "must be numbers in layout tile, [2, 1, 6, 64], or 1 in place of an extent but the last"},
        {Called(kPaged, {q, k, k, three, two}),
         "paged_scaled_dot_product_attention_decode: page_table is uint32 [3] in layout row_major; "
         "it must be uint32, blocks for each of the 2 users"},
        {Called(kPaged, {q, pages, pages, table, two}),
         "paged_scaled_dot_product_attention_decode: k is bfloat16 [9, 3, 40, 32] in layout tile; "
         "the rows of a block must be a multiple of 32"},
    };
  };
  ExpectRefused(cases);
}

TEST_F(TensorCall, NamesArgumentsOfDecoding) {
  const Tensor row = Make({1, 3, 2, 32});
  const Tensor angles = Make({1, 1, 8, 32});
  const Tensor narrow = Make({1, 1, 2, 16});
  const Tensor rows = Make({1, 3, 9, 32});
  const auto cases = [&]() -> Cases {
    return {
        {Called("rotary_embedding", {row, narrow, narrow}),
         "rotary_embedding: cos is bfloat16 [1, 1, 2, 16] in layout tile; it must have four "
         "extents, the columns of x, and one or as many users and heads, as [1, 3, 2, 32]"},
        {Called("rotary_embedding", {row, angles, angles}, {{"token_index", int64_t{8}}}),
         "rotary_embedding: token_index is 8; it must be -1 or a row of [1, 1, 8, 32]"},
        {Called("rotary_embedding", {rows, angles, angles}),
         "rotary_embedding: cos is bfloat16 [1, 1, 8, 32] in layout tile; it must have the 9 rows "
         "of x"},
        {Called("rotary_embedding_llama", {row, angles, angles, narrow}),
         "rotary_embedding_llama: trans_mat is bfloat16 [1, 1, 2, 16] in layout tile; it must have "
         "32 columns, and rows in multiples of 32"},
        {Called("nlp_create_qkv_heads_decode", {angles}, {{"num_heads", int64_t{3}}}),
         "nlp_create_qkv_heads_decode: input is bfloat16 [1, 1, 8, 32] in layout tile; it must be "
         "a matrix, a row for each user, and its columns those of 9 heads"},
        {Called("nlp_concat_heads_decode", {row}, {{"num_heads", int64_t{3}}}),
         "nlp_concat_heads_decode: num_heads is 3; it must be at most 2 of [1, 3, 2, 32]"},
    };
  };
  ExpectRefused(cases);
}

TEST_F(TensorCall, NamesArgumentsOfImages) {
  const Tensor images = Make({2, 5, 6, 8});
  const Tensor flat = Make({1, 1, 60, 8});
  const Tensor weight = Make({16, 4, 3, 3});
  const Tensor bias = Make({17});
  const Tensor rows = Make({2, 5, 4}), filter = Make({16, 4, 6});
  const Attributes groups = {{"groups", int64_t{2}}};
  const auto cases = [&]() -> Cases {
    return {
        {Called("conv2d", {images, weight}),
         "conv2d: weight is bfloat16 [16, 4, 3, 3] in layout tile; with groups 1 it must be for "
         "the 8 channels of x"},
        {Called("conv2d", {images, weight}, {{"groups", int64_t{3}}}),
         "conv2d: weight is bfloat16 [16, 4, 3, 3] in layout tile; it must be numbers of four "
         "extents, the first of them a multiple of groups, 3"},
        {Called("conv2d", {flat, weight}, {{"groups", int64_t{2}}, {"batch_size", int64_t{2}}}),
         "conv2d: x is bfloat16 [1, 1, 60, 8] in layout tile; it must have four extents, images, "
         "height, width, channels, or the 2 images of 0 x 0 pixels of its attributes"},
        {Called("conv2d", {images, weight, bias}, groups),
         "conv2d: bias is bfloat16 [17] in layout tile; it must be one row of 16 elements in "
         "layout tile, of bfloat16, float32 or bfp8"},
        {Called("conv1d", {rows, filter}),
         "conv1d: x is bfloat16 [2, 5, 4] in layout tile; with the padding its length must be at "
         "least that of a window, 6, and below 2^31"},
        {Called("global_avg_pool2d", {images}, {{"dtype", std::string("int7")}}),
         "global_avg_pool2d: dtype is \"int7\"; it must be bfloat16, float32 or bfp8"},
        {Called("conv2d", {images, weight}, {{"groups", int64_t{2}}, {"padding", Integers{1}}}),
         "conv2d: padding is [1]; it must be two numbers, of height and width, or four: above, "
         "below, left, right; at least 0"},
        {Called("conv2d", {images, weight}, {{"groups", int64_t{2}}, {"dilation", Integers{3, 1}}}),
         "conv2d: x is bfloat16 [2, 5, 6, 8] in layout tile; with the padding its height must be "
         "at least that of a window, 7, and below 2^31"},
        {Called("conv2d", {images, weight}, {{"groups", int64_t{2}}, {"out_channels", int64_t{8}}}),
         "conv2d: out_channels is 8; by the shapes it must be 16"},
        {Called("max_pool2d", {images},
                {{"kernel_size", Integers{2, 2}}, {"padding", Integers{2, 2}}}),
         "max_pool2d: padding is [2, 2]; it must be at most half of a window"},
        {Called("upsample", {images}, {{"scale_factor", Integers{0, 1}}}),
         "upsample: scale_factor is [0, 1]; it must be two numbers, of height and width, 1 at "
         "least"},
        {Called("batch_norm_inference", {images, bias, bias}),
         "batch_norm_inference: mean is bfloat16 [17] in layout tile; it must be [1, channels, 1, "
         "1], with those of x, [images, channels, height, width], which is [2, 5, 6, 8]"},
    };
  };
  ExpectRefused(cases);
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
  const Tensor images[] = {Make({2, 33, 70, 5})};
  EXPECT_EQ(shape(Apply("mean", images, {{"dims", Integers{1, 2}}, {"keepdim", true}})[0]),
            "[2, 1, 1, 5]");
  EXPECT_EQ(shape(Apply("sum", images, {{"dims", Integers{0, 1, 2, 3}}})[0]), "[1]");
  EXPECT_EQ(shape(Apply("max", images, {{"dim", int64_t{0}}})[0]), "[33, 70, 5]");
}

TEST_F(TensorCall, FunctionsOfElementsAreOperations) {
  const Tensor x = Make({3, 40}), y = Make({40});
  const Tensor a = card_.FromHost(std::vector<uint32_t>(40), {40});
  for (Tensor (*function)(const Tensor&) : {Erf, Erfc, Tan, Atan, Ceil, Sign, Expm1, Log1p, Cbrt,
                                            Mish, Relu6, Hardsigmoid, IsFinite, LogicalNot}) {
    EXPECT_EQ(function(x).status().ToString(), "OK");
  }
  using Binary = Tensor (*)(const Tensor&, const Tensor&);
  for (const Binary function : {Binary{LogicalAnd}, Binary{LogicalOr}, Binary{LogicalXor},
                                Binary{Remainder}, Binary{Pow}}) {
    EXPECT_EQ(function(x, y).status().ToString(), "OK");
  }
  for (const Binary function : {Binary{BitwiseAnd}, Binary{BitwiseOr}, Binary{BitwiseXor},
                                Binary{LogicalLeftShift}, Binary{LogicalRightShift}, Binary{Add}}) {
    EXPECT_EQ(function(a, a).status().ToString(), "OK");
  }
  for (const Tensor& result : {LeakyRelu(x), Pow(x, 3), Clamp(x, y, y), Cumsum(x, 0), BitwiseNot(a),
                               Prod(x), Sum(x, {0, 1}), Typecast(a, DType::kBFloat16)}) {
    EXPECT_EQ(result.status().ToString(), "OK");
  }
}

TEST_F(TensorCall, DecodesToShapes) {
  const auto shape = [](const Tensor& tensor) {
    EXPECT_EQ(tensor.status().ToString(), "OK");
    return tensor.shape().ToString();
  };
  const Tensor x = Make({1, 3, 2, 32}), angles = Make({1, 1, 8, 32}), cache = Make({4, 2, 64, 32});
  const Tensor three = card_.FromHost(std::vector<uint32_t>(3), {3});
  const Tensor one = card_.FromHost(std::vector<uint32_t>(1), {1});
  const Tensor table = card_.FromHost(std::vector<uint32_t>(6), {3, 2});
  EXPECT_EQ(shape(RotaryEmbedding(x, angles, angles)), "[1, 3, 2, 32]");
  EXPECT_EQ(shape(RotaryEmbedding(x, angles, angles, 7)), "[1, 3, 2, 32]");
  EXPECT_EQ(shape(RotaryEmbeddingLlama(x, Make({1, 3, 1, 32}), Make({1, 3, 1, 32}), Make({32, 32}),
                                       true)),
            "[1, 3, 2, 32]");
  EXPECT_EQ(shape(PagedUpdateCache(cache, x, three, table)), "[4, 2, 64, 32]");
  EXPECT_EQ(shape(PagedFillCache(cache, Make({1, 2, 70, 32}), table, 2)), "[4, 2, 64, 32]");
  EXPECT_EQ(shape(PagedFillCache(cache, Make({1, 2, 70, 32}), table, one)), "[4, 2, 64, 32]");
  const DecodeHeads heads = NlpCreateQkvHeadsDecode(Make({1, 1, 3, 128}), 2, 1);
  EXPECT_EQ(shape(heads.query), "[1, 3, 2, 32]");
  EXPECT_EQ(shape(heads.key) + shape(heads.value), "[1, 3, 1, 32][1, 3, 1, 32]");
  EXPECT_EQ(shape(NlpConcatHeadsDecode(x, 1)), "[1, 1, 3, 32]");
  EXPECT_EQ(shape(NlpConcatHeads(x)), "[1, 1, 2, 96]");
  EXPECT_EQ(shape(Argmax(x)), "[1, 3, 2]");
  EXPECT_EQ(shape(Argmax(x, true)), "[1, 3, 2, 1]");
}

TEST_F(TensorCall, ConvolvesToShapes) {
  const auto shape = [](const Tensor& tensor) {
    EXPECT_EQ(tensor.status().ToString(), "OK");
    return tensor.shape().ToString();
  };
  const Tensor x = Make({2, 5, 6, 8}), weight = Make({16, 4, 3, 3}), bias = Make({16});
  const WindowOptions windows = {.stride = {2, 1}, .padding = {1, 1, 0, 2}};
  EXPECT_EQ(shape(Conv2d(x, weight, &bias, {.windows = windows, .groups = 2})), "[1, 1, 36, 16]");
  EXPECT_EQ(shape(ConvTranspose2d(x, Make({8, 5, 3, 3}), nullptr,
                                  {.windows = {.stride = {2, 2}, .padding = {1, 1, 1, 1}},
                                   .output_padding = {1, 0},
                                   .activation = "relu6"})),
            "[1, 1, 220, 5]");
  const PoolOptions pool = {
      .kernel_size = {2, 2}, .windows = {.stride = {2, 2}}, .ceil_mode = true};
  EXPECT_EQ(shape(MaxPool2d(x, pool)), "[1, 1, 18, 8]");
  EXPECT_EQ(shape(AvgPool2d(x, pool)), "[1, 1, 18, 8]");
  EXPECT_EQ(shape(GlobalAvgPool2d(x)), "[2, 1, 1, 8]");
  EXPECT_EQ(shape(Upsample(x, {2, 3})), "[2, 10, 18, 8]");
  const Tensor of_channel = Make({1, 5, 1, 1});
  const Tensor factors[] = {of_channel, of_channel};
  EXPECT_EQ(shape(BatchNormInference(x, of_channel, of_channel, factors)), "[2, 5, 6, 8]");
}

TEST_F(TensorCall, AttentionHasShapesOfQueriesAndValues) {
  const auto shape = [](const Tensor& tensor) {
    EXPECT_EQ(tensor.status().ToString(), "OK");
    return tensor.shape().ToString();
  };
  const auto integers = [this](const Shape& of) {
    return card_.FromHost(std::vector<uint32_t>(of.elements()), of);
  };
  const Tensor q = Make({2, 6, 64, 32}), k = Make({2, 3, 64, 32}), v = Make({2, 3, 64, 80});
  EXPECT_EQ(shape(ScaledDotProductAttention(q, k, v, {.is_causal = true})), "[2, 6, 64, 80]");
  EXPECT_EQ(shape(ScaledDotProductAttention(q, k, v, {.mask = Make({1, 6, 1, 64})})),
            "[2, 6, 64, 80]");
  const Tensor token = Make({1, 2, 6, 32}), mask = Make({2, 1, 1, 64});
  EXPECT_EQ(shape(ScaledDotProductAttentionDecode(
                token, k, v, {.positions = integers({2, 1}), .mask = mask, .sliding_window = 5})),
            "[1, 2, 6, 80]");
  EXPECT_EQ(shape(ScaledDotProductAttentionDecode(token, k, v, {.mask = mask, .is_causal = false})),
            "[1, 2, 6, 80]");
  EXPECT_EQ(shape(PagedScaledDotProductAttentionDecode(token, k, v, integers({2, 5}),
                                                       {.positions = integers({1})})),
            "[1, 2, 6, 80]");
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

TEST_F(TensorCall, RefusesNumbersOfAnotherType) {
  EXPECT_EQ(card_.FromHost(std::vector<float>(6), {2, 3}, DType::kUInt32).status().message(),
            "a tensor of dtype uint32 is made of uint32_t elements, not of float");
  EXPECT_EQ(Make({2, 3}).ToHost<uint32_t>().status().message(),
            "the tensor is bfloat16 [2, 3] in layout tile; its elements are read as float");
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
}  // namespace ttfd::tensor::tensor_call_test
