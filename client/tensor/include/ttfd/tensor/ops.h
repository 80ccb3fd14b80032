// Operations as functions: each is the entry of its name in the table of <ttfd/tensor/apply.h>, which has the contract
// of all of them.
//
// Operations that compute take tensors of layout tile and match shapes as NumPy does: from the last extent on; an
// extent of 1, or a missing one, is broadcast.
//
// Operations that move elements take both layouts and all types, and do not change a bit. Their output has the layout
// and type of the input. Elements of bfp8 move as whole tiles only.
//
// Accuracy, before the one rounding to the output's type:
// - Elementwise operations compute with 32 bits: the errors of <ttfd/compute/unary.h>, with which a bfloat16 output is
//   the exact result or a neighbour of it. An input of float32 that is broadcast is cut to 10 bits of mantissa.
// - matmul multiplies bfloat16 and bfp8 exactly at fidelity 4, and float32 as cut to 10 bits; it adds with 32 bits,
//   starting with the bias, tile of k after tile of k. Within a tile, <ttfd/compute/matmul.h>.
// - Functions that are made of several operations (expm1, pow, remainder, ...) have float32 between them, and the
//   same bound, except where a result is a difference of greater numbers.
// - sum and mean add like matmul, max and min are exact: of bfloat16 and bfp8, and of float32 as cut to 10 bits.
// - softmax, rms_norm and layer_norm compute with 32 bits, but for weights and biases, which are broadcast: with a
//   bfloat16 output at most one step of bfloat16 from the exact result, where no square overflows. Of an output that a
//   bias makes less than its terms, the step is that of the terms.
// - Attention makes products as matmul does at fidelity 4, and softmax with 32 bits, whose weights are rounded to
//   bfloat16 before values are multiplied by them: about half a step of bfloat16 of the root mean square of a row.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ttfd/tensor/apply.h"
#include "ttfd/tensor/card.h"
#include "ttfd/tensor/tensor.h"

namespace ttfd::tensor {

// Functions of each element.
Tensor Exp(const Tensor& x);
Tensor Reciprocal(const Tensor& x);
Tensor Sqrt(const Tensor& x);
Tensor Rsqrt(const Tensor& x);
Tensor Silu(const Tensor& x);
Tensor Sigmoid(const Tensor& x);
Tensor Gelu(const Tensor& x);
Tensor Tanh(const Tensor& x);
Tensor Relu(const Tensor& x);
Tensor Abs(const Tensor& x);
Tensor Neg(const Tensor& x);
Tensor Square(const Tensor& x);
Tensor Log(const Tensor& x);
Tensor Sin(const Tensor& x);
Tensor Cos(const Tensor& x);
Tensor Floor(const Tensor& x);
Tensor Erf(const Tensor& x);
Tensor Erfc(const Tensor& x);
Tensor Tan(const Tensor& x);
Tensor Atan(const Tensor& x);
Tensor Ceil(const Tensor& x);
Tensor Sign(const Tensor& x);
Tensor Expm1(const Tensor& x);
Tensor Log1p(const Tensor& x);
Tensor Cbrt(const Tensor& x);
Tensor Mish(const Tensor& x);
Tensor Relu6(const Tensor& x);
Tensor Hardsigmoid(const Tensor& x);
Tensor IsFinite(const Tensor& x);
Tensor LogicalNot(const Tensor& x);

Tensor AddScalar(const Tensor& x, float scalar);
Tensor MultiplyScalar(const Tensor& x, float scalar);
// At least `low`, at most `high`.
Tensor Clamp(const Tensor& x, float low, float high);
Tensor LeakyRelu(const Tensor& x, float slope = 0.01f);
Tensor Pow(const Tensor& x, float exponent);
// The same elements in another type.
Tensor Typecast(const Tensor& x, DType dtype);

// Functions of two tensors. The output has the type of `a`.
Tensor Add(const Tensor& a, const Tensor& b);
Tensor Subtract(const Tensor& a, const Tensor& b);
Tensor Multiply(const Tensor& a, const Tensor& b);
Tensor Div(const Tensor& a, const Tensor& b);
Tensor Maximum(const Tensor& a, const Tensor& b);
Tensor Minimum(const Tensor& a, const Tensor& b);
// 1 where it holds, else 0.
Tensor Eq(const Tensor& a, const Tensor& b);
Tensor Ne(const Tensor& a, const Tensor& b);
Tensor Lt(const Tensor& a, const Tensor& b);
Tensor Le(const Tensor& a, const Tensor& b);
Tensor Gt(const Tensor& a, const Tensor& b);
Tensor Ge(const Tensor& a, const Tensor& b);

Tensor LogicalAnd(const Tensor& a, const Tensor& b);
Tensor LogicalOr(const Tensor& a, const Tensor& b);
Tensor LogicalXor(const Tensor& a, const Tensor& b);
Tensor Remainder(const Tensor& a, const Tensor& b);  // with the sign of b
Tensor Pow(const Tensor& a, const Tensor& b);
Tensor Clamp(const Tensor& x, const Tensor& low, const Tensor& high);

// Operations on kUInt32, in both layouts, with results modulo 2^32.
// Add to Ge take two tensors of it, too: without a sign.
Tensor BitwiseAnd(const Tensor& a, const Tensor& b);
Tensor BitwiseOr(const Tensor& a, const Tensor& b);
Tensor BitwiseXor(const Tensor& a, const Tensor& b);
Tensor BitwiseNot(const Tensor& x);
Tensor LogicalLeftShift(const Tensor& a, const Tensor& b);
Tensor LogicalRightShift(const Tensor& a, const Tensor& b);

// `a` where `condition` is not 0, else `b`. The output has the type of `a`.
Tensor Where(const Tensor& condition, const Tensor& a, const Tensor& b);

struct MatmulOptions {
  bool transpose_b = false;  // b is [..., n, k] in place of [..., k, n]
  int fidelity = 4;  // passes of a product, 1 to 4: <ttfd/compute/matmul.h> has their errors
  std::string activation =
      {};  // name of an operation of one tensor, applied before rounding; empty: none
  std::optional<DType> dtype = {};  // of the output; unset: that of a
};
// [..., m, k] times [..., k, n]. The extents before are those of a batch.
Tensor Matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options = {});
// Matmul, plus a bias of [n].
Tensor Linear(const Tensor& x, const Tensor& weight, const Tensor& bias,
              const MatmulOptions& options = {});

