// How a program of a TTNN file captures a trace.
#include "client/ttmlir/src/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace ttfd::ttmlir {
namespace {

// The slot of an input or a result of the trace.
struct TraceSlot {
  bool is_result = false;
  size_t index = 0;
};

// Reads the programs of a trace.
class TraceReader {
 public:
  TraceReader(const std::vector<Plan>& plans, TraceStep* trace)
      : plans_(plans), trace_(*trace), capture_(plans[trace->capture]) {}

  void Read() {
    FindFunction();
    if (trace_.allocate) {
      FindSlots(plans_[*trace_.allocate]);
    } else {
      FindSlots();
    }
    if (trace_.problem.empty()) CheckWrites();
    if (trace_.problem.empty()) FindCall();
  }

 private:
  void Fail(const std::string& problem) {
    if (!trace_.problem.empty()) return;
    trace_.problem =
        fmt::format("program {} captures its trace in an unknown way: {}", capture_.name, problem);
  }

  // The only call between the operations that begin and end the capture.
  void FindFunction() {
    bool is_inside = false;
    size_t calls = 0, others = 0;
    for (const PlannedOperation& operation : capture_.operations) {
      if (operation.type == "EndTraceCaptureOp") is_inside = false;
      if (is_inside && !operation.problem.empty()) ++others;
      if (operation.type == "BeginTraceCaptureOp") is_inside = true;
      for (const Step& step : operation.steps) {
        if (!is_inside) continue;
        const auto* const call = std::get_if<ProgramStep>(&step);
        if (call != nullptr) function_ = call;
        ++(call == nullptr ? others : calls);
      }
    }
    if (calls != 1 || others != 0) {
      Fail(
          fmt::format("between its begin and its end are {} calls of programs and {} other steps, "
                      "not one call",
                      calls, others));
    }
  }

  // Slots that the program that captures makes itself.
  void FindSlots() {
    const size_t inputs = trace_.inputs.size(), results = trace_.results.size();
    if (capture_.inputs.size() != inputs || capture_.outputs.size() != 1 + inputs + 2 * results) {
      return Fail(NumbersText(capture_));
    }
    for (size_t i = 0; i < inputs; ++i) {
      const uint64_t slot = capture_.outputs[1 + results + i].id;
      AddInput(i, slot, slot == capture_.inputs[i].id);
      sources_[capture_.inputs[i].id] = i;
    }
    for (size_t i = 0; i < results; ++i) {
      slots_[capture_.outputs[1 + results + inputs + i].id] = {true, i};
    }
  }

  // Slots that another program makes.
  void FindSlots(const Plan& allocate) {
    const size_t inputs = trace_.inputs.size(), results = trace_.results.size();
    const size_t copied = inputs - std::min(inputs, allocate.inputs.size());
    if (allocate.outputs.size() != inputs + results) return Fail(NumbersText(allocate));
    if (capture_.inputs.size() != copied + inputs + results || capture_.outputs.size() != 1) {
      return Fail(NumbersText(capture_));
    }
    size_t own = 0;
    for (size_t i = 0; i < inputs; ++i) {
      const bool is_own =
          own < allocate.inputs.size() && allocate.outputs[i].id == allocate.inputs[own].id;
      AddInput(i, capture_.inputs[copied + i].id, is_own);
      if (is_own) {
        ++own;
      } else if (i - own < copied) {
        sources_[capture_.inputs[i - own].id] = i;
      }
    }
    if (own != allocate.inputs.size()) {
      Fail(fmt::format("program {} has {} inputs, and {} of them are slots", allocate.name,
                       allocate.inputs.size(), own));
    }
    for (size_t i = 0; i < results; ++i) {
      slots_[capture_.inputs[copied + inputs + i].id] = {true, i};
    }
  }

