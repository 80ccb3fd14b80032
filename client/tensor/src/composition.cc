// Steps of operations that are made of several launches.
#include "client/tensor/src/composition.h"

#include <optional>
#include <string>
#include <utility>

#include "client/tensor/src/broadcast.h"

namespace ttfd::tensor {
namespace {

// A call of an operation that the table does not have.
Result<Call> StepOf(const OperationInfo& info, const std::vector<Tensor>& inputs) {
  return Call::Make(info, inputs, {});
}

OperationInfo StepInfo(std::string_view name) {
  return {name, {{.name = "input", .repeated = true}}, {}, {}};
}

Tensor FirstOf(Result<std::vector<Tensor>> outputs) {
  return outputs.ok() ? std::move(outputs->front()) : Tensor(outputs.status());
}

}  // namespace

Tensor Composition::Compute(ops::Combine combine, const std::vector<Tensor>& inputs,
                            ChainSteps chain, DType dtype) const {
  const OperationInfo info = StepInfo(name_);
  const Result<Call> call = StepOf(info, inputs);
  if (!call.ok()) return call.status();
  const std::vector<TensorSpec> specs = call->specs();
  std::vector<Shape> shapes;
  for (const TensorSpec& spec : specs) shapes.push_back(spec.shape);
  std::optional<Shape> shape = BroadcastShape(shapes);
  if (!shape) return call->InputError(1, "it cannot be broadcast with " + shapes[0].ToString());
  const TensorSpec output = {*std::move(shape), dtype, Layout::kTile};
  const EltwiseOperation operation = {combine, std::move(chain)};
  return FirstOf(call->Run(output, LowerEltwise(operation, specs, output, call->limits())));
}

Tensor Composition::Move(const std::vector<Tensor>& inputs, const TensorSpec& output,
                         const MoveOperation& operation) const {
  const OperationInfo info = StepInfo(name_);
  const Result<Call> call = StepOf(info, inputs);
  if (!call.ok()) return call.status();
  return FirstOf(call->Run(output, LowerMove(operation, call->specs(), output, call->limits())));
}

Tensor Composition::Reshape(const Tensor& x, const Shape& shape) const {
  if (!x.ok() || x.shape() == shape) return x;
  return Run("reshape", {x},
             {{"shape", std::vector<int64_t>(shape.extents().begin(), shape.extents().end())}});
}

Tensor Composition::BroadcastTo(const Tensor& x, const Shape& shape) const {
  if (!x.ok() || x.shape() == shape) return x;
  std::vector<uint32_t> extents(shape.rank() - x.shape().rank(), 1);
  for (const uint32_t extent : x.shape().extents()) extents.push_back(extent);
  std::vector<int64_t> repeats;
  for (size_t d = 0; d < shape.rank(); ++d) repeats.push_back(shape[d] / extents[d]);
  return Run("repeat", {Reshape(x, Shape(std::move(extents)))}, {{"repeats", repeats}});
}

MoveSource WholeSource(uint32_t i, const Shape& output, const std::vector<uint64_t>& strides) {
  MoveSource source = {.input = i};
  for (size_t d = 0; d < output.rank(); ++d) source.levels.push_back({0, output[d], strides[d]});
  return source;
}

std::vector<uint32_t> ExtentsOf(const Shape& shape) {
  return {shape.extents().begin(), shape.extents().end()};
}

std::string ListText(const std::vector<int64_t>& numbers) {
  std::string text = "[";
  for (const int64_t number : numbers) {
    text += (text.size() == 1 ? "" : ", ") + std::to_string(number);
  }
  return text + "]";
}

}  // namespace ttfd::tensor
