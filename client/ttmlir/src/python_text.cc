// Programs as Python.
#include "client/ttmlir/src/python_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "client/ttmlir/src/json.h"

namespace ttfd::ttmlir {
namespace {

using tensor::Attribute;
using tensor::TensorSpec;

constexpr const char* kPrelude = R"(import numpy as np

import ttfd.tensor as ttnn


def settled(x, shape, dtype, layout):
    """x with the shape, type and layout that the file says."""
    if list(x.shape) != shape:
        x = ttnn.reshape(x, shape=shape)
    if x.dtype != dtype:
        x = ttnn.typecast(x if x.layout == "tile" else ttnn.to_layout(x, layout="tile"), dtype=dtype)
    return x if x.layout == layout else ttnn.to_layout(x, layout=layout)
)";

// A name of the file as one of Python, with the program's index, since names need not be unique.
std::string FunctionName(const std::string& name, size_t index) {
  std::string text = fmt::format("program_{}_", index);
  for (const char letter : name) {
    text += std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
  }
  return text;
}

std::string Variable(uint64_t id) {
  return id < kFirstTemporary ? fmt::format("v{}", id) : fmt::format("t{}", id - kFirstTemporary);
}

std::string Variables(const std::vector<uint64_t>& ids) {
  std::vector<std::string> names(ids.size());
  std::transform(ids.begin(), ids.end(), names.begin(), Variable);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string Variables(const std::vector<Value>& values) {
  std::vector<uint64_t> ids(values.size());
  std::transform(values.begin(), values.end(), ids.begin(),
                 [](const Value& one) { return one.id; });
  return Variables(ids);
}

std::string TextOf(const Attribute& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "True" : "False";
  if (const auto* text = std::get_if<std::string>(&value)) return JsonText(*text);
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
    return fmt::format("[{}]", fmt::join(*list, ", "));
  }
  if (const auto* number = std::get_if<double>(&value)) {
    return std::isfinite(*number) ? fmt::format("{}", *number)
                                  : fmt::format("float(\"{}\")", *number);
  }
  return fmt::format("{}", std::get<int64_t>(value));
}

std::string SpecText(const TensorSpec& spec) {
  return fmt::format("[{}], \"{}\", \"{}\"", fmt::join(spec.shape.extents(), ", "),
                     tensor::DTypeName(spec.dtype), tensor::LayoutName(spec.layout));
}

// Writes the lines of one function.
class FunctionText {
 public:
  FunctionText(const Plan& plan, const std::vector<ProgramInfo>& programs, size_t index)
      : plan_(plan), programs_(programs), index_(index) {}

  std::string Text() {
    const std::string inputs = Variables(plan_.inputs);
    Line(0, fmt::format("def {}(card{}{}):", FunctionName(programs_[index_].name, index_),
                        inputs.empty() ? "" : ", ", inputs));
    for (const Value& input : plan_.inputs) Settle(Variable(input.id), input);
    for (const PlannedOperation& operation : plan_.operations) {
      for (const Step& step : operation.steps) {
        std::visit([this](const auto& one) { Write(one); }, step);
      }
    }
    Line(1, fmt::format("return [{}]", Variables(plan_.outputs)));
    return text_;
  }

 private:
  void Line(int depth, const std::string& line) {
    text_ += std::string(static_cast<size_t>(4 * depth), ' ') + line + "\n";
  }
  void Settle(const std::string& made, const Value& value) {
    Line(1, fmt::format("{} = settled({}, {})", Variable(value.id), made, SpecText(value.spec)));
  }

  void Write(const CallStep& step) {
    std::string call =
        fmt::format("ttnn.{}({}", step.operation,
                    step.operation == "concat" ? fmt::format("[{}]", Variables(step.inputs))
                                               : Variables(step.inputs));
    for (const auto& [name, value] : step.attributes) {
      call += fmt::format(", {}={}", name, TextOf(value));
    }
    call += ")";
    if (step.results.size() == 1) return Settle(call, step.results[0]);
    Line(1, step.results.empty() ? call : Variables(step.results) + " = " + call);
    for (const Value& result : step.results) Settle(Variable(result.id), result);
  }
  void Write(const CopyStep& step) { Settle(Variable(step.input), step.result); }
  void Write(const FillStep& step) {
    const TensorSpec& spec = step.result.spec;
    const std::string shape = fmt::format("[{}]", fmt::join(spec.shape.extents(), ", "));
    Array(step.result, step.step == 0
                           ? fmt::format("np.full({}, {})", shape, TextOf(step.first))
                           : fmt::format("({} + {} * np.arange({})).reshape({})", step.first,
                                         step.step, spec.shape.elements(), shape));
  }
  void Write(const DataStep& step) {
    std::vector<std::string> numbers(step.result.spec.shape.elements());
    for (uint64_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = TextOf(ElementOf(step.type, step.bytes, i));
    }
    Array(step.result,
          fmt::format("np.array([{}]).reshape({})", fmt::join(numbers, ", "),
                      fmt::format("[{}]", fmt::join(step.result.spec.shape.extents(), ", "))));
  }
  void Write(const FreeStep& step) { Line(1, "del " + Variable(step.id)); }
  void Write(const ProgramStep& step) {
    const std::string call =
        fmt::format("{}(card{}{})", FunctionName(programs_[step.program].name, step.program),
                    step.inputs.empty() ? "" : ", ", Variables(step.inputs));
    Line(1, step.results.empty() ? call : fmt::format("[{}] = {}", Variables(step.results), call));
    for (const Value& result : step.results) Settle(Variable(result.id), result);
  }

  void Write(const TraceStep& step) {
    for (const Value& slot : step.slots) Write(FillStep{0, 0, slot});
    Write(step.call);
    for (const Value& result : step.results) Settle(Variable(result.id), result);
  }

  void Write(const NativeStep&) {}  // PythonOf refuses programs that have it

  void Array(const Value& value, const std::string& numbers) {
    const bool is_integer = value.spec.dtype == tensor::DType::kUInt32;
    Line(1,
         fmt::format("{} = card.tensor({}{}, \"{}\", \"{}\")", Variable(value.id), numbers,
                     is_integer ? ".astype(np.int64).astype(np.uint32)" : "",
                     tensor::DTypeName(value.spec.dtype), tensor::LayoutName(value.spec.layout)));
  }

  const Plan& plan_;
  const std::vector<ProgramInfo>& programs_;
  const size_t index_;
  std::string text_;
};

// A program and those it calls, callees first.
void CollectCallees(const Executable& executable, size_t program, std::set<size_t>* seen,
                    std::vector<size_t>* order) {
  if (!seen->insert(program).second) return;
  for (const PlannedOperation& operation : executable.plans()[program].operations) {
    for (const Step& step : operation.steps) {
      const ProgramStep* const call = CallOf(step);
      if (call != nullptr) CollectCallees(executable, call->program, seen, order);
    }
  }
  order->push_back(program);
}

}  // namespace

std::string PythonText(const Executable& executable, const std::vector<ProgramInfo>& programs,
                       size_t program) {
  std::set<size_t> seen;
  std::vector<size_t> order;
  CollectCallees(executable, program, &seen, &order);
  std::string text = kPrelude;
  for (const size_t index : order) {
    text += "\n\n" + FunctionText(executable.plans()[index], programs, index).Text();
  }
  return text;
}

}  // namespace ttfd::ttmlir
