// The steps of a program of a TTNN file, found without a card.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "client/ttmlir/src/elements.h"
#include "client/ttmlir/src/native.h"
#include "client/ttmlir/src/record.h"
#include "ttfd/tensor/apply.h"

namespace ttfd::ttmlir {

// The first number of an intermediate result; numbers of a file are less.
inline constexpr uint64_t kFirstTemporary = uint64_t{1} << 32;

// A tensor of a program: its number in the file, or that of an intermediate result.
struct Value {
  uint64_t id = 0;
  tensor::TensorSpec spec = {};
  bool is_signed = false;  // of integers
};

// Calls an operation of the table.
struct CallStep {
  std::string operation;
  std::vector<uint64_t> inputs;
  tensor::Attributes attributes = {};
  std::vector<Value> results = {};  // empty: in place
};
// Gives a tensor another name, and the shape, type and layout of the result.
struct CopyStep {
  uint64_t input = 0;
  Value result = {};
};
// Element i becomes first + i * step.
struct FillStep {
  double first = 0;
  double step = 0;
  Value result = {};
};
// Elements from the file.
struct DataStep {
  Bytes bytes = {};
  ElementType type = {};
  Value result = {};
};
struct FreeStep {
  uint64_t id = 0;
};
// Runs another program of the file; `cached`: once for the same inputs.
struct ProgramStep {
  uint32_t program = 0;
  bool cached = false;
  std::vector<Value> inputs = {};
  std::vector<Value> results = {};
};
// Calls a program that the card records and replays. The file has another program that captures this trace, from which
// ResolveTrace (trace.h) finds how.
struct TraceStep {
  uint32_t capture = 0;                   // the program that captures
  std::optional<uint32_t> allocate = {};  // the one that makes its slots; none: the same one
  std::vector<Value> inputs = {};
  std::vector<Value> results = {};

  // Found later. The slot of a result among the inputs of the call has the id of the result.
  ProgramStep call = {};
  std::vector<Value> slots = {};       // of results that the call writes into its inputs
  std::vector<uint64_t> copied = {};   // inputs with a slot, which each run writes
  std::vector<uint64_t> changed = {};  // inputs that the call changes in place
  std::string problem = {};            // why it cannot run; empty: it can
};
// Calls a function of native code of the CPU, with elements of 4 bytes.
struct NativeStep {
  NativeFunction function = {};
  std::vector<uint64_t> inputs = {};
  std::vector<Value> results = {};
};
using Step = std::variant<CallStep, CopyStep, FillStep, DataStep, FreeStep, ProgramStep, TraceStep,
                          NativeStep>;

struct PlannedOperation {
  std::string type;
  std::string location;
  std::string key = {};  // of its golden tensor: the location as the file has it
  std::vector<Step> steps = {};
  std::string problem = {};  // why it cannot run; empty: it can
};

struct Plan {
  std::string name;
  std::vector<Value> inputs;
  std::vector<Value> outputs;
  std::vector<PlannedOperation> operations;  // as in the file
  std::vector<std::string> problems = {};    // of the program itself
  // Inputs whose elements an operation of this program changes in place; Executable adds those that are changed by
  // others that it calls.
  std::vector<bool> changes = {};
};

// The plan of a program of a file with `programs` of them. An operation that uses an id which no earlier one defines,
// or that this library or the table of operations does not have, has a problem.
Plan PlanOf(const Record& program, uint32_t programs);

// The values that a step makes anew, and the ids that it uses.
std::vector<Value> DefinedBy(const Step& step);
std::vector<uint64_t> UsedBy(const Step& step);
// The program that a step calls, recorded or not; null: none.
const ProgramStep* CallOf(const Step& step);

// "operation 3 MatmulOp at model.mlir:7:10".
std::string NameOf(const Plan& plan, size_t operation);

}  // namespace ttfd::ttmlir