// Reductions along extent `dim` of x, or along several, `dims`; from the end if a number is negative. With `keepdim`
// the extents stay, as 1. Along one of the last two extents elements stay where they are; before others they are
// moved.
Tensor Sum(const Tensor& x, int dim = -1, bool keepdim = false);
Tensor Sum(const Tensor& x, const std::vector<int64_t>& dims, bool keepdim = false);
Tensor Mean(const Tensor& x, int dim = -1, bool keepdim = false);
Tensor Mean(const Tensor& x, const std::vector<int64_t>& dims, bool keepdim = false);
Tensor Max(const Tensor& x, int dim = -1, bool keepdim = false);
Tensor Max(const Tensor& x, const std::vector<int64_t>& dims, bool keepdim = false);
Tensor Min(const Tensor& x, int dim = -1, bool keepdim = false);
Tensor Min(const Tensor& x, const std::vector<int64_t>& dims, bool keepdim = false);
Tensor Prod(const Tensor& x, int dim = -1, bool keepdim = false);
Tensor Prod(const Tensor& x, const std::vector<int64_t>& dims, bool keepdim = false);
// Sums of each element and those before it along extent `dim`.
Tensor Cumsum(const Tensor& x, int dim = -1);
// The number of the greatest element of each row, of kUInt32; of equal ones the first.
Tensor Argmax(const Tensor& x, bool keepdim = false);

// Functions of each row, along the last extent. A row has to fit the circular buffers of a worker: of bfloat16 up to
// 2600 elements of softmax, 7800 of norms.
Tensor Softmax(const Tensor& x);
// Weight and bias are of [n], a row of x.
Tensor RmsNorm(const Tensor& x, float epsilon = 1e-12f);
Tensor RmsNorm(const Tensor& x, const Tensor& weight, float epsilon = 1e-12f);
Tensor LayerNorm(const Tensor& x, float epsilon = 1e-12f);
Tensor LayerNorm(const Tensor& x, const Tensor& weight, const Tensor& bias, float epsilon = 1e-12f);

// ---- Elements in other places.

