// Operations as functions.
#include "ttfd/tensor/ops.h"

#include <utility>

#include "client/tensor/src/apply_to.h"

namespace ttfd::tensor {
namespace {

Attributes AttributesOf(const MatmulOptions& options) {
  Attributes attributes = {{"transpose_b", options.transpose_b},
                           {"fidelity", int64_t{options.fidelity}},
                           {"activation", options.activation}};
  if (options.dtype) attributes.emplace("dtype", std::string(DTypeName(*options.dtype)));
  return attributes;
}

Attributes AttributesOf(const CacheOptions& options) {
  return {{"batch_offset", int64_t{options.batch_offset}},
          {"update_index", int64_t{options.update_index}}};
}

template <typename Options>
Attributes AttributesOf(const Options& options) requires requires {
  options.sliding_window;
}
{
  return {{"is_causal", options.is_causal},
          {"scale", double{options.scale}},
          {"sliding_window", int64_t{options.sliding_window}}};
}

Tensor Decode(std::string_view name, std::vector<Tensor> inputs,
              const DecodeAttentionOptions& options) {
  if (options.positions) inputs.push_back(*options.positions);
  if (options.mask) inputs.push_back(*options.mask);
  return std::move(Apply(name, inputs, AttributesOf(options)).front());
}

}  // namespace

#define TTFD_UNARY(Function, name) \
  Tensor Function(const Tensor& x) { return ApplyTo(name, {x}); }
TTFD_UNARY(Exp, "exp")
TTFD_UNARY(Reciprocal, "reciprocal")
TTFD_UNARY(Sqrt, "sqrt")
TTFD_UNARY(Rsqrt, "rsqrt")
TTFD_UNARY(Silu, "silu")
TTFD_UNARY(Sigmoid, "sigmoid")
TTFD_UNARY(Gelu, "gelu")
TTFD_UNARY(Tanh, "tanh")
TTFD_UNARY(Relu, "relu")
TTFD_UNARY(Abs, "abs")
TTFD_UNARY(Neg, "neg")
TTFD_UNARY(Square, "square")
TTFD_UNARY(Log, "log")
TTFD_UNARY(Sin, "sin")
TTFD_UNARY(Cos, "cos")
TTFD_UNARY(Floor, "floor")
TTFD_UNARY(Erf, "erf")
TTFD_UNARY(Erfc, "erfc")
TTFD_UNARY(Tan, "tan")
TTFD_UNARY(Atan, "atan")
TTFD_UNARY(Ceil, "ceil")
TTFD_UNARY(Sign, "sign")
TTFD_UNARY(Expm1, "expm1")
TTFD_UNARY(Log1p, "log1p")
TTFD_UNARY(Cbrt, "cbrt")
TTFD_UNARY(Mish, "mish")
TTFD_UNARY(Relu6, "relu6")
TTFD_UNARY(Hardsigmoid, "hardsigmoid")
TTFD_UNARY(IsFinite, "isfinite")
TTFD_UNARY(LogicalNot, "logical_not")
TTFD_UNARY(BitwiseNot, "bitwise_not")
#undef TTFD_UNARY

Tensor AddScalar(const Tensor& x, float scalar) {
  return ApplyTo("add_scalar", {x}, {{"scalar", double{scalar}}});
}
Tensor MultiplyScalar(const Tensor& x, float scalar) {
  return ApplyTo("multiply_scalar", {x}, {{"scalar", double{scalar}}});
}
Tensor Clamp(const Tensor& x, float low, float high) {
  return ApplyTo("clamp", {x}, {{"low", double{low}}, {"high", double{high}}});
}
Tensor LeakyRelu(const Tensor& x, float slope) {
  return ApplyTo("leaky_relu", {x}, {{"slope", double{slope}}});
}
Tensor Pow(const Tensor& x, float exponent) {
  return ApplyTo("pow_scalar", {x}, {{"scalar", double{exponent}}});
}
Tensor Typecast(const Tensor& x, DType dtype) {
  return ApplyTo("typecast", {x}, {{"dtype", std::string(DTypeName(dtype))}});
}

#define TTFD_BINARY(Function, name) \
  Tensor Function(const Tensor& a, const Tensor& b) { return ApplyTo(name, {a, b}); }
TTFD_BINARY(Add, "add")
TTFD_BINARY(Subtract, "subtract")
TTFD_BINARY(Multiply, "multiply")
TTFD_BINARY(Div, "div")
TTFD_BINARY(Maximum, "maximum")
TTFD_BINARY(Minimum, "minimum")
TTFD_BINARY(Eq, "eq")
TTFD_BINARY(Ne, "ne")
TTFD_BINARY(Lt, "lt")
TTFD_BINARY(Le, "le")
TTFD_BINARY(Gt, "gt")
TTFD_BINARY(Ge, "ge")
TTFD_BINARY(LogicalAnd, "logical_and")
TTFD_BINARY(LogicalOr, "logical_or")
TTFD_BINARY(LogicalXor, "logical_xor")
TTFD_BINARY(Remainder, "remainder")
TTFD_BINARY(Pow, "pow")
TTFD_BINARY(BitwiseAnd, "bitwise_and")
TTFD_BINARY(BitwiseOr, "bitwise_or")
TTFD_BINARY(BitwiseXor, "bitwise_xor")
TTFD_BINARY(LogicalLeftShift, "logical_left_shift")
TTFD_BINARY(LogicalRightShift, "logical_right_shift")
#undef TTFD_BINARY

Tensor Clamp(const Tensor& x, const Tensor& low, const Tensor& high) {
  return ApplyTo("clamp_tensor", {x, low, high});
}
Tensor Where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  return ApplyTo("where", {condition, a, b});
}

