// Plans of functions of integers. The table's are unsigned: the sign of those of the file is taken into account here.
#include "client/ttmlir/src/plan_integers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ttfd::ttmlir {
namespace {

using tensor::DType;
using tensor::Shape;
using tensor::TensorSpec;

// Functions that do not depend on the sign, and those that compare.
constexpr std::array<std::string_view, 11> kModular = {
    "add",         "subtract",           "multiply",           "eq",
    "ne",          "bitwise_and",        "bitwise_or",         "bitwise_xor",
    "bitwise_not", "logical_left_shift", "logical_right_shift"};
constexpr std::array<std::string_view, 6> kOrdered = {"ge", "gt", "le", "lt", "maximum", "minimum"};

template <size_t size>
bool Has(const std::array<std::string_view, size>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TensorSpec IntegersOf(const Planner& p, uint64_t like) {
  return {.shape = p.spec(like).shape, .dtype = DType::kUInt32, .layout = p.spec(like).layout};
}

uint64_t Constant(Planner& p, const TensorSpec& spec, uint32_t number) {
  const Value value = p.Temporary(spec);
  p.Add(FillStep{static_cast<double>(number), 0, value});
  return value.id;
}

uint64_t Call(Planner& p, std::string_view operation, const std::vector<uint64_t>& inputs,
              const TensorSpec& spec) {
  const Value value = p.Temporary(spec);
  p.Move(operation, inputs, value);
  return value.id;
}

// The shape of a function of both, whose extents are equal or 1.
Shape BothOf(const Shape& a, const Shape& b) {
  const auto& longer = a.rank() < b.rank() ? b : a;
  const auto& shorter = a.rank() < b.rank() ? a : b;
  std::vector<uint32_t> extents(longer.extents().begin(), longer.extents().end());
  for (size_t i = 0; i < shorter.rank(); ++i) {
    uint32_t& extent = extents[extents.size() - shorter.rank() + i];
    extent = std::max(extent, shorter.extents()[i]);
  }
  return Shape(std::move(extents));
}

// A function of the bits of two tensors of integers.
uint64_t Bits(Planner& p, std::string_view operation, uint64_t a, uint64_t b) {
  TensorSpec spec = IntegersOf(p, a);
  spec.shape = BothOf(spec.shape, p.spec(b).shape);
  return Call(p, operation, {a, b}, spec);
}

// Negative numbers become less than others: the sign bit inverted.
uint64_t Biased(Planner& p, uint64_t input) {
  const TensorSpec spec = IntegersOf(p, input);
  return Call(p, "bitwise_xor", {input, Constant(p, spec, 0x80000000)}, spec);
}

uint64_t Negated(Planner& p, uint64_t input) {
  const TensorSpec spec = IntegersOf(p, input);
  return Call(p, "subtract", {Constant(p, spec, 0), input}, spec);
}

}  // namespace

bool AreIntegers(const Planner& p, const std::vector<uint64_t>& inputs) {
  return !inputs.empty() && std::all_of(inputs.begin(), inputs.end(), [&p](uint64_t id) {
    return p.spec(id).dtype == DType::kUInt32;
  });
}

void PlanOfIntegers(Planner& p, std::string_view operation, std::vector<uint64_t> inputs,
                    const Value& output) {
  const bool is_signed =
      std::any_of(inputs.begin(), inputs.end(), [&p](uint64_t id) { return p.IsSigned(id); });
  const bool is_ordered = Has(kOrdered, operation);
  if (operation == "neg" && inputs.size() == 1) {
    const uint64_t negated = Negated(p, inputs[0]);
    p.Define({negated, p.spec(negated), /*is_signed=*/true});
    return p.Copy(negated, output);
  }
  if (!is_ordered && !Has(kModular, operation)) {
    return p.Fail(fmt::format("{} of integers is not supported", operation));
  }
  if (is_ordered && is_signed) {
    for (uint64_t& input : inputs) input = Biased(p, input);
  }
  const TensorSpec spec = {
      .shape = output.spec.shape, .dtype = DType::kUInt32, .layout = p.spec(inputs[0]).layout};
  uint64_t made = Call(p, operation, inputs, spec);
  const bool selects = operation == "maximum" || operation == "minimum";
  if (selects && is_signed) made = Biased(p, made);
  const Value result = {
      made, spec, is_signed && operation != "eq" && operation != "ne" && (selects || !is_ordered)};
  p.Define(result);
  p.Copy(made, output);
}

uint64_t NotZero(Planner& p, uint64_t input) {
  TensorSpec spec = IntegersOf(p, input);
  if (p.spec(input).dtype == DType::kUInt32) {
    return Call(p, "ne", {input, Constant(p, spec, 0)}, spec);
  }
  TensorSpec numbers = {.shape = spec.shape, .dtype = DType::kFloat32};
  const Value zeros = p.Temporary(numbers);
  p.Add(FillStep{0, 0, zeros});
  const Value found = p.Temporary(numbers);
  p.Compute("ne", {input, zeros.id}, found);
  const Value integers = p.Temporary(spec);
  p.Copy(found.id, integers);
  return integers.id;
}

void PlanWhereOfIntegers(Planner& p, const std::vector<uint64_t>& inputs, const Value& output) {
  // All bits, or none.
  const uint64_t chosen = Negated(p, NotZero(p, inputs[0]));
  const uint64_t others = Call(p, "bitwise_not", {chosen}, p.spec(chosen));
  const uint64_t made = Bits(p, "bitwise_or", Bits(p, "bitwise_and", inputs[1], chosen),
                             Bits(p, "bitwise_and", inputs[2], others));
  p.Define({made, p.spec(made), p.IsSigned(inputs[1]) || p.IsSigned(inputs[2])});
  p.Copy(made, output);
}

void PlanSignedToNumbers(Planner& p, uint64_t input, const Value& output) {
  const TensorSpec integers = IntegersOf(p, input);
  const TensorSpec numbers = {.shape = integers.shape, .dtype = DType::kFloat32};
  const auto converted = [&](uint64_t id) {
    const Value value = p.Temporary(numbers);
    p.Add(CopyStep{id, value});
    return value.id;
  };
  const uint64_t sign =
      Call(p, "logical_right_shift", {input, Constant(p, integers, 31)}, integers);
  const uint64_t negative = Call(p, "neg", {converted(Negated(p, input))}, numbers);
  const std::vector<uint64_t> choice = {converted(sign), negative, converted(input)};
  const uint64_t made = Call(p, "where", choice, numbers);
  p.Copy(made, output);
}

}  // namespace ttfd::ttmlir
