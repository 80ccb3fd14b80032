// ttfdctl inspect: what a file of the tt-mlir compiler contains, without a daemon.
#include "client/cli/inspect_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "client/cli/exit_code.h"
#include "client/cli/json.h"
#include "client/cli/printing.h"
#include "client/cli/text.h"
#include "ttfd/ttmlir/submit.h"

namespace ttfd::cli {
namespace {

using client::Result;
using ttmlir::Binary;
using ttmlir::KernelInfo;
using ttmlir::OperationInfo;
using ttmlir::ProgramInfo;
using ttmlir::TensorInfo;

std::string ShapeText(const TensorInfo& tensor) {
  return fmt::format("[{}]", fmt::join(tensor.shape, ","));
}

Json TensorJson(const TensorInfo& tensor) {
  return {{"id", tensor.id},
          {"shape", tensor.shape},
          {"dtype", tensor.dtype},
          {"layout", tensor.layout},
          {"memory", tensor.memory}};
}

std::string Ids(const std::vector<TensorInfo>& tensors) {
  std::string text;
  for (const TensorInfo& tensor : tensors) {
    text += fmt::format("{}%{}", text.empty() ? "" : " ", tensor.id);
  }
  return text;
}

std::string ResultText(const std::vector<TensorInfo>& results) {
  if (results.empty()) return "";
  const std::string first = results.front().ToString();
  return results.size() == 1 ? first : fmt::format("{} and {} more", first, results.size() - 1);
}

std::string AttributesText(const OperationInfo& operation) {
  std::string text;
  for (const auto& [name, value] : operation.attributes) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  }
  return text;
}

void PrintHeader(const Binary& binary) {
  PrintLine(fmt::format("{}: {} of tt-mlir {}, commit {}", binary.path(),
                        ttmlir::KindName(binary.kind()), binary.version(),
                        binary.git_hash().substr(0, 12)));
  PrintLine(fmt::format("schema: {}, read with profile {}",
                        binary.schema_hash().empty() ? "of that commit" : binary.schema_hash(),
                        binary.profile()));
}

std::string MeshText(const ProgramInfo& program) {
  return program.mesh_shape.empty() ? "1x1" : fmt::format("{}", fmt::join(program.mesh_shape, "x"));
}

void PrintPrograms(const std::vector<ProgramInfo>& programs) {
  std::vector<std::vector<std::string>> rows = {
      {"#", "PROGRAM", "INPUTS", "OUTPUTS", "OPERATIONS", "CHIPS", "NATIVE CODE"}};
  for (size_t i = 0; i < programs.size(); ++i) {
    const ProgramInfo& one = programs[i];
    rows.push_back({std::to_string(i), one.name + (one.is_private ? " (private)" : ""),
                    std::to_string(one.inputs.size()), std::to_string(one.outputs.size()),
                    std::to_string(one.operations), MeshText(one),
                    one.native_libraries == 0 ? "none" : Bytes(one.native_bytes)});
  }
  PrintTable(rows);
}

void PrintTensors(const ProgramInfo& program) {
  std::vector<std::vector<std::string>> rows = {
      {"", "TENSOR", "SHAPE", "DTYPE", "LAYOUT", "MEMORY"}};
  const auto append = [&rows](const char* what, const std::vector<TensorInfo>& tensors) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      const TensorInfo& one = tensors[i];
      rows.push_back({fmt::format("{} {}", what, i), fmt::format("%{}", one.id), ShapeText(one),
                      one.dtype, one.layout, one.memory});
    }
  };
  append("input", program.inputs);
  append("output", program.outputs);
  PrintTable(rows);
}

void PrintOperations(const std::vector<OperationInfo>& operations) {
  std::vector<std::vector<std::string>> rows = {
      {"#", "OPERATION", "RESULT", "OPERANDS", "ATTRIBUTES", "LOCATION"}};
  for (size_t i = 0; i < operations.size(); ++i) {
    const OperationInfo& one = operations[i];
    rows.push_back({std::to_string(i), one.type, ResultText(one.results), Ids(one.operands),
                    AttributesText(one), one.location});
  }
  PrintTable(rows);
}

void PrintKernels(const std::vector<KernelInfo>& kernels) {
  for (size_t i = 0; i < kernels.size(); ++i) {
    const KernelInfo& one = kernels[i];
    PrintLine("");
    PrintLine(fmt::format("kernel {} of command {}{}{}: {} on cores {}", i, one.command,
                          one.name.empty() ? "" : " ", one.name, one.processor, one.cores));
    if (one.source.empty()) {
      PrintLine(fmt::format("a binary of {}", Bytes(one.binary_bytes)));
    } else {
      PrintText(one.source + (one.source.ends_with('\n') ? "" : "\n"));
    }
  }
}

// Prints for each program whether it can run, and each problem.
void PrintSupport(const Binary& binary, const std::vector<size_t>& chosen) {
  std::vector<std::vector<std::string>> rows = {{"#", "PROGRAM", "RUNS", "PROBLEM"}};
  for (const size_t i : chosen) {
    const std::vector<ttmlir::Problem> problems = ttmlir::ProblemsOf(binary, i);
    const std::string& name = binary.programs()[i].name;
    rows.push_back({std::to_string(i), name, problems.empty() ? "yes" : "no", ""});
    for (const ttmlir::Problem& problem : problems) {
      rows.push_back({"", "", "", problem.text});
    }
  }
  PrintTable(rows);
}

