// Operations of the table on integers.
#include "client/tensor/src/integer_operations.h"

#include <optional>
#include <string>
#include <utility>

#include "client/tensor/src/broadcast.h"
#include "client/tensor/src/composition.h"
#include "client/tensor/src/operations.h"

namespace ttfd::tensor {
namespace {

using Outputs = Result<std::vector<Tensor>>;
using ops::IntegerFunction;

// `inputs` have the shape of `output`; all are in layout row-major.
Lowering LowerIntegers(uint32_t function, std::span<const TensorSpec> inputs,
                       const TensorSpec& output, const CardLimits& limits) {
  constexpr uint32_t kPages = ops::kIntegerInputs + 2;  // the output, and one for the alignment
  ops::Integers words = {};
  words.function = function;
  words.columns = output.shape.columns();
  words.chunks = (words.columns - 1) / ops::kIntegerChunk + 1;
  words.inputs = static_cast<uint32_t>(inputs.size());
  words.output.unit_bytes = ElementBytes(output.dtype);
  KernelWords kernel;
  for (uint32_t i = 0; i < words.inputs; ++i) {
    words.input[i].unit_bytes = ElementBytes(inputs[i].dtype);
    const size_t offset = offsetof(ops::Integers, input) + i * sizeof(ops::Integers::Operand);
    kernel.addresses.push_back({WordOf(offset), i});
  }
  kernel.addresses.push_back({WordOf(offsetof(ops::Integers, output)), Lowering::kOutput});
  kernel.words = WordsOf(words);
  Lowering lowering = {.family = Family::kIntegers};
  lowering.circular_buffers = {{0, kPages, FormatOf(DType::kUInt32)}};
  lowering.kernels = {std::move(kernel)};
  Divide(output.shape.elements() / words.columns * words.chunks, 1, limits, &lowering);
  return lowering;
}

Tensor InLayout(const Composition& steps, const Tensor& x, Layout layout) {
  if (!x.ok() || x.layout() == layout) return x;
  return steps.Run("to_layout", {x}, {{"layout", std::string(LayoutName(layout))}});
}

// `inputs` have one shape and layout row-major.
Tensor Calculate(const Call& call, uint32_t function, const std::vector<Tensor>& inputs,
                 DType dtype) {
  const OperationInfo info = {call.name(), {{.name = "input", .repeated = true}}, {}, {}};
  const Result<Call> step = Call::Make(info, inputs, {});
  if (!step.ok()) return step.status();
  const TensorSpec output = {inputs[0].shape(), dtype, Layout::kRowMajor};
  Result<std::vector<Tensor>> outputs =
      step->Run(output, LowerIntegers(function, step->specs(), output, call.limits()));
  return outputs.ok() ? std::move(outputs->front()) : Tensor(outputs.status());
}

Outputs RunFunctionOfIntegers(const Call& call, uint32_t function) {
  std::optional<Shape> shape = call.spec(0).shape;
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (call.spec(i).dtype != DType::kUInt32) return call.InputError(i, "the dtype must be uint32");
    const Shape pair[] = {*shape, call.spec(i).shape};
    shape = BroadcastShape(pair);
    if (!shape) return call.InputError(i, "it cannot be broadcast with " + pair[0].ToString());
  }
  const Composition steps(call);
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < call.inputs(); ++i) {
    inputs.push_back(steps.BroadcastTo(InLayout(steps, call.input(i), Layout::kRowMajor), *shape));
  }
  const Tensor result = Calculate(call, function, inputs, DType::kUInt32);
  return OutputOf(InLayout(steps, result, call.spec(0).layout));
}

template <IntegerFunction kFunction>
Outputs RunBits(const Call& call) {
  return RunFunctionOfIntegers(call, static_cast<uint32_t>(kFunction));
}

}  // namespace

bool AreIntegers(const Call& call) {
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (call.spec(i).dtype != DType::kUInt32) return false;
  }
  return true;
}

Outputs RunIntegers(const Call& call, ops::Combine function) {
  for (const char* const name : {"activation", "dtype"}) {
    const auto& given = call.attribute<std::string>(name);
    if (given.empty() || given == DTypeName(DType::kUInt32)) continue;
    return call.Error(name, "is \"" + given + "\"; of uint32 it must be empty");
  }
  return RunFunctionOfIntegers(call, static_cast<uint32_t>(function));
}

Outputs ConvertIntegers(const Call& call, DType dtype) {
  const TensorSpec& x = call.spec(0);
  const Composition steps(call);
  const auto moved = [](DType of) { return of == DType::kBfp8 ? DType::kBFloat16 : of; };
  IntegerFunction function =
      moved(dtype) == DType::kBFloat16 ? IntegerFunction::kToBFloat16 : IntegerFunction::kToFloat32;
  if (dtype == DType::kUInt32) {
    function = moved(x.dtype) == DType::kBFloat16 ? IntegerFunction::kFromBFloat16
                                                  : IntegerFunction::kFromFloat32;
  }
  const Tensor input =
      x.dtype == DType::kBfp8 ? steps.Compute(call.input(0), {}, DType::kBFloat16) : call.input(0);
  const Tensor rows = InLayout(steps, input, Layout::kRowMajor);
  if (!rows.ok()) return rows.status();
  const Layout layout = dtype == DType::kBfp8 ? Layout::kTile : x.layout;
  const Tensor result = InLayout(
      steps, Calculate(call, static_cast<uint32_t>(function), {rows}, moved(dtype)), layout);
  return OutputOf(dtype == DType::kBfp8 ? steps.Compute(result, {}, dtype) : result);
}

void AddIntegerOperations(std::vector<Operation>* operations) {
  const auto add = [operations](std::string_view name, std::vector<OperationInfo::Argument> inputs,
                                auto run, std::string_view doc) {
    operations->push_back({{name, std::move(inputs), {}, doc}, run});
  };
  add("bitwise_and", {{"a"}, {"b"}}, RunBits<IntegerFunction::kAnd>,
      "Bits that a and b have, of uint32.");
  add("bitwise_or", {{"a"}, {"b"}}, RunBits<IntegerFunction::kOr>,
      "Bits that a or b has, of uint32.");
  add("bitwise_xor", {{"a"}, {"b"}}, RunBits<IntegerFunction::kXor>,
      "Bits that one of a and b has, of uint32.");
  add("bitwise_not", {{"x"}}, RunBits<IntegerFunction::kNot>, "Bits that x has not, of uint32.");
  add("logical_left_shift", {{"a"}, {"b"}}, RunBits<IntegerFunction::kShiftLeft>,
      "a times 2 to the power of b, modulo 2^32, of uint32.");
  add("logical_right_shift", {{"a"}, {"b"}}, RunBits<IntegerFunction::kShiftRight>,
      "a divided by 2 to the power of b, rounded down, of uint32.");
}

}  // namespace ttfd::tensor
