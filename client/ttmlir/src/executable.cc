// The plans of a file.
#include "client/ttmlir/src/executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace ttfd::ttmlir {
namespace {

constexpr int kMaxCalls = 32;  // of programs within programs; the compiler nests two

}  // namespace

Executable::Executable(const File& file) : programs_(file.root.Items("programs")) {
  for (uint32_t i = 0; i < programs_.size(); ++i) {
    plans_.push_back(PlanOf(programs_.Child(i), programs_.size()));
  }
}

std::vector<Problem> Executable::ProblemsOf(size_t program, bool allow_native) const {
  enum class State : uint8_t { kNew, kActive, kDone };
  std::vector<State> states(plans_.size(), State::kNew);
  std::vector<Problem> problems;
  const std::function<void(size_t, int)> visit = [&](size_t index, int depth) {
    states[index] = State::kActive;
    const Plan& plan = plans_[index];
    for (const std::string& problem : plan.problems) {
      problems.push_back({index, std::nullopt, problem});
    }
    for (size_t i = 0; i < plan.operations.size(); ++i) {
      const PlannedOperation& operation = plan.operations[i];
      const auto add = [&](const std::string& text) {
        problems.push_back({index, i, fmt::format("{}: {}", NameOf(plan, i), text)});
      };
      if (!operation.problem.empty()) add(operation.problem);
      for (const Step& step : operation.steps) {
        const auto* const native = std::get_if<NativeStep>(&step);
        if (native != nullptr && !allow_native) {
          add(
              fmt::format("native code of the CPU, function {} of {} bytes, runs only if it is "
                          "allowed",
                          native->function.name, native->function.code.size()));
        }
        const auto* const call = std::get_if<ProgramStep>(&step);
        if (call == nullptr) continue;
        const Plan& callee = plans_[call->program];
        if (callee.inputs.size() != call->inputs.size() ||
            callee.outputs.size() != call->results.size()) {
          add(fmt::format("program {} has other inputs or outputs", call->program));
        } else if (states[call->program] == State::kActive) {
          add(fmt::format("program {} calls itself", call->program));
        } else if (depth == kMaxCalls) {
          add(fmt::format("calls are nested more than {} deep", kMaxCalls));
        } else if (states[call->program] == State::kNew) {
          visit(call->program, depth + 1);
        }
      }
    }
    states[index] = State::kDone;
  };
  if (program < plans_.size()) visit(program, 0);
  return problems;
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
  return same ? entry.results : std::vector<tensor::Tensor>();
}

void Executable::Keep(uint64_t session, uint32_t program, std::span<const tensor::Tensor> inputs,
                      std::vector<tensor::Tensor> results) {
  Entry entry = {session, {}, std::move(results)};
  for (const tensor::Tensor& input : inputs)
    entry.inputs.emplace_back(input.storage(), input.version());
  const std::lock_guard lock(mutex_);
  cached_.insert_or_assign(program, std::move(entry));
}

}  // namespace ttfd::ttmlir
