// Plans of whole programs.
#include "client/ttmlir/src/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "client/ttmlir/src/listing.h"
#include "client/ttmlir/src/planner.h"
#include "ttfd/ttmlir/submit.h"

namespace ttfd::ttmlir {
namespace {

const std::map<std::string_view, PlanRow>& PlanTable() {
  static const auto* const kTable = [] {
    auto* const table = new std::map<std::string_view, PlanRow>;
    for (const auto& rows :
         {StructureRows(), ComputeRows(), MoveRows(), ModelRows(), ImageRows()}) {
      for (const PlanRow& row : rows) table->emplace(row.type, row);
    }
    return table;
  }();
  return *kTable;
}

// Files of 2024 describe each result by an empty tensor first, which nothing uses: fills without a use are dropped.
void DropUnusedFills(Plan* plan) {
  std::set<uint64_t> used;
  std::map<uint64_t, Step*> frees;  // of what is not used before
  for (const Value& output : plan->outputs) used.insert(output.id);
  std::set<const Step*> dropped;
  for (auto operation = plan->operations.rbegin(); operation != plan->operations.rend();
       ++operation) {
    for (auto step = operation->steps.rbegin(); step != operation->steps.rend(); ++step) {
      const auto* const fill = std::get_if<FillStep>(&*step);
      if (const auto* const free = std::get_if<FreeStep>(&*step)) frees[free->id] = &*step;
      if (fill != nullptr && !used.contains(fill->result.id)) {
        dropped.insert(&*step);
        if (frees.contains(fill->result.id)) dropped.insert(frees[fill->result.id]);
      }
      for (const Value& value : DefinedBy(*step)) {
        used.erase(value.id);
        frees.erase(value.id);
      }
      for (const uint64_t id : UsedBy(*step)) used.insert(id);
    }
  }
  for (PlannedOperation& operation : plan->operations) {
    std::vector<Step> kept;
    for (Step& step : operation.steps) {
      if (!dropped.contains(&step)) kept.push_back(std::move(step));
    }
    operation.steps = std::move(kept);
  }
}

// Inputs that are changed in place, also by another name.
std::vector<bool> ChangedInputs(const Plan& plan) {
  std::map<uint64_t, size_t> inputs;  // by id, which input it is
  std::vector<bool> changed(plan.inputs.size());
  for (size_t i = 0; i < plan.inputs.size(); ++i) inputs[plan.inputs[i].id] = i;
  for (const PlannedOperation& operation : plan.operations) {
    for (const Step& step : operation.steps) {
      const auto* const call = std::get_if<CallStep>(&step);
      const auto* const copy = std::get_if<CopyStep>(&step);
      if (call != nullptr && call->results.empty() && inputs.contains(call->inputs[0])) {
        changed[inputs[call->inputs[0]]] = true;
      }
      const auto source = copy == nullptr ? inputs.end() : inputs.find(copy->input);
      const size_t alias = source == inputs.end() ? changed.size() : source->second;
      for (const Value& value : DefinedBy(step)) inputs.erase(value.id);
      if (alias < changed.size()) inputs[copy->result.id] = alias;
    }
  }
  return changed;
}

}  // namespace

Plan PlanOf(const Record& program, uint32_t programs) {
  Plan plan;
  plan.name = program.Text("name");
  std::map<uint64_t, Value> values;
  uint64_t next_id = kFirstTemporary;
  Planner arguments(program, program, programs, &values, &next_id);
  plan.inputs = arguments.Outs("inputs");
  for (const Value& input : plan.inputs) arguments.Define(input);
  if (!arguments.problem().empty()) plan.problems.push_back("inputs: " + arguments.problem());
  if (const Record mesh = program.Child("mesh_shape")) {
    const int64_t chips = mesh.Integer("y") * mesh.Integer("x");
    if (chips != 1) {
      plan.problems.push_back(fmt::format("it is for {} chips, and a card has one", chips));
    }
  }
  for (const Record& record : OperationsOf(program)) {
    const Record operation = record.Child("type");
    PlannedOperation planned;
    planned.type = record.MemberName("type");
    planned.location = LocationOf(record);
    planned.key = record.Text("loc_info");
    const auto row = PlanTable().find(planned.type);
    Planner planner(operation, program, programs, &values, &next_id);
    if (row != PlanTable().end() && operation) {
      row->second.function(planner);
      planner.RefuseUnread(row->second.ignored);
    } else {
      planner.Fail("this library does not have it");
    }
    planned.problem = planner.problem();
    if (operation && !planned.problem.empty()) planner.DefineResults(planned.type);
    planned.steps = planner.TakeSteps();
    plan.operations.push_back(std::move(planned));
  }
  Planner results(program, program, programs, &values, &next_id);
  plan.outputs = results.Outs("outputs");
  results.Ins("outputs");
  if (!results.problem().empty()) plan.problems.push_back("outputs: " + results.problem());
  for (const Value& output : plan.outputs) {
    const bool is_integer = output.spec.dtype == tensor::DType::kUInt32;
    const auto made = values.find(output.id);
    if (made != values.end() && is_integer != (made->second.spec.dtype == tensor::DType::kUInt32)) {
      plan.problems.push_back(fmt::format("outputs: %{} is {}, and the program returns {}",
                                          output.id, made->second.spec.ToString(),
                                          output.spec.ToString()));
    }
  }
  DropUnusedFills(&plan);
  plan.changes = ChangedInputs(plan);
  return plan;
}

std::vector<Value> DefinedBy(const Step& step) {
  if (const auto* call = std::get_if<CallStep>(&step)) return call->results;
  if (const auto* call = std::get_if<ProgramStep>(&step)) return call->results;
  if (const auto* copy = std::get_if<CopyStep>(&step)) return {copy->result};
  if (const auto* data = std::get_if<DataStep>(&step)) return {data->result};
  if (const auto* fill = std::get_if<FillStep>(&step)) return {fill->result};
  if (const auto* call = std::get_if<NativeStep>(&step)) return call->results;
  if (const auto* trace = std::get_if<TraceStep>(&step)) return trace->results;
  return {};
}

std::vector<uint64_t> UsedBy(const Step& step) {
  if (const auto* call = std::get_if<CallStep>(&step)) return call->inputs;
  if (const auto* copy = std::get_if<CopyStep>(&step)) return {copy->input};
  if (const auto* call = std::get_if<NativeStep>(&step)) return call->inputs;
  std::vector<uint64_t> ids;
  if (const auto* call = std::get_if<ProgramStep>(&step)) {
    for (const Value& input : call->inputs) ids.push_back(input.id);
  }
  if (const auto* trace = std::get_if<TraceStep>(&step)) {
    for (const Value& input : trace->inputs) ids.push_back(input.id);
  }
  return ids;
}

const ProgramStep* CallOf(const Step& step) {
  const auto* const trace = std::get_if<TraceStep>(&step);
  return trace == nullptr ? std::get_if<ProgramStep>(&step) : &trace->call;
}

std::vector<SupportedOperation> SupportedOperations() {
  std::vector<SupportedOperation> supported;
  for (const auto& [type, row] : PlanTable()) {
    std::set<std::string> calls;  // of those that are in the table
    for (const tensor::OperationInfo& one : tensor::Operations()) {
      if (std::find(row.calls.begin(), row.calls.end(), one.name) != row.calls.end()) {
        calls.emplace(one.name);
      }
    }
    if (calls.empty() && !row.calls.empty()) continue;
    supported.push_back({std::string(type), {calls.begin(), calls.end()}});
  }
  return supported;
}

std::string NameOf(const Plan& plan, size_t operation) {
  const PlannedOperation& one = plan.operations[operation];
  return fmt::format("operation {} {}{}{}", operation, one.type, one.location.empty() ? "" : " at ",
                     one.location);
}

}  // namespace ttfd::ttmlir
