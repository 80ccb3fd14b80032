// One operation of a file being planned: its fields by name, and the steps it becomes.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "client/ttmlir/src/plan.h"

namespace ttfd::ttmlir {

// The fields of an operation by name, as of Record, with which of them were read.
class Fields {
 public:
  explicit Fields(const Record& record) : record_(record) {}

  bool InSchema(std::string_view field) const;  // whether the schema has it
  bool Has(std::string_view field) const { return Noted(field).Has(field); }
  int64_t Integer(std::string_view field) const { return Noted(field).Integer(field); }
  double Real(std::string_view field) const { return Noted(field).Real(field); }
  std::string_view Text(std::string_view field) const { return Noted(field).Text(field); }
  std::string_view Name(std::string_view field) const { return Noted(field).Name(field); }
  Record Child(std::string_view field) const { return Noted(field).Child(field); }
  std::string_view MemberName(std::string_view field) const {
    return Noted(field).MemberName(field);
  }
  List Items(std::string_view field) const { return Noted(field).Items(field); }

  // The name of a field that is set to other than its default and was not read; "": there is none.
  std::string_view Unread() const;
  const Record& record() const { return record_; }

 private:
  const Record& Noted(std::string_view field) const {
    read_.emplace(field);
    return record_;
  }

  Record record_;
  mutable std::set<std::string, std::less<>> read_;
};

// A problem that was found stays: everything after it has no effect, so callers need not ask after each call.
class Planner {
 public:
  // `values` are the tensors defined so far, to which results are added.
  Planner(const Record& operation, const Record& program, uint32_t programs,
          std::map<uint64_t, Value>* values, uint64_t* next_id)
      : fields_(operation),
        program_(program),
        programs_(programs),
        values_(*values),
        next_id_(*next_id) {}

  const Fields& fields() const { return fields_; }
  const Record& program() const { return program_; }
  uint32_t programs() const { return programs_; }
  void Fail(const std::string& problem);
  const std::string& problem() const { return problem_; }
  std::vector<Step> TakeSteps() { return std::move(steps_); }

  // ---- Operands: their ids. A missing one is a problem, or none.
  uint64_t In(std::string_view field) { return In(fields_.record(), field); }
  // One that lies in the parameters of the operation.
  uint64_t In(const Record& record, std::string_view field);
  std::optional<uint64_t> InIf(std::string_view field);
  // The operand in the first of these fields that the schema has.
  uint64_t In(std::initializer_list<std::string_view> fields);
  std::vector<uint64_t> Ins(std::string_view field);
  const tensor::TensorSpec& spec(uint64_t id) const;
  Value ValueAt(uint64_t id) const;
  bool IsSigned(uint64_t id) const;

  // ---- Results, as the file describes them.
  Value Out(std::string_view field = "out");
  std::vector<Value> Outs(std::string_view field);
  // An intermediate result.
  Value Temporary(tensor::TensorSpec spec);

  // ---- Steps. A call that computes takes numbers: integers are a problem; `activation`, `dtype` and the like are
  // given by the caller. The result of a call gets the shape, type and layout that the file says.
  void Compute(std::string_view operation, std::vector<uint64_t> inputs, const Value& result,
               tensor::Attributes attributes = {});
  // A call that moves elements, of any type.
  void Move(std::string_view operation, std::vector<uint64_t> inputs, const Value& result,
            tensor::Attributes attributes = {});
  void MoveAll(std::string_view operation, std::vector<uint64_t> inputs, std::vector<Value> results,
               tensor::Attributes attributes = {});
  void InPlace(std::string_view operation, std::vector<uint64_t> inputs,
               tensor::Attributes attributes = {});
  void Copy(uint64_t input, const Value& result);
  // An operand in tiles.
  uint64_t Tiled(uint64_t id);
  void Add(Step step);
  void Define(const Value& value) { values_[value.id] = value; }
  void Free(uint64_t id);
  // Defines all results of an operation that has a problem, so that those that use them have none of their own.
  void DefineResults(std::string_view type);
  // A field that is set, has not been read and is not among `ignored` is a problem.
  void RefuseUnread(const std::vector<std::string_view>& ignored);

  // ---- Fields.
  std::vector<int64_t> Integers(std::string_view field) const;
  // The number of a union of tables that each have a `value`, or of a plain number.
  double Number(std::string_view field) { return Number(fields_.record(), field); }
  double Number(const Record& record, std::string_view field);
  // The name in the table of the function of a configuration; "": there is none.
  std::string Activation(const Record& function);

 private:
  Value ValueOf(const Record& ref);
  uint64_t Defined(const Record& ref);
  // Null, and a problem: the table has none.
  const tensor::OperationInfo* OperationNamed(std::string_view name);

  Fields fields_;
  const Record& program_;
  const uint32_t programs_;
  std::map<uint64_t, Value>& values_;
  uint64_t& next_id_;
  std::vector<Step> steps_;
  std::string problem_;
};

using PlanFunction = void (*)(Planner& planner);

// How a table of the schema, such as "MatmulOp", is planned.
struct PlanRow {
  std::string_view type;
  PlanFunction function;
  std::vector<std::string_view> calls = {};  // operations of the table; empty: none
  // Fields that change nothing here, as those do that are hints in every operation. Any other field is read, or a
  // problem if it is set.
  std::vector<std::string_view> ignored = {};
};
// The rows of each source.
std::vector<PlanRow> StructureRows();
std::vector<PlanRow> ComputeRows();
std::vector<PlanRow> MoveRows();
std::vector<PlanRow> ModelRows();
std::vector<PlanRow> ImageRows();

}  // namespace ttfd::ttmlir
