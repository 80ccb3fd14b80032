// Programs of TTNN and TTMetal files run on a card.
#include "ttfd/ttmlir/submit.h"

#include <fmt/format.h>

#include "client/ttmlir/src/execution.h"
#include "client/ttmlir/src/metal_execution.h"
#include "client/ttmlir/src/python_text.h"

namespace ttfd::ttmlir {
namespace {

using client::Code;
using client::Result;
using client::Status;
using tensor::Tensor;

struct WantedInput {
  tensor::TensorSpec spec;
  bool is_changed = false;  // in place
};

std::vector<WantedInput> InputsOf(const Plan& plan) {
  std::vector<WantedInput> inputs;
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    inputs.push_back({plan.inputs[i].spec, plan.changes[i]});
  }
  return inputs;
}

std::vector<WantedInput> InputsOf(const MetalPlan& plan) {
  std::vector<WantedInput> inputs;
  for (const MetalArray& input : plan.inputs) inputs.push_back({SpecOf(input.spec)});
  return inputs;
}

Status CheckInputs(const std::vector<WantedInput>& wanted, std::span<const Tensor> inputs) {
  if (inputs.size() != wanted.size()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("it has {} inputs, and {} are given", wanted.size(), inputs.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].ok()) return inputs[i].status();
    const tensor::TensorSpec& spec = wanted[i].spec;
    const bool is_integer = inputs[i].dtype() == tensor::DType::kUInt32;
    const bool fits =
        inputs[i].shape() == spec.shape && is_integer == (spec.dtype == tensor::DType::kUInt32);
    if (!fits || (wanted[i].is_changed && inputs[i].spec() != spec)) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("input {} is {}; the program has {}{}", i, inputs[i].spec().ToString(),
                      spec.ToString(), fits ? ", and changes it in place" : ""));
    }
  }
  return Status();
}

Status CheckProblems(const std::vector<Problem>& problems) {
  if (problems.empty()) return Status();
  return Status(Code::kUnimplemented, problems.size() == 1
                                          ? problems[0].text
                                          : fmt::format("{} operations cannot run; the first: {}",
                                                        problems.size(), problems[0].text));
}

Status InProgram(const Binary& binary, size_t program, const Status& status) {
  return Status(status.code(), fmt::format("{}: program {}: {}", binary.path(),
                                           binary.programs()[program].name, status.message()));
}

Status CheckKind(const Binary& binary, bool fits, const char* kinds) {
  if (fits) return Status();
  return Status(Code::kUnimplemented, fmt::format("{}: only {}, and its kind is {}", binary.path(),
                                                  kinds, KindName(binary.kind())));
}

// The problems of TTMetal programs, which call no others.
std::vector<Problem> ProblemsOf(const MetalPlan& plan, size_t program, bool allow_native) {
  std::vector<Problem> problems;
  for (const std::string& text : plan.problems) problems.push_back({program, std::nullopt, text});
  for (size_t i = 0; i < plan.commands.size(); ++i) {
    std::string problem = plan.commands[i].problem;
    for (const MetalStep& step : plan.commands[i].steps) {
      const auto* const native = std::get_if<NativeCallStep>(&step);
      if (native != nullptr && !allow_native) problem = ProblemOfNative(native->function);
    }
    if (problem.empty()) continue;
    problems.push_back({program, i, fmt::format("{}: {}", NameOf(plan, i), problem)});
  }
  return problems;
}

}  // namespace

std::vector<Problem> ProblemsOf(const Binary& binary, size_t program,
                                const SubmitOptions& options) {
  if (binary.kind() == Kind::kTtMetal && program < binary.programs().size()) {
    return ProblemsOf(MetalPlansOf(binary)[program], program, options.allow_native);
  }
  const std::shared_ptr<Executable> executable = ExecutableOf(binary);
  if (executable == nullptr) return {};
  return executable->ProblemsOf(program, options.allow_native);
}

std::vector<std::vector<float>> GoldenInputs(const Binary& binary, size_t program) {
  const std::shared_ptr<Executable> executable = ExecutableOf(binary);
  if (executable == nullptr || program >= executable->plans().size()) return {};
  std::vector<std::vector<float>> inputs;
  for (const Value& input : executable->plans()[program].inputs) {
    auto golden = executable->Golden(program, "input_" + std::to_string(inputs.size()));
    if (!golden || golden->numbers.size() != input.spec.shape.elements()) return {};
    inputs.push_back(std::move(golden->numbers));
  }
  return inputs;
}

Status CheckRunnable(const Binary& binary, size_t program, const SubmitOptions& options) {
  const bool runs = binary.kind() == Kind::kTtnn || binary.kind() == Kind::kTtMetal;
  if (Status status = CheckKind(binary, runs, "TTNN and TTMetal files run"); !status.ok()) {
    return status;
  }
  if (program >= binary.programs().size()) {
    return Status(Code::kOutOfRange, fmt::format("{}: there is no program {}, but {}",
                                                 binary.path(), program, binary.programs().size()));
  }
  const Status status = CheckProblems(ProblemsOf(binary, program, options));
  return status.ok() ? status : InProgram(binary, program, status);
}

Result<std::string> PythonOf(const Binary& binary, size_t program) {
  Status status = CheckKind(binary, binary.kind() == Kind::kTtnn, "TTNN files become Python");
  if (status.ok()) status = CheckRunnable(binary, program);
  if (!status.ok()) return status;
  return PythonText(*ExecutableOf(binary), binary.programs(), program);
}

Result<std::vector<Tensor>> Submit(tensor::Card& card, const Binary& binary, size_t program,
                                   std::span<const Tensor> inputs, const SubmitOptions& options) {
  Status status = CheckRunnable(binary, program, options);
  if (!status.ok()) return status;
  const auto run = [&]() -> Result<std::vector<Tensor>> {
    if (binary.kind() == Kind::kTtMetal) {
      const MetalPlan& plan = MetalPlansOf(binary)[program];
      status = CheckInputs(InputsOf(plan), inputs);
      if (!status.ok()) return status;
      return MetalExecution(card, plan, options).Run(inputs);
    }
    Executable& executable = *ExecutableOf(binary);
    status = CheckInputs(InputsOf(executable.plans()[program]), inputs);
    if (!status.ok()) return status;
    return Execution(card, executable, program, options).Run(inputs);
  };
  Result<std::vector<Tensor>> outputs = run();
  if (!outputs.ok()) return InProgram(binary, program, outputs.status());
  return outputs;
}

}  // namespace ttfd::ttmlir
