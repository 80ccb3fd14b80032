// Plans of operations that compute: elementwise functions, matrix products, reductions, softmax and normalizations.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "client/ttmlir/src/plan_integers.h"
#include "client/ttmlir/src/planner.h"

namespace ttfd::ttmlir {
namespace {

using tensor::Shape;
using tensor::TensorSpec;

// A type of an operation of the schema, and the operation of the table.
struct Named {
  std::string_view type;
  std::string_view operation;
};

constexpr std::array<Named, 34> kUnary = {{
    {"Abs", "abs"},
    {"Ceil", "ceil"},
    {"Cos", "cos"},
    {"Floor", "floor"},
    {"Gelu", "gelu"},
    {"IsFinite", "isfinite"},
    {"LogicalNot", "logical_not"},
    {"Neg", "neg"},
    {"Relu", "relu"},
    {"Sqrt", "sqrt"},
    {"Rsqrt", "rsqrt"},
    {"Sigmoid", "sigmoid"},
    {"Sin", "sin"},
    {"Reciprocal", "reciprocal"},
    {"Sign", "sign"},
    {"Tan", "tan"},
    {"Tanh", "tanh"},
    {"Atan", "atan"},
    {"Exp", "exp"},
    {"Erf", "erf"},
    {"Erfc", "erfc"},
    {"Log", "log"},
    {"Expm1", "expm1"},
    {"LeakyRelu", "leaky_relu"},
    {"BitwiseNot", "bitwise_not"},
    {"Relu6", "relu6"},
    {"Silu", "silu"},
    {"Hardsigmoid", "hardsigmoid"},
    {"Mish", "mish"},
    {"Cbrt", "cbrt"},
    {"Log1p", "log1p"},
    {"Acos", "acos"},
    {"Asin", "asin"},
    {"Asinh", "asinh"},
}};

constexpr std::array<Named, 24> kBinary = {{
    {"Add", "add"},
    {"Multiply", "multiply"},
    {"Subtract", "subtract"},
    {"Equal", "eq"},
    {"NotEqual", "ne"},
    {"GreaterEqual", "ge"},
    {"GreaterThan", "gt"},
    {"LessEqual", "le"},
    {"LessThan", "lt"},
    {"Divide", "div"},
    {"Div", "div"},
    {"LogicalAnd", "logical_and"},
    {"LogicalOr", "logical_or"},
    {"LogicalXor", "logical_xor"},
    {"Maximum", "maximum"},
    {"Minimum", "minimum"},
    {"Remainder", "remainder"},
    {"Pow", "pow"},
    {"Atan2", "atan2"},
    {"BitwiseAnd", "bitwise_and"},
    {"BitwiseOr", "bitwise_or"},
    {"BitwiseXor", "bitwise_xor"},
    {"LogicalRightShift", "logical_right_shift"},
    {"LogicalLeftShift", "logical_left_shift"},
}};

constexpr std::array<Named, 4> kReductions = {
    {{"Sum", "sum"}, {"Mean", "mean"}, {"Max", "max"}, {"Min", "min"}}};

template <size_t size>
std::string_view OperationOf(const std::array<Named, size>& names, std::string_view type) {
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const Named& named) { return named.type == type; });
  return found == names.end() ? std::string_view() : found->operation;
}

template <size_t size>
std::vector<std::string_view> CallsOf(const std::array<Named, size>& names) {
  std::vector<std::string_view> calls(size);
  std::transform(names.begin(), names.end(), calls.begin(),
                 [](const Named& named) { return named.operation; });
  return calls;
}

template <size_t size>
std::string_view Known(Planner& p, const std::array<Named, size>& names) {
  const std::string_view type = p.fields().Name("type");
  const std::string_view operation = OperationOf(names, type);
  if (operation.empty()) p.Fail(fmt::format("its type {} is not supported", type));
  return operation;
}

void PlanEltwise(Planner& p) {  // of 2024: functions of one and two tensors
  const std::vector<uint64_t> inputs = p.Ins("ins");
  const std::string_view operation = inputs.size() == 1 ? Known(p, kUnary) : Known(p, kBinary);
  p.Compute(operation, inputs, p.Out());
}

void PlanBinary(Planner& p) { p.Compute(Known(p, kBinary), {p.In("lhs"), p.In("rhs")}, p.Out()); }

void PlanPower(Planner& p) {
  const double exponent = p.Number("rhs");
  const uint64_t base = p.In("lhs");
  const Value output = p.Out();
  if (exponent == 2) return p.Compute("square", {base}, output);
  if (exponent == 0.5) return p.Compute("sqrt", {base}, output);
  if (exponent == -0.5) return p.Compute("rsqrt", {base}, output);
  if (exponent == -1) return p.Compute("reciprocal", {base}, output);
  p.Compute("pow_scalar", {base}, output, {{"scalar", exponent}});
}

