// One run of a program.
#include "client/ttmlir/src/execution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ttfd::ttmlir {
namespace {

using client::Code;
using client::Result;
using client::Status;
using tensor::DType;
using tensor::Tensor;
using tensor::TensorSpec;

constexpr uint64_t kMaxHostElements = uint64_t{1}
                                      << 28;  // of a constant, in the memory of the client

Tensor Applied(std::string_view operation, const Tensor& input, tensor::Attributes attributes) {
  return tensor::Apply(operation, std::span(&input, 1), attributes).front();
}

// Modulo 2^32; 0 of what no integer of 64 bits is.
uint32_t BitsOf(double number) {
  constexpr double kLimit = 9.2e18;
  const bool fits = number > -kLimit && number < kLimit;
  return fits ? static_cast<uint32_t>(static_cast<int64_t>(number)) : 0;
}

std::vector<int64_t> ExtentsOf(const TensorSpec& spec) {
  const auto extents = spec.shape.extents();
  return {extents.begin(), extents.end()};
}

// The elements, of 4 bytes each.
Status ReadWords(const Tensor& tensor, std::vector<uint32_t>* words) {
  words->resize(tensor.shape().elements());
  if (tensor.dtype() == DType::kUInt32) return tensor.ToHost(std::span(*words));
  std::vector<float> numbers(words->size());
  if (Status status = tensor.ToHost(std::span(numbers)); !status.ok()) return status;
  std::memcpy(words->data(), numbers.data(), words->size() * sizeof(uint32_t));
  return Status();
}

}  // namespace

Tensor Execution::FromWords(const std::vector<uint32_t>& words, const TensorSpec& spec) {
  if (spec.dtype == DType::kUInt32) return card_.FromHost(words, spec.shape, spec.layout);
  std::vector<float> numbers(words.size());
  std::memcpy(numbers.data(), words.data(), words.size() * sizeof(uint32_t));
  return card_.FromHost(numbers, spec.shape, spec.dtype, spec.layout);
}

Tensor Execution::FromNumbers(const std::vector<double>& numbers, const TensorSpec& spec) {
  if (spec.dtype == DType::kUInt32) {
    std::vector<uint32_t> integers(numbers.size());
    std::transform(numbers.begin(), numbers.end(), integers.begin(), BitsOf);
    return card_.FromHost(integers, spec.shape, spec.layout);
  }
  const std::vector<float> floats(numbers.begin(), numbers.end());
  return card_.FromHost(floats, spec.shape, spec.dtype, spec.layout);
}

Tensor Execution::Settled(Tensor made, const TensorSpec& spec) {
  if (!made.ok()) return made;
  if (made.shape() != spec.shape) {
    if (made.shape().elements() != spec.shape.elements()) {
      return Status(Code::kInvalidArgument, fmt::format("the result is {}, and the file says {}",
                                                        made.spec().ToString(), spec.ToString()));
    }
    const auto extents = spec.shape.extents();
    made =
        Applied("reshape", made, {{"shape", std::vector<int64_t>(extents.begin(), extents.end())}});
  }
  const auto relaid = [&made](tensor::Layout layout) {
    if (!made.ok() || made.layout() == layout) return;
    made = Applied("to_layout", made, {{"layout", std::string(tensor::LayoutName(layout))}});
  };
  if (made.ok() && made.dtype() != spec.dtype) {
    relaid(tensor::Layout::kTile);
    if (!made.ok()) return made;
    made = Applied("typecast", made, {{"dtype", std::string(tensor::DTypeName(spec.dtype))}});
  }
  relaid(spec.layout);
  return made;
}

Status Execution::Define(const Value& value, const Tensor& made) {
  Tensor tensor = Settled(made, value.spec);
  Status status = tensor.status();
  tensors_[value.id] = std::move(tensor);
  return status;
}

