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

constexpr uint64_t kFirstTemporary = uint64_t{1} << 32;

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

// The ids that a step uses.
std::vector<uint64_t> UsedBy(const Step& step) {
  if (const auto* call = std::get_if<CallStep>(&step)) return call->inputs;
  if (const auto* call = std::get_if<ProgramStep>(&step)) return call->inputs;
  if (const auto* copy = std::get_if<CopyStep>(&step)) return {copy->input};
  if (const auto* call = std::get_if<NativeStep>(&step)) return call->inputs;
  return {};
}

// Files of 2024 describe each result by an empty tensor first, which nothing uses: fills without a use are dropped.
void DropUnusedFills(Plan* plan) {
  std::set<uint64_t> used;
  for (const Value& output : plan->outputs) used.insert(output.id);
  for (auto operation = plan->operations.rbegin(); operation != plan->operations.rend();
       ++operation) {
    std::vector<Step>& steps = operation->steps;
    for (size_t i = steps.size(); i-- > 0;) {
      const auto* const fill = std::get_if<FillStep>(&steps[i]);
      if (fill != nullptr && used.erase(fill->result.id) == 0) {
        steps.erase(steps.begin() + static_cast<ptrdiff_t>(i));
        continue;
      }
      for (const uint64_t id : DefinedBy(steps[i])) used.erase(id);
      for (const uint64_t id : UsedBy(steps[i])) used.insert(id);
    }
  }
}

}  // namespace

Plan PlanOf(const Record& program, uint32_t programs) {
  Plan plan;
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
  DropUnusedFills(&plan);
  return plan;
}

std::vector<uint64_t> DefinedBy(const Step& step) {
  std::vector<uint64_t> ids;
  const auto add = [&ids](const std::vector<Value>& values) {
    for (const Value& value : values) ids.push_back(value.id);
  };
  if (const auto* call = std::get_if<CallStep>(&step)) add(call->results);
  if (const auto* call = std::get_if<ProgramStep>(&step)) add(call->results);
  if (const auto* copy = std::get_if<CopyStep>(&step)) add({copy->result});
  if (const auto* data = std::get_if<DataStep>(&step)) add({data->result});
  if (const auto* fill = std::get_if<FillStep>(&step)) add({fill->result});
  if (const auto* call = std::get_if<NativeStep>(&step)) add(call->results);
  return ids;
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