void PlanWhere(Planner& p) {
  const std::vector<uint64_t> inputs = {p.In("first"), p.In("second"), p.In("third")};
  if (AreIntegers(p, {inputs[1], inputs[2]})) return PlanWhereOfIntegers(p, inputs, p.Out());
  uint64_t condition = inputs[0];
  if (AreIntegers(p, {condition})) {
    const Value number = p.Temporary({.shape = p.spec(condition).shape});
    p.Copy(NotZero(p, condition), number);
    condition = number.id;
  }
  p.Compute("where", {condition, inputs[1], inputs[2]}, p.Out());
}

void PlanUnary(Planner& p) {
  const std::string_view operation = Known(p, kUnary);
  tensor::Attributes attributes;
  if (operation == "leaky_relu")
    attributes["slope"] = p.Number(p.fields().Child("params"), "parameter");
  p.Compute(operation, {p.In("in")}, p.Out(), std::move(attributes));
}

void PlanUnaryComposite(Planner& p) {
  const std::string_view type = p.fields().Name("type");
  const Record params = p.fields().Child("params");
  const uint64_t input = p.In("in");
  const Value output = p.Out();
  if (type == "ClampScalar") {
    return p.Compute("clamp", {input}, output,
                     {{"low", p.Number(params, "min")}, {"high", p.Number(params, "max")}});
  }
  if (type == "ClampTensor") {
    return p.Compute("clamp_tensor", {input, p.In(params, "min"), p.In(params, "max")}, output);
  }
  p.Compute(Known(p, kUnary), {input}, output);
}

// The input with its last two extents exchanged, if `transposed`.
uint64_t Transposed(Planner& p, uint64_t input, bool transposed) {
  if (!transposed) return input;
  TensorSpec spec = p.spec(input);
  std::vector<uint32_t> extents(spec.shape.extents().begin(), spec.shape.extents().end());
  if (extents.size() < 2) {
    p.Fail("a transposed operand has one extent");
    return input;
  }
  std::swap(extents[extents.size() - 1], extents[extents.size() - 2]);
  spec.shape = Shape(std::move(extents));
  const Value value = p.Temporary(spec);
  p.Move("transpose", {input}, value);
  return value.id;
}

void Product(Planner& p, std::string_view operation, std::optional<uint64_t> bias) {
  std::vector<uint64_t> inputs = {
      Transposed(p, p.In({"a", "in0"}), p.fields().Integer("transpose_a") != 0),
      p.In({"b", "in1"})};
  if (bias) inputs.push_back(*bias);
  const std::string fused =
      p.Activation(p.fields().Child("matmul_program_config").Child("fused_activation"));
  std::string activation(p.fields().Text("activation"));
  if (!fused.empty() && !activation.empty()) p.Fail("it has two activations");
  if (!fused.empty()) activation = fused;
  p.Compute(operation, inputs, p.Out(),
            {{"transpose_b", p.fields().Integer("transpose_b") != 0}, {"activation", activation}});
}

void PlanMatmul(Planner& p) { Product(p, "matmul", std::nullopt); }

void PlanLinear(Planner& p) { Product(p, "linear", p.InIf("bias")); }

// Files of 2024 describe a reduced last extent as the tile that it lies in: the rest is zeros.
void PlanReduction(Planner& p) {
  const std::string_view operation = Known(p, kReductions);
  const uint64_t input = p.In("in");
  const Value output = p.Out();
  const auto rank = static_cast<int64_t>(p.spec(input).shape.rank());
  std::vector<int64_t> dims = p.Integers("dim_arg");
  for (int64_t i = 0; p.Integers("dim_arg").empty() && i < rank; ++i) dims.push_back(i);
  std::vector<uint32_t> extents(p.spec(input).shape.extents().begin(),
                                p.spec(input).shape.extents().end());
  for (const int64_t dim : dims) {
    if (dim < -rank || dim >= rank) return p.Fail(fmt::format("it has no extent {}", dim));
    extents[static_cast<size_t>(dim < 0 ? dim + rank : dim)] = 1;
  }
  const Value reduced = p.Temporary({.shape = Shape(extents), .dtype = output.spec.dtype});
  p.Compute(operation, {input}, reduced, {{"dims", dims}, {"keepdim", true}});
  const auto wanted = output.spec.shape.extents();
  const bool is_tile =
      wanted.size() == extents.size() && extents.back() == 1 && wanted.back() == 32;
  if (!is_tile) return p.Copy(reduced.id, output);
  std::vector<int64_t> padding(2 * extents.size());
  padding.back() = 31;
  p.Move("pad", {reduced.id}, output, {{"padding", padding}});
}

