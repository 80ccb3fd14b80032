// Launches of a TTMetal program.
#include "client/ttmlir/src/metal_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "client/ttmlir/src/metal_arguments.h"
#include "ttfd/tiles.h"

namespace ttfd::ttmlir {
namespace {

using client::CoreRange;
using client::DataFormat;
using client::Processor;

constexpr uint32_t kMaxRanges = 256;  // of cores, in a list
constexpr const char* kTooLarge = "the launches of the program take more than 24 MiB";
constexpr const char* kComputeOnly = "a compute kernel takes its pages as tiles";

// The harts of a kernel; empty: another tile than a worker's, or a hart that a worker does not have.
std::vector<Processor> ProcessorsOf(const Record& kernel) {
  const Record code = kernel.Child("kernel");
  std::string_view config = kernel.MemberName("type");
  Record detail = kernel.Child("type");
  if (config.empty()) {
    config = code.MemberName("config");
    detail = code.Child("config");
  }
  std::string_view hart = config == "NocConfig" ? detail.Name("processor") : config;
  if (config == "NocConfig" && hart.empty()) hart = detail.Name("noc_index");
  if (hart.empty()) hart = code.Name("source_type");
  if (hart == "ComputeConfig" || hart == "TensixConfig" || hart == "Tensix") {
    return {Processor::kTrisc0, Processor::kTrisc1, Processor::kTrisc2};
  }
  if (hart == "Noc0" || hart == "RISCV_0") return {Processor::kBrisc};
  if (hart == "Noc1" || hart == "RISCV_1") return {Processor::kNcrisc};
  return {};
}

// Problems that kernels of these settings would have without a message.
std::string ProblemOfKernel(const Record& kernel, bool is_compute) {
  if (kernel.MemberName("kernel") != "KernelSource") return "its kernel is not C++ source";
  const Record config = kernel.Child("type");
  if (is_compute && config.Integer("dst_full_sync_en") != 0 &&
      config.Integer("fp32_dest_acc_en") == 0) {
    return "its kernel uses 16 tiles of Dst, of which kernels here have 8";
  }
  const bool has_arguments =
      kernel.definition().name == "KernelConfig" || kernel.Has("runtime_args");
  if (!is_compute && !has_arguments) {
    return "its kernel that moves data has no arguments: the addresses in its source are those of "
           "the card it was compiled for";
  }
  return "";
}

std::string PlanKernel(const Record& command, const Record& kernel, const std::string& name,
                       MetalState* state, LaunchStep* launch) {
  KernelPlan plan = {.name = name, .processors = ProcessorsOf(kernel)};
  if (plan.processors.empty()) return "its kernel is for a hart that workers do not have";
  std::string problem = ProblemOfKernel(kernel, plan.is_compute());
  if (problem.empty()) problem = CoresOf(kernel.Items("core_range_set"), &plan.cores);
  if (!problem.empty()) return problem;
  KernelArguments arguments(command, *state, launch, plan.cores);
  const Record lists = kernel.Child("args");
  const size_t semaphores = launch->semaphores.size();
  arguments.AddCompileTime(lists.Items("ct_args"));
  arguments.AddCommon(lists.Items("crt_args"));
  arguments.AddRuntime(lists ? lists.Items("rt_args") : kernel.Items("runtime_args"));
  if (!arguments.problem().empty()) return arguments.problem();
  plan.arguments = arguments.Text();
  plan.source = kernel.Child("kernel").Text("source");
  plan.words = arguments.TakeWords();
  if (!state->Charge(
          sizeof(plan) + plan.arguments.size() + plan.words.size() * sizeof(plan.words[0]) +
          plan.cores.size() * sizeof(CoreRange) * (1 + launch->semaphores.size() - semaphores))) {
    return kTooLarge;
  }
  launch->kernels.push_back(std::move(plan));
  return "";
}

// A circular buffer, of either schema.
struct CircularBufferRecord {
  uint32_t index = 0;
  uint64_t bytes = 0;
  uint64_t page_bytes = 0;
  std::string_view dtype;
  std::optional<uint32_t> buffer = {};
};

std::string AddCircularBuffer(const CircularBufferRecord& record, std::vector<CoreRange> cores,
                              MetalState* state, LaunchStep* launch) {
  const std::string name = fmt::format("circular buffer {}", record.index);
  const uint64_t pages = record.page_bytes == 0 ? 0 : record.bytes / record.page_bytes;
  if (pages == 0 || record.bytes % record.page_bytes != 0 || record.bytes > UINT32_MAX) {
    return fmt::format("{} of {} bytes has pages of {}", name, record.bytes, record.page_bytes);
  }
  if (record.buffer) {
    const auto found = state->buffers.find(*record.buffer);
    if (found == state->buffers.end() || found->second.cores.empty()) {
      return fmt::format("{} lies on %{}, which is not in L1", name, *record.buffer);
    }
    if (found->second.shard_bytes() < record.bytes) {
      return fmt::format("{} has {} bytes, and each core {} of %{}", name, record.bytes,
                         found->second.shard_bytes(), *record.buffer);
    }
  }
  CircularBufferPlan plan = {
      record.index,     static_cast<uint32_t>(pages), static_cast<uint32_t>(record.page_bytes),
      std::move(cores), FormatOf(record.dtype),       record.buffer};
  const bool is_tile = client::TileBytes(plan.format) == record.page_bytes;
  const bool computes = std::any_of(launch->kernels.begin(), launch->kernels.end(),
                                    [](const KernelPlan& kernel) { return kernel.is_compute(); });
  const bool is_computed = plan.format == DataFormat::kFloat32 ||
                           plan.format == DataFormat::kFloat16B ||
                           plan.format == DataFormat::kBfp8B;
  if (computes && !is_computed) {
    return fmt::format("{} has elements of {}, which compute kernels do not take", name,
                       record.dtype);
  }
  if (!is_tile && computes) {
    return fmt::format("{} has pages of {} bytes of {}: {}", name, record.page_bytes, record.dtype,
                       kComputeOnly);
  }
  if (!is_tile) plan.format = DataFormat::kNone;
  // Each kernel of 2024 has its own list.
  const auto same = [&plan](const CircularBufferPlan& other) {
    return other.index == plan.index && other.cores == plan.cores && other.buffer == plan.buffer &&
           other.pages == plan.pages && other.page_bytes == plan.page_bytes &&
           other.format == plan.format;
  };
  auto& all = launch->circular_buffers;
  if (std::any_of(all.begin(), all.end(), same)) return "";
  if (!state->Charge(sizeof(plan) + plan.cores.size() * sizeof(CoreRange))) return kTooLarge;
  all.push_back(std::move(plan));
  return "";
}

// Plans one of a file of 2024, with the cores of its kernel.
std::string PlanOldCircularBuffer(const Record& ref, const std::vector<CoreRange>& cores,
                                  MetalState* state, LaunchStep* launch) {
  const Record desc = ref.Child("desc");
  const Record memory = desc.Child("memory_desc");
  CircularBufferRecord record = {.index = static_cast<uint32_t>(desc.Integer("port")),
                                 .bytes = static_cast<uint64_t>(memory.Integer("size")) *
                                          static_cast<uint64_t>(desc.Integer("num_buffers")),
                                 .page_bytes = static_cast<uint64_t>(desc.Integer("page_size")),
                                 .dtype = memory.Name("data_type")};
  const Record tensor = ref.Child("tensor_ref");
  if (tensor && tensor.Integer("address") == ref.Integer("address")) {
    record.buffer = static_cast<uint32_t>(tensor.Integer("global_id"));
  }
  return AddCircularBuffer(record, cores, state, launch);
}

std::string PlanCircularBuffer(const Record& ref, MetalState* state, LaunchStep* launch) {
  const Record buffer = ref.Child("buffer_ref");
  const Record desc = buffer.Child("desc");
  const Record config = desc.Child("buffer_detail").Child("circular_buffer_config");
  if (!config) return "";  // a port whose address alone is an argument
  std::vector<CoreRange> cores;
  std::string problem = CoresOf(config.Items("core_range_set"), &cores);
  if (!problem.empty()) return problem;
  return AddCircularBuffer({.index = static_cast<uint32_t>(ref.Integer("port")),
                            .bytes = static_cast<uint64_t>(config.Integer("total_size")),
                            .page_bytes = static_cast<uint64_t>(config.Integer("page_size")),
                            .dtype = desc.Name("data_type"),
                            .buffer = static_cast<uint32_t>(buffer.Integer("global_id"))},
                           std::move(cores), state, launch);
}

}  // namespace

KernelSource KernelPlan::WholeSource() const {
  const bool is_old = source.find("namespace NAMESPACE") != std::string_view::npos;
  // A kernel of 2024 has another entry.
  std::string text = fmt::format("{}{}#line 1 \"{}\"\n{}\n{}", arguments,
                                 is_compute() ? "using namespace ttfd::compute;\n" : "",
                                 kKernelFile, WithoutIncludes(std::string(source)),
                                 is_old ? "void kernel_main() { NAMESPACE::MAIN; }\n" : "");
  return {name, std::move(text), processors, is_compute()};
}

std::string CoresOf(const List& ranges, std::vector<CoreRange>* cores) {
  if (ranges.size() > kMaxRanges)
    return fmt::format("it has more than {} ranges of cores", kMaxRanges);
  for (uint32_t i = 0; i < ranges.size(); ++i) {
    const Record first = ranges.Child(i).Child("loc");
    const Record size = ranges.Child(i).Child("size");
    const std::array<int64_t, 4> numbers = {first.Integer("x"), first.Integer("y"),
                                            size.Integer("x"), size.Integer("y")};
    const bool fits = numbers[0] >= 0 && numbers[1] >= 0 && numbers[2] > 0 && numbers[3] > 0 &&
                      numbers[0] + numbers[2] <= kMaxCoordinate &&
                      numbers[1] + numbers[3] <= kMaxCoordinate;
    if (!fits) return "a range of cores is not in the grid of a card";
    const auto x = static_cast<uint32_t>(numbers[0]);
    const auto y = static_cast<uint32_t>(numbers[1]);
    cores->push_back({x, y, x + static_cast<uint32_t>(numbers[2]) - 1,
                      y + static_cast<uint32_t>(numbers[3]) - 1});
  }
  return cores->empty() ? "it names no cores" : "";
}

DataFormat FormatOf(std::string_view dtype) {
  if (dtype == "Float32") return DataFormat::kFloat32;
  if (dtype == "BFloat16") return DataFormat::kFloat16B;
  if (dtype == "BFP_BFloat8") return DataFormat::kBfp8B;
  if (dtype == "Int32" || dtype == "UInt32") return DataFormat::kInt32;
  if (dtype == "UInt16") return DataFormat::kUInt16;
  return DataFormat::kNone;
}

std::string PlanLaunch(const Record& command, size_t index, MetalState* state, LaunchStep* launch) {
  if (!command.Items("fabric_connection_configs").empty() ||
      command.Child("fabric_connection_config")) {
    return "its kernels reach other chips";
  }
  const List kernels = command.Child("program").Items("kernels");
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    const std::string name = fmt::format("kernel {} of command {}", i, index);
    std::string problem = PlanKernel(command, kernels.Child(i), name, state, launch);
    if (!problem.empty()) return fmt::format("{}: {}", name, problem);
  }
  std::string problem;
  for (uint32_t i = 0; i < kernels.size() && problem.empty(); ++i) {
    const List old = kernels.Child(i).Items("cbs");
    for (uint32_t j = 0; j < old.size() && problem.empty(); ++j) {
      problem = PlanOldCircularBuffer(old.Child(j), launch->kernels[i].cores, state, launch);
    }
  }
  const List ports = command.Items("cbs");
  for (uint32_t i = 0; i < ports.size() && problem.empty(); ++i) {
    problem = PlanCircularBuffer(ports.Child(i), state, launch);
  }
  return problem;
}

}  // namespace ttfd::ttmlir
