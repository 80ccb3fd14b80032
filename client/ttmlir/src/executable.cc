// The plans of a file.
#include "client/ttmlir/src/executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "client/ttmlir/src/trace.h"

namespace ttfd::ttmlir {
namespace {

constexpr int kMaxCalls = 32;  // of programs within programs; the compiler nests two

constexpr uint64_t kMaxOperations = 1'000'000;  // of a run; a large model has tens of thousands
constexpr int kUnknownHeight = 0;

// The cost of a run: calls within calls, and operations.
struct Reach {
  int height = kUnknownHeight;
  uint64_t operations = 0;
  bool has_native = false;
};

// Walks a program and those it calls.
class ProblemFinder {
 public:
  using ProblemOfCall = std::function<std::string(const ProgramStep& call)>;

  ProblemFinder(const std::vector<Plan>& plans, size_t program, bool allow_native,
                ProblemOfCall problem_of_call)
      : plans_(plans),
        program_(program),
        allow_native_(allow_native),
        problem_of_call_(std::move(problem_of_call)) {}

  std::vector<Problem> Find() {
    const Reach reach = Visit(program_, 0);
    if (reach.height > kMaxCalls) {
      Add(program_, std::nullopt,
          fmt::format("calls of programs are nested more than {} deep", kMaxCalls));
    } else if (reach.operations > kMaxOperations) {
      Add(program_, std::nullopt, fmt::format("it runs more than {} operations", kMaxOperations));
    }
    return std::move(problems_);
  }

 private:
  void Add(size_t index, std::optional<size_t> operation, const std::string& text) {
    const Plan& plan = plans_[index];
    const std::string callee = index == program_ ? "" : fmt::format("program {}: ", plan.name);
    const std::string name = operation ? NameOf(plan, *operation) + ": " : "";
    problems_.push_back({index, operation, callee + name + text});
  }

  Reach Visit(size_t index, int depth) {
    const auto known = reached_.find(index);
    if (known != reached_.end()) return known->second;
    reached_[index] = Reach();
    const Plan& plan = plans_[index];
    for (const std::string& problem : plan.problems) Add(index, std::nullopt, problem);
    Reach reach = {1, plan.operations.size(), false};
    for (size_t i = 0; i < plan.operations.size(); ++i) {
      const PlannedOperation& operation = plan.operations[i];
      if (!operation.problem.empty()) Add(index, i, operation.problem);
      for (const Step& step : operation.steps) {
        const auto* const native = std::get_if<NativeStep>(&step);
        if (native != nullptr) reach.has_native = true;
        if (native != nullptr && !allow_native_) {
          Add(index, i, ProblemOfNative(native->function));
        }
        VisitCall(step, {index, i}, depth, &reach);
      }
    }
    return reached_[index] = reach;
  }

  // `from` are the program and the operation of the step.
  void VisitCall(const Step& step, std::pair<size_t, size_t> from, int depth, Reach* reach) {
    const auto* const trace = std::get_if<TraceStep>(&step);
    const ProgramStep* const call = CallOf(step);
    if (call == nullptr) return;
    std::string problem = trace == nullptr ? "" : trace->problem;
    if (problem.empty()) problem = problem_of_call_(*call);
    if (!problem.empty()) return Add(from.first, from.second, problem);
    if (depth == kMaxCalls) {
      reach->height = kMaxCalls + 1;
      return;
    }
    const Reach callee = Visit(call->program, depth + 1);
    if (callee.height == kUnknownHeight) {
      return Add(from.first, from.second, fmt::format("program {} calls itself", call->program));
    }
    if (trace != nullptr && callee.has_native) {
      Add(from.first, from.second,
          fmt::format("program {} has native code of the CPU, which a trace cannot have",
                      plans_[call->program].name));
    }
    reach->height = std::max(reach->height, callee.height + 1);
    reach->operations = std::min(reach->operations + callee.operations, kMaxOperations + 1);
    reach->has_native = reach->has_native || callee.has_native;
  }

  const std::vector<Plan>& plans_;
  const size_t program_;
  const bool allow_native_;
  const ProblemOfCall problem_of_call_;
  std::vector<Problem> problems_;
  std::map<size_t, Reach> reached_;
};

}  // namespace

Executable::Executable(const File& file) : programs_(file.root.Items("programs")) {
  for (uint32_t i = 0; i < programs_.size(); ++i) {
    plans_.push_back(PlanOf(programs_.Child(i), programs_.size()));
  }
  ResolveTraces();
  // A program changes what those that it calls change; they are nested as deep as is allowed at most.
  bool found = true;
  for (int depth = 0; found && depth < kMaxCalls; ++depth) {
    found = false;
    for (Plan& plan : plans_) found = AddChangesOfCalls(&plan) || found;
  }
  FindChangesOfTraces();
}

void Executable::ResolveTraces() {
  for (Plan& plan : plans_) {
    for (PlannedOperation& operation : plan.operations) {
      for (Step& step : operation.steps) {
        if (auto* const trace = std::get_if<TraceStep>(&step)) ResolveTrace(plans_, trace);
      }
    }
  }
}

void Executable::FindChangesOfTraces() {
  for (Plan& plan : plans_) {
    for (PlannedOperation& operation : plan.operations) {
      for (Step& step : operation.steps) {
        auto* const trace = std::get_if<TraceStep>(&step);
        if (trace == nullptr || !trace->problem.empty()) continue;
        const Plan& callee = plans_[trace->call.program];
        for (size_t i = 0; i < trace->call.inputs.size(); ++i) {
          const uint64_t id = trace->call.inputs[i].id;
          if (!callee.changes[i]) continue;
          trace->changed.push_back(id);
          const auto& copied = trace->copied;
          if (std::find(copied.begin(), copied.end(), id) == copied.end()) continue;
          trace->problem = fmt::format(
              "program {} changes %{} in place, of which the trace has a copy", callee.name, id);
        }
      }
    }
  }
}

bool Executable::AddChangesOfCalls(Plan* plan) {
  bool found = false;
  for (const PlannedOperation& operation : plan->operations) {
    for (const Step& step : operation.steps) {
      const ProgramStep* const call = CallOf(step);
      const auto* const trace = std::get_if<TraceStep>(&step);
      if (trace != nullptr && !trace->problem.empty()) continue;
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
  if (program >= plans_.size()) return {};
  const auto problem_of_call = [this](const ProgramStep& call) { return ProblemOfCall(call); };
  return ProblemFinder(plans_, program, allow_native, problem_of_call).Find();
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

std::vector<tensor::Tensor> Executable::Cached(SessionKey session, uint32_t program,
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

std::shared_ptr<RecordedTrace> Executable::TraceOf(const TraceStep& step) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<RecordedTrace>& trace = traces_[&step];
  if (trace == nullptr) trace = std::make_shared<RecordedTrace>();
  return trace;
}

void Executable::Keep(SessionKey session, uint32_t program, std::span<const tensor::Tensor> inputs,
                      std::vector<tensor::Tensor> results) {
  Entry entry = {session, {}, std::move(results), {}};
  for (const tensor::Tensor& result : entry.results) entry.versions.push_back(result.version());
  for (const tensor::Tensor& input : inputs)
    entry.inputs.emplace_back(input.storage(), input.version());
  const std::lock_guard lock(mutex_);
  cached_.insert_or_assign(program, std::move(entry));
}

}  // namespace ttfd::ttmlir