Json OperationJson(const OperationInfo& one) {
  Json attributes = Json::object();
  for (const auto& [name, value] : one.attributes) attributes[name] = value;
  return {{"type", one.type},
          {"results", JsonList(one.results, TensorJson)},
          {"operands", JsonList(one.operands, TensorJson)},
          {"attributes", attributes},
          {"location", one.location}};
}

Json KernelJson(const KernelInfo& one) {
  return {{"command", one.command}, {"name", one.name},     {"processor", one.processor},
          {"cores", one.cores},     {"source", one.source}, {"binary_bytes", one.binary_bytes}};
}

Json ProblemJson(const ttmlir::Problem& one) {
  return {{"program", one.program}, {"operation", JsonOf(one.operation)}, {"problem", one.text}};
}

Json ProgramJson(const Binary& binary, size_t index, const InspectArguments& arguments) {
  const ProgramInfo& one = binary.programs()[index];
  Json json = {{"index", index},
               {"name", one.name},
               {"private", one.is_private},
               {"mesh_shape", one.mesh_shape},
               {"inputs", JsonList(one.inputs, TensorJson)},
               {"outputs", JsonList(one.outputs, TensorJson)},
               {"native_libraries", one.native_libraries},
               {"native_bytes", one.native_bytes}};
  if (arguments.operations) {
    json["operations"] = JsonList(binary.Operations(index), OperationJson);
  }
  if (arguments.support) {
    json["problems"] = JsonList(ttmlir::ProblemsOf(binary, index), ProblemJson);
  }
  if (arguments.kernels) json["kernels"] = JsonList(binary.Kernels(index), KernelJson);
  return json;
}

// The programs that `wanted` names, or all.
Result<std::vector<size_t>> Chosen(const Binary& binary, const std::string& wanted) {
  std::vector<size_t> chosen;
  std::vector<std::string> names;
  for (size_t i = 0; i < binary.programs().size(); ++i) {
    const std::string& name = binary.programs()[i].name;
    names.push_back(name);
    if (wanted.empty() || wanted == name || wanted == std::to_string(i)) chosen.push_back(i);
  }
  if (chosen.empty() && !wanted.empty()) {
    return UsageError(
        fmt::format("{} has no program {}; it has {}", binary.path(), wanted,
                    names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
  }
  return chosen;
}

void PrintParts(const Binary& binary, const std::vector<size_t>& chosen,
                const InspectArguments& arguments) {
  Json programs = Json::array();
  for (const size_t i : chosen) programs.push_back(ProgramJson(binary, i, arguments));
  PrintJson({{"file", binary.path()},
             {"kind", ttmlir::KindName(binary.kind())},
             {"version", binary.version()},
             {"git_hash", binary.git_hash()},
             {"schema_hash", binary.schema_hash()},
             {"profile", binary.profile()},
             {"programs", programs}});
}

int ListSupported(const Common& common) {
  const std::vector<ttmlir::SupportedOperation> supported = ttmlir::SupportedOperations();
  if (common.json) {
    PrintJson(JsonList(supported, [](const ttmlir::SupportedOperation& one) -> Json {
      return {{"type", one.type}, {"calls", one.calls}};
    }));
    return kOk;
  }
  std::vector<std::vector<std::string>> rows = {{"OPERATION", "CALLS"}};
  for (const ttmlir::SupportedOperation& one : supported) {
    rows.push_back({one.type, fmt::format("{}", fmt::join(one.calls, " "))});
  }
  PrintTable(rows);
  return kOk;
}

// Without the whole text in memory.
void PrintWhole(const Binary& binary) {
  constexpr size_t kBlockBytes = 1 << 16;
  std::string block;
  binary.WriteJson([&block](std::string_view part) {
    block += part;
    if (block.size() < kBlockBytes) return;
    PrintText(block);
    block.clear();
  });
  PrintText(block + "\n");
}

}  // namespace

int Inspect(const Common& common, const InspectArguments& arguments) {
  if (arguments.list) return ListSupported(common);
  if (arguments.file.empty()) return Fail(UsageError("inspect takes a file, or --list"));
  const Result<Binary> binary = Binary::Load(arguments.file, {.profiles = arguments.profiles});
  if (!binary.ok()) return Fail(binary.status());
  const Result<std::vector<size_t>> chosen = Chosen(*binary, arguments.program);
  if (!chosen.ok()) return Fail(chosen.status());
  const bool parts =
      arguments.operations || arguments.kernels || arguments.support || !arguments.program.empty();
  if (common.json) {
    if (parts) {
      PrintParts(*binary, *chosen, arguments);
    } else {
      PrintWhole(*binary);
    }
    return kOk;
  }
  if (!arguments.as.empty()) {
    const Result<std::string> text =
        ttmlir::PythonOf(*binary, chosen->empty() ? 0 : chosen->front());
    if (!text.ok()) return Fail(text.status());
    PrintText(*text);
    return kOk;
  }
  PrintHeader(*binary);
  if (binary->kind() == ttmlir::Kind::kSystem) {
    PrintText(JsonText(Json::parse(binary->SystemAsJson())) + "\n");
    return kOk;
  }
  if (!parts) {
    PrintPrograms(binary->programs());
    return kOk;
  }
  if (arguments.support) PrintSupport(*binary, *chosen);
  if (!arguments.operations && !arguments.kernels && arguments.support) return kOk;
  for (const size_t i : *chosen) {
    PrintLine("");
    PrintLine(fmt::format("program {} {}", i, binary->programs()[i].name));
    PrintTensors(binary->programs()[i]);
    if (arguments.operations) PrintOperations(binary->Operations(i));
    if (arguments.kernels) PrintKernels(binary->Kernels(i));
  }
  return kOk;
}

}  // namespace ttfd::cli