Status Execution::DefineConstant(const Value& value, const std::vector<double>& numbers) {
  const Tensor constant = FromNumbers(numbers, value.spec);
  return Define(value, card_.IsRecording() ? CopyOf(constant) : constant);
}

Status Execution::Do(const CallStep& step) {
  std::vector<Tensor> inputs;
  for (const uint64_t id : step.inputs) inputs.push_back(tensors_[id]);
  const std::vector<Tensor> made = tensor::Apply(step.operation, inputs, step.attributes);
  if (!made.front().ok()) return made.front().status();
  for (size_t i = 0; i < step.results.size(); ++i) {
    if (i >= made.size()) return Status(Code::kInternal, step.operation + " has fewer results");
    if (Status status = Define(step.results[i], made[i]); !status.ok()) return status;
  }
  return Status();
}

Status Execution::Do(const CopyStep& step) { return Define(step.result, tensors_[step.input]); }

Status Execution::Do(const FillStep& step) {
  const uint64_t elements = step.result.spec.shape.elements();
  if (elements > kMaxHostElements) {
    return Status(
        Code::kResourceExhausted,
        fmt::format("a constant of {} elements; at most {} are made", elements, kMaxHostElements));
  }
  std::vector<double> numbers(elements);
  for (uint64_t i = 0; i < elements; ++i) {
    numbers[i] = step.first + step.step * static_cast<double>(i);
  }
  return DefineConstant(step.result, numbers);
}

Status Execution::Do(const DataStep& step) {
  std::vector<double> numbers(step.result.spec.shape.elements());
  for (uint64_t i = 0; i < numbers.size(); ++i) numbers[i] = ElementOf(step.type, step.bytes, i);
  return DefineConstant(step.result, numbers);
}

Status Execution::Do(const FreeStep& step) {
  tensors_.erase(step.id);
  return Status();
}

Status Execution::Do(const ProgramStep& step) {
  std::vector<Tensor> inputs;
  for (const Value& input : step.inputs) inputs.push_back(tensors_[input.id]);
  const SessionKey session = SessionKeyOf(card_);
  // Results of a recording change with each replay.
  const bool cached = step.cached && !card_.IsRecording();
  std::vector<Tensor> results;
  if (cached) results = executable_.Cached(session, step.program, inputs);
  if (results.empty()) {
    Result<std::vector<Tensor>> made =
        Execution(card_, executable_, step.program, options_).Run(inputs);
    if (!made.ok()) {
      return Status(made.status().code(),
                    fmt::format("program {}: {}", executable_.plans()[step.program].name,
                                made.status().message()));
    }
    results = *std::move(made);
    if (cached) executable_.Keep(session, step.program, inputs, results);
  }
  for (size_t i = 0; i < step.results.size(); ++i) {
    if (Status status = Define(step.results[i], results[i]); !status.ok()) return status;
  }
  return Status();
}

Status Execution::Do(const TraceStep& step) {
  const auto call = [this, &step](TensorsById* tensors) {
    Execution called(card_, executable_, program_, options_);
    called.tensors_ = *tensors;
    Status status = called.Do(step.call);
    for (const Value& result : step.results) (*tensors)[result.id] = called.tensors_[result.id];
    return status;
  };
  TensorsById tensors;
  for (const Value& input : step.inputs) tensors[input.id] = tensors_[input.id];
  // Golden tensors are compared while the program runs, and a recording cannot have another one.
  Status status(Code::kFailedPrecondition, "");
  if (options_.on_golden == nullptr && !card_.IsRecording()) {
    status = executable_.TraceOf(step)->Run(card_, step, call, &tensors);
  }
  if (status.code() == Code::kFailedPrecondition) {
    for (const Value& slot : step.slots) {
      if (status = Do(FillStep{0, 0, slot}); !status.ok()) return status;
      tensors[slot.id] = tensors_[slot.id];
    }
    status = call(&tensors);
  }
  for (size_t i = 0; status.ok() && i < step.results.size(); ++i) {
    status = Define(step.results[i], tensors[step.results[i].id]);
  }
  return status;
}

