// Elementwise operations of the table.
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/tensor/src/broadcast.h"
#include "client/tensor/src/composition.h"
#include "client/tensor/src/integer_operations.h"
#include "client/tensor/src/lower_eltwise.h"
#include "client/tensor/src/operations.h"

namespace ttfd::tensor {
namespace {

using Outputs = Result<std::vector<Tensor>>;
using ops::Unary;

// Runs `operation` on all inputs of the call. The output has the attribute `dtype`, or the type of input `like`.
Outputs Run(const Call& call, const EltwiseOperation& operation, DType dtype) {
  if (Status status = call.RequireTiles(); !status.ok()) return status;
  const std::vector<TensorSpec> inputs = call.specs();
  std::optional<Shape> shape = inputs[0].shape;
  for (size_t i = 1; i < inputs.size(); ++i) {
    const Shape pair[] = {*shape, inputs[i].shape};
    shape = BroadcastShape(pair);
    if (!shape) {
      return call.InputError(i, "it cannot be broadcast with " + pair[0].ToString());
    }
  }
  const TensorSpec output = {*std::move(shape), dtype, Layout::kTile};
  return call.Run(output, LowerEltwise(operation, inputs, output, call.limits()));
}

// An operation with the attribute `dtype`.
Outputs RunTyped(const Call& call, const EltwiseOperation& operation, size_t like) {
  const Result<DType> dtype = call.OutputType(like);
  return dtype.ok() ? Run(call, operation, *dtype) : dtype.status();
}

struct UnaryEntry {
  std::string_view name;
  std::string_view doc;
  std::array<ChainStep, ops::kMaxChain - 1> steps;  // up to the first without a code
};

constexpr float kBeyondAll = 0x1p127f;  // any number but 0, times this, is 2 at least

constexpr UnaryEntry kUnary[] = {
    {"exp", "e to the power of each element.", {{{Unary::kExp}}}},
    {"reciprocal", "1 divided by each element.", {{{Unary::kReciprocal}}}},
    {"sqrt", "Square root of each element.", {{{Unary::kSqrt}}}},
    {"rsqrt", "1 divided by the square root of each element.", {{{Unary::kRsqrt}}}},
    {"silu", "x * sigmoid(x) of each element.", {{{Unary::kSilu}}}},
    {"sigmoid", "1 / (1 + exp(-x)) of each element.", {{{Unary::kSigmoid}}}},
    {"gelu", "x * (1 + erf(x / sqrt(2))) / 2 of each element.", {{{Unary::kGelu}}}},
    {"tanh", "Hyperbolic tangent of each element.", {{{Unary::kTanh}}}},
    {"relu", "The greater of 0 and each element.", {{{Unary::kRelu}}}},
    {"relu6",
     "Each element, but at least 0 and at most 6.",
     {{{Unary::kRelu}, {Unary::kMinimumScalar, 6}}}},
    {"abs", "Absolute value of each element.", {{{Unary::kAbs}}}},
    {"neg", "Negative of each element.", {{{Unary::kNegate}}}},
    {"sign",
     "1, 0 or -1, as each element is positive, 0 or negative.",
     {{{Unary::kMultiplyScalar, kBeyondAll},
       {Unary::kMaximumScalar, -1},
       {Unary::kMinimumScalar, 1}}}},
    {"square", "Square of each element.", {{{Unary::kSquare}}}},
    {"log", "Natural logarithm of each element.", {{{Unary::kLog}}}},
    {"sin", "Sine of each element, in radians.", {{{Unary::kSin}}}},
    {"cos", "Cosine of each element, in radians.", {{{Unary::kCos}}}},
    {"erf",
     "2 / sqrt(pi) * the integral of exp(-t * t) from 0 to each element.",
     {{{Unary::kErf}}}},
    {"atan", "Inverse tangent of each element, in radians.", {{{Unary::kAtan}}}},
    {"floor", "Greatest integer that is not above each element.", {{{Unary::kFloor}}}},
    {"ceil",
     "Least integer that is not below each element.",
     {{{Unary::kNegate}, {Unary::kFloor}, {Unary::kNegate}}}},
};

// None: there is no function of that name.
std::optional<ChainSteps> StepsOf(std::string_view name) {
  for (const UnaryEntry& entry : kUnary) {
    if (entry.name != name) continue;
    ChainSteps steps;
    for (const ChainStep& step : entry.steps) {
      if (step.code != Unary::kNone) steps.push_back(step);
    }
    return steps;
  }
  return std::nullopt;
}

Outputs RunUnary(const Call& call) { return RunTyped(call, {.chain = *StepsOf(call.name())}, 0); }

template <ops::Combine kCode>
Outputs RunBinary(const Call& call) {
  if (AreIntegers(call)) return RunIntegers(call, kCode);
  Result<ChainSteps> chain = ActivationOf(call);
  if (!chain.ok()) return chain.status();
  return RunTyped(call, {kCode, *std::move(chain)}, 0);
}

struct BinaryEntry {
  std::string_view name;
  Outputs (*run)(const Call& call);
  std::string_view doc;
};

constexpr BinaryEntry kBinary[] = {
    {"add", RunBinary<ops::Combine::kAdd>, "Sums of the elements of a and b."},
    {"subtract", RunBinary<ops::Combine::kSubtract>, "Differences of the elements, a - b."},
    {"multiply", RunBinary<ops::Combine::kMultiply>, "Products of the elements of a and b."},
    {"div", RunBinary<ops::Combine::kDivide>, "Quotients of the elements, a / b."},
    {"maximum", RunBinary<ops::Combine::kMaximum>, "The greater elements of a and b."},
    {"minimum", RunBinary<ops::Combine::kMinimum>, "The smaller elements of a and b."},
    {"eq", RunBinary<ops::Combine::kEqual>, "1 where a is equal to b, else 0."},
    {"ne", RunBinary<ops::Combine::kNotEqual>, "1 where a is not equal to b, else 0."},
    {"lt", RunBinary<ops::Combine::kLess>, "1 where a is less than b, else 0."},
    {"le", RunBinary<ops::Combine::kLessOrEqual>, "1 where a is at most b, else 0."},
    {"gt", RunBinary<ops::Combine::kGreater>, "1 where a is greater than b, else 0."},
    {"ge", RunBinary<ops::Combine::kGreaterOrEqual>, "1 where a is at least b, else 0."},
};

template <ops::Unary kCode>
Outputs RunScalar(const Call& call) {
  const auto scalar = static_cast<float>(call.attribute<double>("scalar"));
  return RunTyped(call, {.chain = {{kCode, scalar}}}, 0);
}

Outputs RunClamp(const Call& call) {
  const auto low = static_cast<float>(call.attribute<double>("low"));
  const auto high = static_cast<float>(call.attribute<double>("high"));
  if (!(low <= high)) {
    return call.Error(
        "low", "is " + std::to_string(low) + "; it must be at most high, " + std::to_string(high));
  }
  return RunTyped(
      call, {.chain = {{ops::Unary::kMaximumScalar, low}, {ops::Unary::kMinimumScalar, high}}}, 0);
}

Outputs RunTypecast(const Call& call) {
  const bool to_integers = call.attribute<std::string>("dtype") == DTypeName(DType::kUInt32);
  if (call.spec(0).dtype != DType::kUInt32 && !to_integers) return RunTyped(call, {}, 0);
  const Result<DType> dtype = to_integers ? DType::kUInt32 : call.OutputType(0);
  if (!dtype.ok()) return dtype.status();
  if (*dtype == call.spec(0).dtype) {
    return OutputOf(Composition(call).Run("to_layout", {call.input(0)}));
  }
  return ConvertIntegers(call, *dtype);
}
Outputs RunWhere(const Call& call) { return RunTyped(call, {.combine = ops::Combine::kWhere}, 1); }

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

Result<ChainSteps> ActivationOf(const Call& call) {
  const auto& name = call.attribute<std::string>("activation");
  if (name.empty()) return ChainSteps();
  if (std::optional<ChainSteps> steps = StepsOf(name)) return *std::move(steps);
  return call.Error("activation", "is \"" + name + "\", which is no function of one tensor");
}

void AddEltwiseOperations(std::vector<Operation>* operations) {
  const auto add = [operations](OperationInfo info, auto run) {
    operations->push_back({std::move(info), run});
  };
  for (const UnaryEntry& entry : kUnary) {
    add({entry.name, {{"x"}}, {DTypeAttribute()}, entry.doc}, RunUnary);
  }
  for (const BinaryEntry& entry : kBinary) {
    add({entry.name, {{"a"}, {"b"}}, {ActivationAttribute(), DTypeAttribute()}, entry.doc},
        entry.run);
  }
  add({"add_scalar",
       {{"x"}},
       {{"scalar", 0.0, "the number to add"}, DTypeAttribute()},
       "Each element plus a number."},
      RunScalar<ops::Unary::kAddScalar>);
  add({"multiply_scalar",
       {{"x"}},
       {{"scalar", 1.0, "the factor"}, DTypeAttribute()},
       "Each element times a number."},
      RunScalar<ops::Unary::kMultiplyScalar>);
  add({"clamp",
       {{"x"}},
       {{"low", -kInfinity, "least result"},
        {"high", kInfinity, "greatest result"},
        DTypeAttribute()},
       "Each element, but at least low and at most high."},
      RunClamp);
  add({"typecast",
       {{"x"}},
       {{"dtype", std::string(), "of the output: bfloat16, float32, bfp8 or uint32"}},
       "The same elements in another type."},
      RunTypecast);
  add({"where",
       {{"condition"}, {"a"}, {"b"}},
       {DTypeAttribute()},
       "a where condition is not 0, else b."},
      RunWhere);
}

}  // namespace ttfd::tensor