// The same elements in another layout.
Tensor ToLayout(const Tensor& x, Layout layout);
// Writes `x` into `target`, of the same shape and type, in place, and returns `target`. Operations that were called
// before see the old content, those that are called later the new one.
Tensor CopyInto(const Tensor& target, const Tensor& x);
// The same elements in their order; one extent may be -1, what the others leave.
Tensor Reshape(const Tensor& x, std::vector<int64_t> shape);
// Extent i of the output is extent dims[i] of `x`; negative numbers count from the end, here and below.
Tensor Permute(const Tensor& x, std::vector<int64_t> dims);
Tensor Transpose(const Tensor& x, int64_t dim0 = -2, int64_t dim1 = -1);
// Indices begin, begin + step, ... below end in each extent. No steps: 1.
Tensor Slice(const Tensor& x, std::vector<int64_t> begins, std::vector<int64_t> ends,
             std::vector<int64_t> steps = {});
Tensor Concat(std::span<const Tensor> tensors, int64_t dim);
// Extent i times repeats[i].
Tensor Repeat(const Tensor& x, std::vector<int64_t> repeats);
// padding[2 * i] elements before and padding[2 * i + 1] after those of extent i.
Tensor Pad(const Tensor& x, std::vector<int64_t> padding, float value = 0);

// The row of `weight` for each index of `indices`, of kUInt32; 0 for an index that has none.
Tensor Embedding(const Tensor& indices, const Tensor& weight,
                 std::optional<Layout> layout = std::nullopt);

struct CacheOptions {
  uint32_t batch_offset = 0;  // first user of the cache that is written
  uint32_t update_index = 0;  // first row
};
// Writes `input`, [users, heads, rows, columns], into a part of `cache`, in place, and returns `cache`. Operations that
// were called before see the old content, those that are called later the new one.
Tensor FillCache(const Tensor& cache, const Tensor& input, const CacheOptions& options = {});
// The same for a row of each user: `input` is [1, heads, users, columns].
Tensor UpdateCache(const Tensor& cache, const Tensor& input, const CacheOptions& options = {});
// The row of each user is an element of `update_indices`, of kUInt32, or the only one; rows that `cache` does not have
// are left out.
Tensor UpdateCache(const Tensor& cache, const Tensor& input, const Tensor& update_indices,
                   uint32_t batch_offset = 0);

struct Heads {
  Tensor query;
  Tensor key;
  Tensor value;
};
struct HeadsOptions {
  uint32_t num_heads = 1;
  uint32_t num_kv_heads = 0;  // 0: num_heads
  bool transpose_key = true;  // keys are [users, heads, columns, rows]
};
// Queries, keys and values, each [users, heads, rows, columns], of [users, rows, all of their columns],
// or [users, 1, rows, all of their columns].
Heads SplitQueryKeyValueAndSplitHeads(const Tensor& input, const HeadsOptions& options);
// [users, rows, heads * columns] of [users, heads, rows, columns].
Tensor ConcatenateHeads(const Tensor& x);

struct AttentionOptions {
  std::optional<Tensor> mask = {};  // added to the scaled products; an extent but the last may be 1
  bool is_causal = false;           // row i sees keys 0 to i
  float scale = 0;                  // 0: 1 / sqrt(columns)
  uint32_t sliding_window =
      0;  // keys seen up to row i; without is_causal half of it in both directions; 0: all
};
// softmax(q * k^T * scale + mask) * v. q is [users, heads, rows, columns], of bfloat16 or float32; k and v are [users,
// heads, keys, columns], where one head serves as many of q as there are. Rows that see no key are 0.
Tensor ScaledDotProductAttention(const Tensor& q, const Tensor& k, const Tensor& v,
                                 const AttentionOptions& options = {});

// The same for one query of each user and head, q [1, users, heads, columns].
struct DecodeAttentionOptions {
  std::optional<Tensor> positions = {};  // of kUInt32, one or one a user: the last key that is seen
  std::optional<Tensor> mask = {};
  bool is_causal = true;  // false: all keys are seen, and positions are not read
  float scale = 0;
  uint32_t sliding_window = 0;
};
Tensor ScaledDotProductAttentionDecode(const Tensor& q, const Tensor& k, const Tensor& v,
                                       const DecodeAttentionOptions& options = {});
// With k and v [blocks, heads, rows of a block, columns], and `page_table` of kUInt32, [users, blocks of a user].
Tensor PagedScaledDotProductAttentionDecode(const Tensor& q, const Tensor& k, const Tensor& v,
                                            const Tensor& page_table,
                                            const DecodeAttentionOptions& options = {});

}  // namespace ttfd::tensor