Tensor Matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options) {
  return ApplyTo("matmul", {a, b}, AttributesOf(options));
}
Tensor Linear(const Tensor& x, const Tensor& weight, const Tensor& bias,
              const MatmulOptions& options) {
  return ApplyTo("linear", {x, weight, bias}, AttributesOf(options));
}

#define TTFD_REDUCTION(Function, name)                                               \
  Tensor Function(const Tensor& x, int dim, bool keepdim) {                          \
    return ApplyTo(name, {x}, {{"dim", int64_t{dim}}, {"keepdim", keepdim}});        \
  }                                                                                  \
  Tensor Function(const Tensor& x, const std::vector<int64_t>& dims, bool keepdim) { \
    return ApplyTo(name, {x}, {{"dims", dims}, {"keepdim", keepdim}});               \
  }
TTFD_REDUCTION(Sum, "sum")
TTFD_REDUCTION(Mean, "mean")
TTFD_REDUCTION(Max, "max")
TTFD_REDUCTION(Min, "min")
TTFD_REDUCTION(Prod, "prod")
#undef TTFD_REDUCTION

Tensor Cumsum(const Tensor& x, int dim) { return ApplyTo("cumsum", {x}, {{"dim", int64_t{dim}}}); }
Tensor Argmax(const Tensor& x, bool keepdim) {
  return ApplyTo("argmax", {x}, {{"keepdim", keepdim}});
}

Tensor Softmax(const Tensor& x) { return ApplyTo("softmax", {x}); }
Tensor RmsNorm(const Tensor& x, float epsilon) {
  return ApplyTo("rms_norm", {x}, {{"epsilon", double{epsilon}}});
}
Tensor RmsNorm(const Tensor& x, const Tensor& weight, float epsilon) {
  return ApplyTo("rms_norm", {x, weight}, {{"epsilon", double{epsilon}}});
}
Tensor LayerNorm(const Tensor& x, float epsilon) {
  return ApplyTo("layer_norm", {x}, {{"epsilon", double{epsilon}}});
}
Tensor LayerNorm(const Tensor& x, const Tensor& weight, const Tensor& bias, float epsilon) {
  return ApplyTo("layer_norm", {x, weight, bias}, {{"epsilon", double{epsilon}}});
}