void PlanProduct(Planner& p) {
  const uint64_t input = p.In("in");
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < static_cast<int64_t>(p.spec(input).shape.rank()); ++i) dims.push_back(i);
  if (p.fields().Has("dim_arg")) dims = {p.fields().Integer("dim_arg")};
  p.Compute("prod", {input}, p.Out(),
            {{"dims", dims}, {"keepdim", p.fields().Integer("keep_dim") != 0}});
}

void PlanCumsum(Planner& p) {
  p.Compute("cumsum", {p.In("in")}, p.Out(), {{"dim", p.fields().Integer("dim")}});
}

// Without an extent: of all elements.
void PlanArgmax(Planner& p) {
  uint64_t input = p.In("in");
  const Value output = p.Out();
  int64_t dim = p.fields().Integer("dim");
  if (!p.fields().Has("dim")) {
    TensorSpec spec = p.spec(input);
    spec.shape = Shape({static_cast<uint32_t>(spec.shape.elements())});
    const Value flat = p.Temporary(spec);
    p.Copy(input, flat);
    input = flat.id;
    dim = -1;
  }
  const auto rank = static_cast<int64_t>(p.spec(input).shape.rank());
  if (dim != -1 && dim != rank - 1) return p.Fail("it is not of the last extent");
  p.Move("argmax", {p.Tiled(input)}, output, {{"keepdim", p.fields().Integer("keep_dim") != 0}});
}

// Softmax is of the last extent: another one is exchanged with it before and after.
void PlanSoftmax(Planner& p) {
  const uint64_t input = p.In("in");
  const Value output = p.Out();
  const auto rank = static_cast<int64_t>(p.spec(input).shape.rank());
  int64_t dim = p.fields().Integer("dimension");
  if (dim < -rank || dim >= rank) return p.Fail(fmt::format("it has no extent {}", dim));
  if (dim < 0) dim += rank;
  if (dim == rank - 1) return p.Compute("softmax", {input}, output);
  TensorSpec spec = p.spec(input);
  std::vector<uint32_t> extents(spec.shape.extents().begin(), spec.shape.extents().end());
  std::swap(extents[static_cast<size_t>(dim)], extents.back());
  spec.shape = Shape(std::move(extents));
  const tensor::Attributes exchanged = {{"dim0", dim}, {"dim1", rank - 1}};
  const Value before = p.Temporary(spec);
  const Value after = p.Temporary(spec);
  p.Move("transpose", {input}, before, exchanged);
  p.Compute("softmax", {before.id}, after);
  p.Move("transpose", {after.id}, output, exchanged);
}

void Normalization(Planner& p, std::string_view operation) {
  std::vector<uint64_t> inputs = {p.In("input")};
  const auto weight = p.InIf("weight");
  const auto bias = p.InIf("bias");
  const Value output = p.Out();
  if (!weight && bias) return p.Fail("a normalization has a bias without a weight");
  if (weight) inputs.push_back(*weight);
  if (bias) inputs.push_back(*bias);
  p.Compute(operation, inputs, output, {{"epsilon", p.fields().Real("epsilon")}});
}

void PlanLayerNorm(Planner& p) { Normalization(p, "layer_norm"); }

void PlanRmsNorm(Planner& p) { Normalization(p, "rms_norm"); }

// The value of a function of numbers with 32 bits.
uint64_t Computed(Planner& p, std::string_view operation, std::vector<uint64_t> inputs,
                  const Shape& shape, tensor::Attributes attributes = {}) {
  const Value value = p.Temporary({.shape = shape, .dtype = tensor::DType::kFloat32});
  p.Compute(operation, std::move(inputs), value, std::move(attributes));
  return value.id;
}