Status Execution::Do(const NativeStep& step) {
  std::vector<NativeArray> inputs;
  for (const uint64_t id : step.inputs) {
    NativeArray array = {ExtentsOf(tensors_[id].spec()), {}};
    if (Status status = ReadWords(tensors_[id], &array.words); !status.ok()) return status;
    inputs.push_back(std::move(array));
  }
  std::vector<NativeArray> outputs;
  for (const Value& result : step.results) outputs.push_back({ExtentsOf(result.spec), {}});
  const NativeLimits limits = {options_.native_time, options_.native_memory_bytes};
  Status status = CallNative(step.function, inputs, &outputs, limits);
  for (size_t i = 0; status.ok() && i < outputs.size(); ++i) {
    status = Define(step.results[i], FromWords(outputs[i].words, step.results[i].spec));
  }
  return status;
}

std::optional<Value> Execution::ResultOf(const PlannedOperation& operation) const {
  for (auto step = operation.steps.rbegin(); step != operation.steps.rend(); ++step) {
    const std::vector<Value> values = DefinedBy(*step);
    if (!values.empty() && tensors_.contains(values.front().id)) return values.front();
  }
  return std::nullopt;
}

Status Execution::CheckGolden(std::string_view key, const std::string& name, const Value& value,
                              const Tensor& made) {
  const std::optional<GoldenTensor> golden = executable_.Golden(program_, key);
  if (!golden || golden->numbers.size() != made.shape().elements()) return Status();
  std::vector<float> numbers(golden->numbers.size());
  if (made.dtype() == DType::kUInt32) {
    std::vector<uint32_t> integers(numbers.size());
    if (Status status = made.ToHost(std::span(integers)); !status.ok()) return status;
    std::transform(integers.begin(), integers.end(), numbers.begin(), [&value](uint32_t integer) {
      return value.is_signed ? static_cast<float>(static_cast<int32_t>(integer))
                             : static_cast<float>(integer);
    });
  } else if (Status status = made.ToHost(std::span(numbers)); !status.ok()) {
    return status;
  }
  const Closeness closeness = ClosenessOf(numbers, golden->numbers);
  options_.on_golden({name, closeness.correlation, closeness.relative_error});
  return Status();
}

Result<std::vector<Tensor>> Execution::Run(std::span<const Tensor> inputs) {
  for (size_t i = 0; i < plan_.inputs.size(); ++i) {
    if (Status status = Define(plan_.inputs[i], inputs[i]); !status.ok()) {
      return Status(status.code(), fmt::format("input {}: {}", i, status.message()));
    }
  }
  for (size_t i = 0; i < plan_.operations.size(); ++i) {
    for (const Step& step : plan_.operations[i].steps) {
      const Status status = std::visit([this](const auto& one) { return Do(one); }, step);
      if (status.ok()) continue;
      return Status(status.code(), fmt::format("{}: {}", NameOf(plan_, i), status.message()));
    }
    const std::optional<Value> made = ResultOf(plan_.operations[i]);
    if (!made || options_.on_golden == nullptr) continue;
    Status status =
        CheckGolden(plan_.operations[i].key, NameOf(plan_, i), *made, tensors_[made->id]);
    if (!status.ok()) return status;
  }
  std::vector<Tensor> outputs;
  for (const Value& output : plan_.outputs) {
    Tensor tensor = Settled(tensors_[output.id], output.spec);
    const std::string number = std::to_string(outputs.size());
    if (!tensor.ok()) {
      return Status(tensor.status().code(),
                    fmt::format("output {}: {}", number, tensor.status().message()));
    }
    outputs.push_back(std::move(tensor));
    if (options_.on_golden == nullptr) continue;
    Status status = CheckGolden("output_" + number, "output " + number, output, outputs.back());
    if (!status.ok()) return status;
  }
  return outputs;
}

}  // namespace ttfd::ttmlir
