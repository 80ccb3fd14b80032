// ttfdctl run FILE of a compiled program.
#include "client/cli/run_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>

#include "client/cli/exit_code.h"
#include "client/cli/json.h"
#include "client/cli/npy.h"
#include "client/cli/printing.h"
#include "client/cli/tensor_files.h"
#include "ttfd/ttmlir/submit.h"

namespace ttfd::cli {
namespace {

using client::Result;
using client::Status;
using tensor::Tensor;
using ttmlir::Binary;
using ttmlir::GoldenCheck;
using ttmlir::TensorInfo;

// Reading an output waits so long at most: on the model a program may take minutes.
constexpr std::chrono::hours kLongestProgram(1);

constexpr double kLeastCorrelation = 0.99;  // with a golden tensor, as tt-mlir's own tool has it

Result<size_t> ProgramNamed(const Binary& binary, const std::string& wanted) {
  std::vector<std::string> names;
  for (size_t i = 0; i < binary.programs().size(); ++i) {
    const ttmlir::ProgramInfo& one = binary.programs()[i];
    names.push_back(one.name);
    if (wanted.empty() ? !one.is_private : wanted == one.name || wanted == std::to_string(i)) {
      return i;
    }
  }
  return UsageError(fmt::format("{} has no program {}; it has {}", binary.path(), wanted,
                                fmt::join(names, ", ")));
}

bool IsInteger(const TensorInfo& input) {
  return input.dtype.starts_with("Int") || input.dtype.starts_with("UInt");
}

// In the type and layout that the program describes: it may change the input in place.
Tensor TensorOf(tensor::Card& card, const NpyArray& array, const TensorInfo& input) {
  tensor::Shape shape(array.shape);
  const auto layout = input.layout == "tile" ? tensor::Layout::kTile : tensor::Layout::kRowMajor;
  if (!IsInteger(input)) {
    auto dtype = tensor::DType::kFloat32;
    if (input.dtype == "BFloat16") dtype = tensor::DType::kBFloat16;
    if (input.dtype == "BFP_BFloat8") dtype = tensor::DType::kBfp8;
    const std::vector<float> converted(array.integers.begin(), array.integers.end());
    return card.FromHost(array.integers.empty() ? array.numbers : converted, std::move(shape),
                         dtype, layout);
  }
  if (!array.integers.empty()) return card.FromHost(array.integers, std::move(shape), layout);
  std::vector<uint32_t> integers;
  for (const float number : array.numbers) {
    constexpr float kMost = 4294967040.0F;  // the greatest float below 2^32
    if (!(number >= -2147483648.0F && number <= kMost) || number != std::trunc(number)) {
      return UsageError(fmt::format("an input of {} has the element {}", input.dtype, number));
    }
    integers.push_back(static_cast<uint32_t>(static_cast<int64_t>(number)));
  }
  return card.FromHost(integers, std::move(shape), layout);
}

Result<Ran> RunOn(tensor::Card& card, const Binary& binary, size_t program,
                  const ProgramOptions& options, std::vector<GoldenCheck>* checks) {
  const std::vector<TensorInfo>& described = binary.programs()[program].inputs;
  std::vector<std::vector<float>> golden;
  if (options.inputs.empty() && !options.check.empty()) {
    golden = ttmlir::GoldenInputs(binary, program);
  }
  if (options.inputs.size() != described.size() && golden.empty()) {
    return UsageError(fmt::format("program {} has {} inputs, and --input is given {} times",
                                  binary.programs()[program].name, described.size(),
                                  options.inputs.size()));
  }
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < described.size(); ++i) {
    Result<NpyArray> array = golden.empty() ? ReadNpy(options.inputs[i]) : NpyArray();
    if (!array.ok()) return array.status();
    if (!golden.empty()) {
      array->shape.assign(described[i].shape.begin(), described[i].shape.end());
      array->numbers = std::move(golden[i]);
    }
    inputs.push_back(TensorOf(card, *array, described[i]));
    if (!inputs.back().ok()) return inputs.back().status();
  }
  ttmlir::SubmitOptions submit;
  submit.allow_native = options.allow_native;
  if (!options.check.empty()) {
    submit.on_golden = [checks](const GoldenCheck& check) { checks->push_back(check); };
  }
  Result<Ran> ran =
      Timed(card, [&] { return ttmlir::Submit(card, binary, program, inputs, submit); });
  if (ran.ok() && binary.kind() == ttmlir::Kind::kTtMetal) {  // whose launches are no operations
    const std::vector<ttmlir::OperationInfo> commands = binary.Operations(program);
    ran->launches += std::count_if(commands.begin(), commands.end(), [](const auto& command) {
      return command.type == "EnqueueProgramCommand";
    });
  }
  return ran;
}

// The lines of what a compiler says of a kernel, each of which names ttfdctl.
ExitCode FailInLines(const Status& status) {
  std::istringstream lines(status.ToString());
  for (std::string line; std::getline(lines, line);) PrintMessage(line);
  return ExitCodeOf(status);
}

// kFailed: a result is not close, or nothing was compared.
ExitCode ReportGolden(const Common& common, const std::string& file,
                      const std::vector<GoldenCheck>& checks) {
  std::vector<std::vector<std::string>> rows = {{"CORRELATION", "ERROR", "OF"}};
  bool close = true;
  for (const GoldenCheck& check : checks) {
    close = close && check.correlation >= kLeastCorrelation;
    rows.push_back({fmt::format("{:.6f}", check.correlation),
                    fmt::format("{:.2g}", check.relative_error), check.name});
  }
  if (checks.empty()) {
    PrintMessage(file + " has no golden tensors of this program");
    return kFailed;
  }
  if (common.json) {
    PrintJson(JsonList(checks, [](const GoldenCheck& check) -> Json {
      return {{"of", check.name},
              {"correlation", check.correlation},
              {"relative_error", check.relative_error}};
    }));
  } else {
    PrintTable(rows);
  }
  if (!close) PrintMessage(fmt::format("a correlation is below {}", kLeastCorrelation));
  return close ? kOk : kFailed;
}

}  // namespace

bool IsCompiledProgram(const std::string& path) {
  std::array<char, 12> head = {};
  std::ifstream(path, std::ios::binary).read(head.data(), head.size());
  const std::string_view identifier(head.data() + 8, 4);
  return identifier == "TTNN" || identifier == "TTM0" || identifier == "TTSY";
}

int RunProgram(const Common& common, const std::string& file, const ProgramOptions& options) {
  const Result<Binary> binary = Binary::Load(file, {.profiles = options.profiles});
  if (!binary.ok()) return Fail(binary.status());
  const Result<size_t> program = ProgramNamed(*binary, options.program);
  if (!program.ok()) return Fail(program.status());
  const Status runnable =
      ttmlir::CheckRunnable(*binary, *program, {.allow_native = options.allow_native});
  if (!runnable.ok()) return Fail(runnable);
  Result<tensor::Card> card = tensor::Card::Open({.connect = {.address = common.address,
                                                              .client_name = "ttfdctl run",
                                                              .connect_timeout = common.timeout(),
                                                              .call_timeout = kLongestProgram}});
  if (!card.ok()) return Fail(card.status());
  std::vector<GoldenCheck> checks;
  const Result<Ran> ran = RunOn(*card, *binary, *program, options, &checks);
  if (!ran.ok()) return FailInLines(ran.status());
  if (Status status = Save(*ran, options.outputs); !status.ok()) return Fail(status);
  Report(common, "program", binary->programs()[*program].name, options.outputs, *ran);
  return options.check.empty() ? kOk : ReportGolden(common, file, checks);
}

}  // namespace ttfd::cli