// Each group of channels becomes a row, whose mean and deviation are taken.
void PlanGroupNorm(Planner& p) {
  const uint64_t input = p.In("input");
  const auto weight = p.InIf("weight");
  const auto bias = p.InIf("bias");
  const Value output = p.Out();
  const Shape shape = p.spec(input).shape;
  const uint32_t channels = shape.extents().back(), images = shape[0];
  const int64_t groups = p.fields().Integer("num_groups");
  if (shape.rank() < 2 || groups < 1 || channels % groups != 0) {
    return p.Fail(fmt::format("{} groups of {}", groups, shape.ToString()));
  }
  const auto rows = static_cast<uint32_t>(groups);
  const auto pixels = static_cast<uint32_t>(shape.elements() / images / channels);
  const Shape outer = {images, pixels, channels}, inner = {images, channels, pixels};
  const Shape grouped = {images, rows, channels / rows * pixels}, single = {images, rows, 1};
  const auto numbers = [&p](uint64_t id, const Shape& of) {
    const Value value = p.Temporary({.shape = of, .dtype = tensor::DType::kFloat32});
    p.Copy(id, value);
    return value.id;
  };
  const auto exchanged = [&p](uint64_t id, const Shape& of) {
    const Value value = p.Temporary({.shape = of, .dtype = tensor::DType::kFloat32});
    p.Move("transpose", {id}, value);
    return value.id;
  };
  const tensor::Attributes along = {{"dims", std::vector<int64_t>{2}}, {"keepdim", true}};
  const uint64_t x = numbers(exchanged(numbers(input, outer), inner), grouped);
  const uint64_t mean = Computed(p, "mean", {x}, single, along);
  const uint64_t centered = Computed(p, "subtract", {x, mean}, grouped);
  const uint64_t squares = Computed(p, "square", {centered}, grouped);
  const uint64_t variance = Computed(p, "mean", {squares}, single, along);
  const uint64_t sum =
      Computed(p, "add_scalar", {variance}, single, {{"scalar", p.fields().Real("epsilon")}});
  const uint64_t factor = Computed(p, "rsqrt", {sum}, single);
  const uint64_t scaled = Computed(p, "multiply", {centered, factor}, grouped);
  uint64_t made = exchanged(numbers(scaled, inner), outer);
  if (weight) made = Computed(p, "multiply", {made, numbers(*weight, {channels})}, outer);
  if (bias) made = Computed(p, "add", {made, numbers(*bias, {channels})}, outer);
  p.Copy(made, output);
}

// Without elements that are dropped, as where a model is not trained.
void PlanDropout(Planner& p) {
  const double probability = p.fields().Real("prob");
  if (probability != 0) p.Fail(fmt::format("it drops elements with probability {}", probability));
  const double scale = p.fields().Real("scale");
  if (scale == 1) return p.Copy(p.In("in"), p.Out());
  p.Compute("multiply_scalar", {p.In("in")}, p.Out(), {{"scalar", scale}});
}

}  // namespace

std::vector<PlanRow> ComputeRows() {
  const std::vector<std::string_view> unary = CallsOf(kUnary);
  const std::vector<std::string_view> binary = CallsOf(kBinary);
  std::vector<std::string_view> eltwise = unary;
  eltwise.insert(eltwise.end(), binary.begin(), binary.end());
  return {
      {"EltwiseOp", PlanEltwise, eltwise},
      {"EltwiseBinaryOp", PlanBinary, binary},
      {"EltwiseBinaryCompositeOp", PlanBinary, binary},
      {"EltwiseBinaryCompositeScalarOp",
       PlanPower,
       {"square", "sqrt", "rsqrt", "reciprocal", "pow_scalar"}},
      {"EltwiseTernaryWhereOp",
       PlanWhere,
       {"where", "ne", "subtract", "bitwise_and", "bitwise_not", "bitwise_or"}},
      {"EltwiseUnaryOp", PlanUnary, unary},
      {"EltwiseUnaryCompositeOp", PlanUnaryComposite, {"clamp", "clamp_tensor", "cbrt", "log1p"}},
      {"MatmulOp", PlanMatmul, {"matmul", "transpose"}},
      {"LinearOp", PlanLinear, {"linear", "transpose"}},
      {"ReductionOp", PlanReduction, CallsOf(kReductions), {"keep_dim"}},
      {"ReductionProdOp", PlanProduct, {"prod"}},
      {"ReductionArgMaxOp", PlanArgmax, {"argmax"}},
      {"CumSumOp", PlanCumsum, {"cumsum"}},
      {"MorehCumSumOp", PlanCumsum, {"cumsum"}},
      {"SoftmaxOp", PlanSoftmax, {"softmax", "transpose"}},
      {"LayerNormOp", PlanLayerNorm, {"layer_norm"}},
      {"RMSNormOp", PlanRmsNorm, {"rms_norm"}},
      {"GroupNormOp",
       PlanGroupNorm,
       {"transpose", "mean", "subtract", "square", "add_scalar", "rsqrt", "multiply", "add"},
       {"core_grid"}},
      {"DropoutOp", PlanDropout, {"multiply_scalar"}, {"seed", "use_per_device_seed"}}};
}

}  // namespace ttfd::ttmlir
