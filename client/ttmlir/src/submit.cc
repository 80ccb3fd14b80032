// Programs of TTNN files run on a card.
#include "ttfd/ttmlir/submit.h"

#include <fmt/format.h>

#include "client/ttmlir/src/execution.h"
#include "client/ttmlir/src/python_text.h"

namespace ttfd::ttmlir {
namespace {

using client::Code;
using client::Result;
using client::Status;
using tensor::Tensor;

Status CheckInputs(const Plan& plan, std::span<const Tensor> inputs) {
  if (inputs.size() != plan.inputs.size()) {
    return Status(Code::kInvalidArgument, fmt::format("it has {} inputs, and {} are given",
                                                      plan.inputs.size(), inputs.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].ok()) return inputs[i].status();
    const tensor::TensorSpec& wanted = plan.inputs[i].spec;
    const bool is_integer = inputs[i].dtype() == tensor::DType::kUInt32;
    const bool fits =
        inputs[i].shape() == wanted.shape && is_integer == (wanted.dtype == tensor::DType::kUInt32);
    if (!fits || (plan.changes[i] && inputs[i].spec() != wanted)) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("input {} is {}; the program has {}{}", i, inputs[i].spec().ToString(),
                      wanted.ToString(), fits ? ", and changes it in place" : ""));
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

// The file's plans, if the program can run.
Result<std::shared_ptr<Executable>> Runnable(const Binary& binary, size_t program,
                                             const SubmitOptions& options) {
  std::shared_ptr<Executable> executable = ExecutableOf(binary);
  if (executable == nullptr) {
    return Status(Code::kUnimplemented, fmt::format("{}: only TTNN files run, and its kind is {}",
                                                    binary.path(), KindName(binary.kind())));
  }
  if (program >= executable->plans().size()) {
    return Status(Code::kOutOfRange,
                  fmt::format("{}: there is no program {}, but {}", binary.path(), program,
                              executable->plans().size()));
  }
  const Status status = CheckProblems(executable->ProblemsOf(program, options.allow_native));
  if (!status.ok()) return InProgram(binary, program, status);
  return executable;
}

}  // namespace

std::vector<Problem> ProblemsOf(const Binary& binary, size_t program,
                                const SubmitOptions& options) {
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
  return Runnable(binary, program, options).status();
}

Result<std::string> PythonOf(const Binary& binary, size_t program) {
  const auto executable = Runnable(binary, program, {});
  if (!executable.ok()) return executable.status();
  return PythonText(**executable, binary.programs(), program);
}

Result<std::vector<Tensor>> Submit(tensor::Card& card, const Binary& binary, size_t program,
                                   std::span<const Tensor> inputs, const SubmitOptions& options) {
  const auto executable = Runnable(binary, program, options);
  if (!executable.ok()) return executable.status();
  const Status status = CheckInputs((*executable)->plans()[program], inputs);
  Result<std::vector<Tensor>> outputs =
      status.ok() ? Execution(card, **executable, program, options).Run(inputs) : status;
  if (!outputs.ok()) return InProgram(binary, program, outputs.status());
  return outputs;
}

}  // namespace ttfd::ttmlir
