// Functions of each element that are made of several elementwise operations.
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/tensor/src/broadcast.h"
#include "client/tensor/src/composition.h"
#include "client/tensor/src/operations.h"

namespace ttfd::tensor {
namespace {

using Outputs = Result<std::vector<Tensor>>;
using ops::Combine;
using ops::Unary;
using Inputs = std::vector<Tensor>;

// 1 where the element is not 0, else 0.
ChainSteps Truth() {
  return {{Unary::kAbs}, {Unary::kMultiplyScalar, 0x1p127f}, {Unary::kMinimumScalar, 1}};
}

Tensor Tangent(const Composition& steps, const Inputs& x, DType dtype) {
  return steps.Compute(Combine::kDivide,
                       {steps.Compute(x[0], {{Unary::kSin}}), steps.Compute(x[0], {{Unary::kCos}})},
                       {}, dtype);
}

// tanh(x / 2) * (exp(x) + 1), which has no difference of similar numbers.
Tensor Expm1(const Composition& steps, const Inputs& x, DType dtype) {
  const Tensor half = steps.Compute(x[0], {{Unary::kMultiplyScalar, 0.5f}, {Unary::kTanh}});
  const Tensor sum = steps.Compute(x[0], {{Unary::kExp}, {Unary::kAddScalar, 1}});
  return steps.Compute(Combine::kMultiply, {half, sum}, {}, dtype);
}

// With u = 1 + x, rounded: log(u) * x / (u - 1), where the error of u is in both; x where u is 1.
Tensor Log1p(const Composition& steps, const Inputs& x, DType dtype) {
  const Tensor logarithm = steps.Compute(x[0], {{Unary::kAddScalar, 1}, {Unary::kLog}});
  const Tensor rest = steps.Compute(x[0], {{Unary::kAddScalar, 1}, {Unary::kAddScalar, -1}});
  const Tensor exact = steps.Compute(x[0], {});
  const Tensor quotient = steps.Compute(Combine::kDivide, {exact, rest});
  const Tensor product = steps.Compute(Combine::kMultiply, {logarithm, quotient});
  return steps.Compute(Combine::kWhere, {rest, product, exact}, {}, dtype);
}

// x * n / (n + 2), where n = u * (u + 2) and u = exp(x): tanh(log(1 + u)) is that quotient. From 20 on it is 1.
Tensor Mish(const Composition& steps, const Inputs& x, DType dtype) {
  const ChainSteps power = {{Unary::kMinimumScalar, 20}, {Unary::kExp}};
  ChainSteps sum = power;
  sum.push_back({Unary::kAddScalar, 2});
  const Tensor u = steps.Compute(x[0], power), v = steps.Compute(x[0], std::move(sum));
  const Tensor n = steps.Compute(Combine::kMultiply, {u, v});
  const Tensor divisor =
      steps.Compute(Combine::kMultiply, {u, v}, {{Unary::kAddScalar, 2}, {Unary::kReciprocal}});
  const Tensor quotient = steps.Compute(Combine::kMultiply, {n, divisor});
  return steps.Compute(Combine::kMultiply, {x[0], quotient}, {}, dtype);
}

// exp(log(|x|) / 3), with the sign of x.
Tensor Cbrt(const Composition& steps, const Inputs& x, DType dtype) {
  const Tensor logarithm =
      steps.Compute(x[0], {{Unary::kAbs}, {Unary::kLog}, {Unary::kMultiplyScalar, 1.0f / 3}});
  const Tensor root = steps.Compute(logarithm, {{Unary::kExp}});
  return steps.Compute(Combine::kMultiply, {steps.Run("sign", {x[0]}), root}, {}, dtype);
}

// With z = -sqrt(2) * x: 2 * gelu(z) / z, whose relative error is that of gelu; 1 where x is 0.
Tensor Erfc(const Composition& steps, const Inputs& x, DType dtype) {
  constexpr float kRoot = 1.41421356f;
  const Tensor z = steps.Compute(x[0], {{Unary::kMultiplyScalar, -kRoot}});
  const Tensor numerator = steps.Compute(z, {{Unary::kGelu}, {Unary::kMultiplyScalar, 2}});
  const Tensor quotient = steps.Compute(Combine::kDivide, {numerator, z});
  const Tensor one = steps.Compute(
      x[0], {{Unary::kMinimumScalar, 0}, {Unary::kMaximumScalar, 0}, {Unary::kAddScalar, 1}});
  return steps.Compute(Combine::kWhere, {z, quotient, one}, {}, dtype);
}

Tensor LogicalNot(const Composition& steps, const Inputs& x, DType dtype) {
  return steps.Compute(steps.Compute(x[0], Truth()), {{Unary::kNegate}, {Unary::kAddScalar, 1}},
                       dtype);
}

// 1 where the greatest and least numbers as bounds change nothing.
Tensor IsFinite(const Composition& steps, const Inputs& x, DType dtype) {
  constexpr float kGreatest = 0x1.FFFFFEp127f;
  const Tensor bounded = steps.Compute(
      x[0], {{Unary::kMinimumScalar, kGreatest}, {Unary::kMaximumScalar, -kGreatest}});
  return steps.Compute(Combine::kEqual, {x[0], bounded}, {}, dtype);
}

Tensor Hardsigmoid(const Composition& steps, const Inputs& x, DType dtype) {
  const Tensor bounded =
      steps.Compute(x[0], {{Unary::kAddScalar, 3}, {Unary::kRelu}, {Unary::kMinimumScalar, 6}});
  return steps.Compute(bounded, {{Unary::kMultiplyScalar, 1.0f / 6}}, dtype);
}

template <Combine kCombine>
Tensor Logical(const Composition& steps, const Inputs& x, DType dtype) {
  return steps.Compute(kCombine, {steps.Compute(x[0], Truth()), steps.Compute(x[1], Truth())}, {},
                       dtype);
}

// a - floor(a / b) * b. The quotient of a multiple of b may be rounded to the wrong side of an integer: what is then b,
// or on the other side of 0, is made right.
Tensor Remainder(const Composition& steps, const Inputs& x, DType dtype) {
  const Tensor a = steps.Compute(x[0], {}), b = steps.Compute(x[1], {});
  const Tensor quotient = steps.Compute(Combine::kDivide, {a, b}, {{Unary::kFloor}});
  const Tensor multiple = steps.Compute(Combine::kMultiply, {quotient, b});
  Tensor rest = steps.Compute(Combine::kSubtract, {a, multiple});
  const auto size = [&](const Tensor& of) { return steps.Compute(of, {{Unary::kAbs}}); };
  const Tensor beyond = steps.Compute(Combine::kGreaterOrEqual, {size(rest), size(b)});
  rest = steps.Compute(Combine::kSubtract, {rest, steps.Compute(Combine::kMultiply, {beyond, b})});
  const Tensor signs =
      steps.Compute(Combine::kMultiply, {steps.Run("sign", {rest}), steps.Run("sign", {b})});
  const Tensor opposite = steps.Compute(signs, {{Unary::kMinimumScalar, 0}, {Unary::kAbs}});
  return steps.Compute(Combine::kAdd, {rest, steps.Compute(Combine::kMultiply, {opposite, b})}, {},
                       dtype);
}

// exp(b * log(|a|)), with the sign of a where b is odd; 1 where b is 0. NaN of negative numbers with a b that is no
// integer is left out.
Tensor Pow(const Composition& steps, const Inputs& x, DType dtype) {
  const Tensor logarithm = steps.Compute(x[0], {{Unary::kAbs}, {Unary::kLog}});
  const Tensor power = steps.Compute(Combine::kMultiply, {logarithm, x[1]}, {{Unary::kExp}});
  // Half of b has the fraction 1/2 where b is odd.
  const Tensor half = steps.Compute(x[1], {{Unary::kMultiplyScalar, 0.5f}});
  const Tensor fraction =
      steps.Compute(Combine::kSubtract, {half, steps.Compute(half, {{Unary::kFloor}})});
  const Tensor negative = steps.Compute(x[0], {{Unary::kMultiplyScalar, 0x1p127f},
                                               {Unary::kMaximumScalar, -1},
                                               {Unary::kMinimumScalar, 0}});
  // 1 - 4 * fraction where a is negative: -1 for an odd b.
  const Tensor sign = steps.Compute(Combine::kMultiply, {fraction, negative},
                                    {{Unary::kMultiplyScalar, 4}, {Unary::kAddScalar, 1}});
  const Tensor result = steps.Compute(Combine::kMultiply, {power, sign});
  const Tensor one = steps.Compute(
      x[1], {{Unary::kMinimumScalar, 0}, {Unary::kMaximumScalar, 0}, {Unary::kAddScalar, 1}});
  return steps.Compute(Combine::kWhere, {x[1], result, one}, {}, dtype);
}

Tensor ClampTensor(const Composition& steps, const Inputs& x, DType dtype) {
  const Tensor raised = steps.Compute(Combine::kMaximum, {x[0], x[1]});
  return steps.Compute(Combine::kMinimum, {raised, x[2]}, {}, dtype);
}

using Function = Tensor (*)(const Composition& steps, const Inputs& x, DType dtype);

// The inputs, broadcast to one shape: what is made of one of them is not rounded where it is broadcast.
template <Function kFunction>
Outputs RunFunction(const Call& call) {
  if (Status status = call.RequireTiles(); !status.ok()) return status;
  const Result<DType> dtype = call.OutputType(0);
  if (!dtype.ok()) return dtype.status();
  std::optional<Shape> shape = call.spec(0).shape;
  for (size_t i = 1; i < call.inputs(); ++i) {
    const Shape pair[] = {*shape, call.spec(i).shape};
    shape = BroadcastShape(pair);
    if (!shape) return call.InputError(i, "it cannot be broadcast with " + pair[0].ToString());
  }
  const Composition steps(call);
  Inputs inputs;
  for (size_t i = 0; i < call.inputs(); ++i) {
    const bool is_whole = call.spec(i).shape == *shape;
    const Tensor x = is_whole || call.spec(i).dtype != DType::kBfp8
                         ? call.input(i)
                         : steps.Compute(call.input(i), {}, DType::kBFloat16);
    inputs.push_back(steps.BroadcastTo(x, *shape));
  }
  return OutputOf(kFunction(steps, inputs, *dtype));
}

Outputs RunLeakyRelu(const Call& call) {
  if (Status status = call.RequireTiles(); !status.ok()) return status;
  const Result<DType> dtype = call.OutputType(0);
  if (!dtype.ok()) return dtype.status();
  const auto slope = static_cast<float>(call.attribute<double>("slope"));
  const Composition steps(call);
  const Tensor scaled = steps.Compute(call.input(0), {{Unary::kMultiplyScalar, slope}});
  return OutputOf(steps.Compute(slope <= 1 ? Combine::kMaximum : Combine::kMinimum,
                                {call.input(0), scaled}, {}, *dtype));
}

// Computes exponents that have a function of their own by that function.
Outputs RunPowScalar(const Call& call) {
  if (Status status = call.RequireTiles(); !status.ok()) return status;
  const Result<DType> dtype = call.OutputType(0);
  if (!dtype.ok()) return dtype.status();
  const double exponent = call.attribute<double>("scalar");
  const Composition steps(call);
  const Tensor& x = call.input(0);
  for (const auto& [special, code] : {std::pair(2.0, Unary::kSquare),
                                      {1.0, Unary::kNone},
                                      {0.5, Unary::kSqrt},
                                      {-0.5, Unary::kRsqrt},
                                      {-1.0, Unary::kReciprocal}}) {
    if (exponent != special) continue;
    return OutputOf(
        steps.Compute(x, code == Unary::kNone ? ChainSteps() : ChainSteps{{code}}, *dtype));
  }
  if (exponent == 0) {
    return OutputOf(steps.Compute(
        x, {{Unary::kMinimumScalar, 0}, {Unary::kMaximumScalar, 0}, {Unary::kAddScalar, 1}},
        *dtype));
  }
  const Tensor power = steps.Compute(
      x, {{Unary::kAbs}, {Unary::kLog}, {Unary::kMultiplyScalar, static_cast<float>(exponent)}});
  const bool is_odd = std::fabs(std::fmod(exponent, 2)) == 1;
  const Tensor sign = is_odd ? steps.Run("sign", {x}) : Tensor();
  if (!is_odd) return OutputOf(steps.Compute(power, {{Unary::kExp}}, *dtype));
  return OutputOf(
      steps.Compute(Combine::kMultiply, {steps.Compute(power, {{Unary::kExp}}), sign}, {}, *dtype));
}

}  // namespace

void AddFunctionOperations(std::vector<Operation>* operations) {
  const auto add = [operations](std::string_view name, std::vector<OperationInfo::Argument> inputs,
                                auto run, std::string_view doc) {
    operations->push_back({{name, std::move(inputs), {DTypeAttribute()}, doc}, run});
  };
  add("tan", {{"x"}}, RunFunction<Tangent>, "Tangent of each element, in radians.");
  add("expm1", {{"x"}}, RunFunction<Expm1>, "e to the power of each element, minus 1.");
  add("log1p", {{"x"}}, RunFunction<Log1p>, "Natural logarithm of 1 plus each element.");
  add("mish", {{"x"}}, RunFunction<Mish>, "x * tanh(log(1 + exp(x))) of each element.");
  add("cbrt", {{"x"}}, RunFunction<Cbrt>, "Cube root of each element.");
  add("erfc", {{"x"}}, RunFunction<Erfc>, "1 - erf(x) of each element.");
  add("hardsigmoid", {{"x"}}, RunFunction<Hardsigmoid>,
      "x / 6 + 1 / 2 of each element, but at least 0 and at most 1.");
  add("isfinite", {{"x"}}, RunFunction<IsFinite>, "1 where the element is finite, else 0.");
  add("logical_not", {{"x"}}, RunFunction<LogicalNot>, "1 where the element is 0, else 0.");
  add("logical_and", {{"a"}, {"b"}}, RunFunction<Logical<Combine::kMinimum>>,
      "1 where neither element is 0, else 0.");
  add("logical_or", {{"a"}, {"b"}}, RunFunction<Logical<Combine::kMaximum>>,
      "1 where one of the elements is not 0, else 0.");
  add("logical_xor", {{"a"}, {"b"}}, RunFunction<Logical<Combine::kNotEqual>>,
      "1 where just one of the elements is not 0, else 0.");
  add("remainder", {{"a"}, {"b"}}, RunFunction<Remainder>,
      "a - floor(a / b) * b of the elements, which has the sign of b.");
  add("pow", {{"a"}, {"b"}}, RunFunction<Pow>, "a to the power of b.");
  add("clamp_tensor", {{"x"}, {"low"}, {"high"}}, RunFunction<ClampTensor>,
      "Each element of x, but at least that of low and at most that of high.");
  operations->push_back({{"leaky_relu",
                          {{"x"}},
                          {{"slope", 0.01, "factor of negative elements"}, DTypeAttribute()},
                          "Each element, times slope where it is negative."},
                         RunLeakyRelu});
  operations->push_back({{"pow_scalar",
                          {{"x"}},
                          {{"scalar", 1.0, "the exponent"}, DTypeAttribute()},
                          "Each element to the power of a number."},
                         RunPowScalar});
}

}  // namespace ttfd::tensor
