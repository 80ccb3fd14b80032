// The plans of a file.
#include "client/ttmlir/src/executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace ttfd::ttmlir {
namespace {

constexpr int kMaxCalls = 32;  // of programs within programs; the compiler nests two

constexpr uint64_t kMaxOperations = 1'000'000;  // of a run; a large model has tens of thousands
constexpr int kUnknownHeight = 0;

// The cost of a run: calls within calls, and operations.
struct Reach {
  int height = kUnknownHeight;
  uint64_t operations = 0;
};

}  // namespace

Executable::Executable(const File& file) : programs_(file.root.Items("programs")) {
  for (uint32_t i = 0; i < programs_.size(); ++i) {
    plans_.push_back(PlanOf(programs_.Child(i), programs_.size()));
  }
  // A program changes what those that it calls change; they are nested as deep as is allowed at most.
  bool found = true;
  for (int depth = 0; found && depth < kMaxCalls; ++depth) {
    found = false;
    for (Plan& plan : plans_) found = AddChangesOfCalls(&plan) || found;
  }
}

bool Executable::AddChangesOfCalls(Plan* plan) {
  bool found = false;
  for (const PlannedOperation& operation : plan->operations) {
    for (const Step& step : operation.steps) {
      const auto* const call = std::get_if<ProgramStep>(&step);
      if (call == nullptr || !ProblemOfCall(*call).empty()) continue;
      for (size_t i = 0; i < call->inputs.size(); ++i) {
        if (!plans_[call->program].changes[i]) continue;
        for (size_t j = 0; j < plan->inputs.size(); ++j) {
          if (plan->inputs[j].id != call->inputs[i].id || plan->changes[j]) continue;
          plan->changes[j] = true;
          found = true;
        }
      }
    }
  }
  return found;
}

std::vector<Problem> Executable::ProblemsOf(size_t program, bool allow_native) const {
  std::vector<Problem> problems;
  std::map<size_t, Reach> reached;
  const std::function<Reach(size_t, int)> visit = [&](size_t index, int depth) {
    const auto known = reached.find(index);
    if (known != reached.end()) return known->second;
    reached[index] = {kUnknownHeight, 0};
    const Plan& plan = plans_[index];
    const auto add = [&](std::optional<size_t> operation, const std::string& text) {
      const std::string callee = index == program ? "" : fmt::format("program {}: ", plan.name);
      problems.push_back({index, operation, callee + text});
    };
    for (const std::string& problem : plan.problems) add(std::nullopt, problem);
    Reach reach = {1, plan.operations.size()};
    for (size_t i = 0; i < plan.operations.size(); ++i) {
      const PlannedOperation& operation = plan.operations[i];
      const auto add_here = [&](const std::string& text) {
        add(i, fmt::format("{}: {}", NameOf(plan, i), text));
      };
      if (!operation.problem.empty()) add_here(operation.problem);
      for (const Step& step : operation.steps) {
        const auto* const native = std::get_if<NativeStep>(&step);
        if (native != nullptr && !allow_native) {
          add_here(
              fmt::format("native code of the CPU, function {} of {} bytes, runs only if it "
                          "is allowed",
                          native->function.name, native->function.code.size()));
        }
        const auto* const call = std::get_if<ProgramStep>(&step);
        if (call == nullptr) continue;
        const std::string problem = ProblemOfCall(*call);
        if (!problem.empty()) add_here(problem);
        if (!problem.empty()) continue;
        if (depth == kMaxCalls) {
          reach.height = kMaxCalls + 1;
          continue;
        }
        const Reach callee = visit(call->program, depth + 1);
        if (callee.height == kUnknownHeight) {
          add_here(fmt::format("program {} calls itself", call->program));
          continue;
        }
        reach.height = std::max(reach.height, callee.height + 1);
        reach.operations = std::min(reach.operations + callee.operations, kMaxOperations + 1);
      }
    }
    return reached[index] = reach;
  };
  if (program >= plans_.size()) return problems;
  const Reach reach = visit(program, 0);
  if (reach.height > kMaxCalls) {
    problems.push_back({program, std::nullopt,
                        fmt::format("calls of programs are nested more than {} deep", kMaxCalls)});
  } else if (reach.operations > kMaxOperations) {
    problems.push_back(
        {program, std::nullopt, fmt::format("it runs more than {} operations", kMaxOperations)});
  }
  return problems;
}

std::string Executable::ProblemOfCall(const ProgramStep& call) const {
  const Plan& callee = plans_[call.program];
  if (callee.inputs.size() != call.inputs.size() || callee.outputs.size() != call.results.size()) {
    return fmt::format("program {} has other inputs or outputs", call.program);
  }
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const tensor::TensorSpec& given = call.inputs[i].spec;
    const tensor::TensorSpec& wanted = callee.inputs[i].spec;
    const bool is_integer = given.dtype == tensor::DType::kUInt32;
    const bool fits = given.shape.elements() == wanted.shape.elements() &&
                      is_integer == (wanted.dtype == tensor::DType::kUInt32);
    if (!fits || (callee.changes[i] && given != wanted)) {
      return fmt::format("input {} of program {} is {}, and is given {}", i, callee.name,
                         wanted.ToString(), given.ToString());
    }
  }
  return "";
}

std::vector<tensor::Tensor> Executable::Cached(uint64_t session, uint32_t program,
                                               std::span<const tensor::Tensor> inputs) {
  const std::lock_guard lock(mutex_);
  const auto found = cached_.find(program);
  if (found == cached_.end() || found->second.session != session) return {};
  const Entry& entry = found->second;
  const bool same =
      std::equal(entry.inputs.begin(), entry.inputs.end(), inputs.begin(), inputs.end(),
                 [](const auto& kept, const tensor::Tensor& input) {
                   return kept.first.lock() == input.storage() && kept.second == input.version();
                 });
  const bool unchanged = std::equal(
      entry.versions.begin(), entry.versions.end(), entry.results.begin(), entry.results.end(),
      [](uint64_t version, const tensor::Tensor& result) { return version == result.version(); });
  return same && unchanged ? entry.results : std::vector<tensor::Tensor>();
}

void Executable::Keep(uint64_t session, uint32_t program, std::span<const tensor::Tensor> inputs,
                      std::vector<tensor::Tensor> results) {
  Entry entry = {session, {}, std::move(results), {}};
  for (const tensor::Tensor& result : entry.results) entry.versions.push_back(result.version());
  for (const tensor::Tensor& input : inputs)
    entry.inputs.emplace_back(input.storage(), input.version());
  const std::lock_guard lock(mutex_);
  cached_.insert_or_assign(program, std::move(entry));
}

}  // namespace ttfd::ttmlir