  std::string NumbersText(const Plan& plan) const {
    return fmt::format("program {} has {} inputs and {} outputs; the trace has {} and {}",
                       plan.name, plan.inputs.size(), plan.outputs.size(), trace_.inputs.size(),
                       trace_.results.size());
  }

  void AddInput(size_t index, uint64_t slot, bool is_own) {
    slots_[slot] = {false, index};
    if (!is_own) trace_.copied.push_back(trace_.inputs[index].id);
  }

  // Each slot of an input that is not its own must be written from that input.
  void CheckWrites() {
    std::set<uint64_t> written;  // ids of inputs
    for (const PlannedOperation& operation : capture_.operations) {
      for (const Step& step : operation.steps) {
        const auto* const copy = std::get_if<CopyStep>(&step);
        if (copy != nullptr && sources_.contains(copy->input)) {
          sources_[copy->result.id] = sources_[copy->input];
        }
        const auto* const call = std::get_if<CallStep>(&step);
        if (call == nullptr || call->operation != "copy_into") continue;
        const auto slot = slots_.find(call->inputs[0]);
        const auto source = sources_.find(call->inputs[1]);
        if (slot == slots_.end() || source == sources_.end()) continue;
        if (slot->second.is_result || slot->second.index != source->second) continue;
        written.insert(trace_.inputs[source->second].id);
      }
    }
    for (const uint64_t id : trace_.copied) {
      if (!written.contains(id)) Fail(fmt::format("it does not write %{} into its slot", id));
    }
  }

  void FindCall() {
    trace_.call.program = function_->program;
    const std::vector<Value>& wanted = plans_[function_->program].inputs;
    for (size_t i = 0; i < function_->inputs.size(); ++i) {
      const auto slot = slots_.find(function_->inputs[i].id);
      if (slot == slots_.end() || i >= wanted.size()) {
        return Fail(
            fmt::format("input {} of program {} is no slot", i, plans_[function_->program].name));
      }
      const auto& [is_result, index] = slot->second;
      if (!is_result) {
        trace_.call.inputs.push_back(trace_.inputs[index]);
        continue;
      }
      trace_.slots.push_back({trace_.results[index].id, wanted[i].spec, wanted[i].is_signed});
      trace_.call.inputs.push_back(trace_.slots.back());
    }
    for (const Value& result : function_->results) {
      const auto slot = slots_.find(result.id);
      if (slot == slots_.end() || !slot->second.is_result) return Fail("a result has no slot");
      trace_.call.results.push_back(trace_.results[slot->second.index]);
    }
    CheckResults();
  }

  // Each result is either one of the call or in a slot.
  void CheckResults() {
    std::map<uint64_t, size_t> made;
    for (const auto& values : {trace_.slots, trace_.call.results}) {
      for (const Value& value : values) ++made[value.id];
    }
    for (const Value& result : trace_.results) {
      if (made[result.id] != 1) {
        return Fail(fmt::format("%{} is made {} times", result.id, made[result.id]));
      }
    }
    for (const Value& slot : trace_.slots) {
      const auto result = std::find_if(trace_.results.begin(), trace_.results.end(),
                                       [&slot](const Value& one) { return one.id == slot.id; });
      if (result->spec.shape != slot.spec.shape || result->spec.dtype != slot.spec.dtype) {
        return Fail(fmt::format("%{} is {}, and its slot {}", slot.id, result->spec.ToString(),
                                slot.spec.ToString()));
      }
    }
  }

  const std::vector<Plan>& plans_;
  TraceStep& trace_;
  const Plan& capture_;
  const ProgramStep* function_ = nullptr;
  std::map<uint64_t, TraceSlot> slots_;  // by their ids in the program that captures
  std::map<uint64_t, size_t> sources_;   // the inputs and copies of them, by the same
};

}  // namespace

void ResolveTrace(const std::vector<Plan>& plans, TraceStep* trace) {
  TraceReader(plans, trace).Read();
}

}  // namespace ttfd::ttmlir
