// Checks of calls that do not depend on the operation.
#include "client/tensor/src/call.h"

#include <algorithm>
#include <array>

#include "client/tensor/src/card_state.h"
#include "client/tensor/src/error.h"

namespace ttfd::tensor {
namespace {

// `given` as the type of `standard`: an integer is a number, too.
std::optional<Attribute> AsType(const Attribute& given, const Attribute& standard) {
  if (given.index() == standard.index()) return given;
  if (std::holds_alternative<int64_t>(given) && std::holds_alternative<double>(standard)) {
    return static_cast<double>(std::get<int64_t>(given));
  }
  return std::nullopt;
}

std::string CountOf(size_t number, const char* what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

// False: it is made by a recording that has not run, and used outside of it.
bool HasContent(const Allocation& allocation) {
  const RecordingMemory* const memory = allocation.recording().get();
  return memory == nullptr || memory->has_run || allocation.card()->RecordsInto(memory);
}

}  // namespace

Status Call::Error(std::string_view argument, const std::string& message) const {
  return Invalid(std::string(argument),
                 std::string(info_.name) + ": " + std::string(argument) + " " + message);
}

Status Call::InputError(size_t i, const std::string& rule) const {
  return Error(NameOf(i), "is " + spec(i).ToString() + "; " + rule);
}

Result<Call> Call::Make(const OperationInfo& info, std::span<const Tensor> inputs,
                        const Attributes& attributes) {
  Call call(info, inputs);
  const auto required = static_cast<size_t>(std::count_if(
      info.inputs.begin(), info.inputs.end(), [](const auto& input) { return !input.optional; }));
  const bool is_repeated = info.inputs.back().repeated;
  if (inputs.size() < required || (inputs.size() > info.inputs.size() && !is_repeated)) {
    const size_t limit = inputs.size() < required ? required : info.inputs.size();
    return Invalid("inputs", std::string(info.name) + ": has " + CountOf(limit, "input") +
                                 (inputs.size() < required ? " at least, not " : " at most, not ") +
                                 std::to_string(inputs.size()));
  }
  for (const Tensor& input : inputs) {
    if (!input.ok()) return input.status();
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string_view name = call.NameOf(i);
    std::shared_ptr<Allocation> allocation = inputs[i].storage()->allocation();
    if (allocation == nullptr) return call.Error(name, "is deallocated");
    if (i != 0 && allocation->card() != call.allocations_[0]->card()) {
      return call.Error(name, "is on another card than " + std::string(info.inputs[0].name) +
                                  "; all inputs have the same");
    }
    if (!HasContent(*allocation)) {
      return call.Error(name, "is made by a recording that has not been replayed");
    }
    call.allocations_.push_back(std::move(allocation));
  }
  for (const auto& attribute : info.attributes) {
    call.attributes_.emplace(attribute.name, attribute.standard);
  }
  for (const auto& [name, value] : attributes) {
    const auto known = call.attributes_.find(name);
    if (known == call.attributes_.end()) return call.Error(name, "is no attribute");
    std::optional<Attribute> typed = AsType(value, known->second);
    if (!typed) {
      return call.Error(name, std::string("is a ") + TypeName(value) + "; it must be a " +
                                  TypeName(known->second));
    }
    known->second = *std::move(typed);
  }
  return call;
}

std::vector<TensorSpec> Call::specs() const {
  std::vector<TensorSpec> specs;
  for (const Tensor& input : inputs_) specs.push_back(input.spec());
  return specs;
}

Result<DType> Call::OutputType(size_t i) const {
  const auto& name = attribute<std::string>("dtype");
  if (name.empty()) return spec(i).dtype;
  for (const DType dtype : kDTypes) {
    if (name == DTypeName(dtype) && dtype != DType::kUInt32) return dtype;
  }
  return Error("dtype", "is \"" + name + "\"; it must be bfloat16, float32 or bfp8");
}

Status Call::RequireTiles() const {
  for (size_t i = 0; i < inputs(); ++i) {
    if (Status status = RequireTiles(i); !status.ok()) return status;
  }
  return Status();
}

Status Call::RequireTiles(size_t i) const {
  if (spec(i).layout != Layout::kTile) return InputError(i, "the layout must be tile");
  if (spec(i).dtype == DType::kUInt32) {
    return InputError(i, "the dtype must be bfloat16, float32 or bfp8");
  }
  return Status();
}

const CardLimits& Call::limits() const { return allocations_[0]->card()->limits(); }

Status Call::Check(const TensorSpec& output, const Result<Lowering>& lowering) const {
  Status status = output.Check();
  if (status.ok()) status = lowering.status();
  if (status.ok()) status = lowering->Check(limits());
  return status.ok() ? status : Error("output", "cannot be made: " + status.message());
}

Result<std::vector<Tensor>> Call::RunInPlace(size_t i, const Result<Lowering>& lowering) const {
  if (Status status = Check(spec(i), lowering); !status.ok()) return status;
  const Status status = allocations_[0]->card()->Launch(name(), *lowering, allocations_,
                                                        *allocations_[i], inputs_[i].storage());
  if (!status.ok()) return status;
  inputs_[i].storage()->NoteChange();
  return std::vector<Tensor>{inputs_[i]};
}

Result<std::vector<Tensor>> Call::Run(const TensorSpec& output,
                                      const Result<Lowering>& lowering) const {
  Status status = Check(output, lowering);
  if (!status.ok()) return status;

  CardState& card = *allocations_[0]->card();
  Result<std::shared_ptr<Allocation>> allocation = card.AllocateForOutput(output);
  if (!allocation.ok()) return allocation.status();
  auto storage = std::make_shared<Storage>(*allocation);
  status = card.Launch(name(), *lowering, allocations_, **allocation, storage);
  if (!status.ok()) return status;
  std::vector<Tensor> outputs;
  outputs.emplace_back(output, std::move(storage));
  return outputs;
}

Result<std::vector<Tensor>> Call::RunAll(std::span<const TensorSpec> outputs,
                                         std::span<const Result<Lowering>> lowerings) const {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (Status status = Check(outputs[i], lowerings[i]); !status.ok()) return status;
  }
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < outputs.size(); ++i) {
    Result<std::vector<Tensor>> output = Run(outputs[i], lowerings[i]);
    if (!output.ok()) return output;
    tensors.push_back(std::move(output->front()));
  }
  return tensors;
}

}  // namespace ttfd::tensor