Tensor ToLayout(const Tensor& x, Layout layout) {
  return ApplyTo("to_layout", {x}, {{"layout", std::string(LayoutName(layout))}});
}
Tensor CopyInto(const Tensor& target, const Tensor& x) { return ApplyTo("copy_into", {target, x}); }
Tensor Reshape(const Tensor& x, std::vector<int64_t> shape) {
  return ApplyTo("reshape", {x}, {{"shape", std::move(shape)}});
}
Tensor Permute(const Tensor& x, std::vector<int64_t> dims) {
  return ApplyTo("permute", {x}, {{"dims", std::move(dims)}});
}
Tensor Transpose(const Tensor& x, int64_t dim0, int64_t dim1) {
  return ApplyTo("transpose", {x}, {{"dim0", dim0}, {"dim1", dim1}});
}
Tensor Slice(const Tensor& x, std::vector<int64_t> begins, std::vector<int64_t> ends,
             std::vector<int64_t> steps) {
  return ApplyTo(
      "slice", {x},
      {{"begins", std::move(begins)}, {"ends", std::move(ends)}, {"steps", std::move(steps)}});
}
Tensor Concat(std::span<const Tensor> tensors, int64_t dim) {
  return std::move(Apply("concat", tensors, {{"dim", dim}}).front());
}
Tensor Repeat(const Tensor& x, std::vector<int64_t> repeats) {
  return ApplyTo("repeat", {x}, {{"repeats", std::move(repeats)}});
}
Tensor Pad(const Tensor& x, std::vector<int64_t> padding, float value) {
  return ApplyTo("pad", {x}, {{"padding", std::move(padding)}, {"value", double{value}}});
}
Tensor Embedding(const Tensor& indices, const Tensor& weight, std::optional<Layout> layout) {
  const std::string name = layout ? LayoutName(*layout) : "";
  return ApplyTo("embedding", {indices, weight}, {{"layout", name}});
}

Tensor FillCache(const Tensor& cache, const Tensor& input, const CacheOptions& options) {
  return ApplyTo("fill_cache", {cache, input}, AttributesOf(options));
}
Tensor UpdateCache(const Tensor& cache, const Tensor& input, const CacheOptions& options) {
  return ApplyTo("update_cache", {cache, input}, AttributesOf(options));
}
Tensor UpdateCache(const Tensor& cache, const Tensor& input, const Tensor& update_indices,
                   uint32_t batch_offset) {
  return ApplyTo("update_cache", {cache, input, update_indices},
                 AttributesOf(CacheOptions{.batch_offset = batch_offset}));
}

Heads SplitQueryKeyValueAndSplitHeads(const Tensor& input, const HeadsOptions& options) {
  std::vector<Tensor> outputs = Apply("split_query_key_value_and_split_heads", {&input, 1},
                                      {{"num_heads", int64_t{options.num_heads}},
                                       {"num_kv_heads", int64_t{options.num_kv_heads}},
                                       {"transpose_key", options.transpose_key}});
  outputs.resize(3, outputs[0]);  // an error is that of all three
  return {std::move(outputs[0]), std::move(outputs[1]), std::move(outputs[2])};
}
Tensor ConcatenateHeads(const Tensor& x) { return ApplyTo("concatenate_heads", {x}); }

Tensor ScaledDotProductAttention(const Tensor& q, const Tensor& k, const Tensor& v,
                                 const AttentionOptions& options) {
  constexpr const char* kName = "scaled_dot_product_attention";
  if (options.mask) return ApplyTo(kName, {q, k, v, *options.mask}, AttributesOf(options));
  return ApplyTo(kName, {q, k, v}, AttributesOf(options));
}
Tensor ScaledDotProductAttentionDecode(const Tensor& q, const Tensor& k, const Tensor& v,
                                       const DecodeAttentionOptions& options) {
  return Decode("scaled_dot_product_attention_decode", {q, k, v}, options);
}
Tensor PagedScaledDotProductAttentionDecode(const Tensor& q, const Tensor& k, const Tensor& v,
                                            const Tensor& page_table,
                                            const DecodeAttentionOptions& options) {
  return Decode("paged_scaled_dot_product_attention_decode", {q, k, v, page_table}, options);
}

}  // namespace ttfd::tensor
