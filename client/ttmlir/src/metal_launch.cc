// Launches of a TTMetal program.
#include "client/ttmlir/src/metal_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "ttfd/tiles.h"

namespace ttfd::ttmlir {
namespace {

using client::CoreRange;
using client::DataFormat;
using client::Processor;

constexpr uint32_t kMaxSemaphores = 16;  // indices of a program
constexpr size_t kMaxSemaphorePlans = 256;
constexpr uint32_t kMaxRanges = 256;    // of cores, in a list
constexpr size_t kMaxArguments = 4096;  // of a kernel, of each kind
constexpr const char* kTooMany = "a kernel has more than 4096 arguments of a kind";
constexpr const char* kTooLarge = "the launches of the program take more than 24 MiB";
constexpr const char* kComputeOnly = "a compute kernel takes its pages as tiles";

// The operand of a command at an index that an argument has. Files of 2025 list buffers, later ones references of
// several kinds, those of 2024 tensors.
Record OperandAt(const Record& command, const Record& argument, std::string* problem) {
  List operands = command.Items("arg_refs");
  if (operands.empty()) operands = command.Items("buffers");
  if (operands.empty()) operands = command.Items("operands");
  const auto index = static_cast<uint64_t>(argument.Integer("operand_idx"));
  if (index < operands.size()) return operands.Child(static_cast<uint32_t>(index));
  *problem = fmt::format("it has no operand {}", index);
  return {};
}

bool Overlap(const std::vector<CoreRange>& some, const std::vector<CoreRange>& others) {
  return std::any_of(some.begin(), some.end(), [&](const CoreRange& a) {
    return std::any_of(others.begin(), others.end(), [&](const CoreRange& b) {
      return a.x0 <= b.x1 && b.x0 <= a.x1 && a.y0 <= b.y1 && b.y0 <= a.y1;
    });
  });
}

// The arguments of one kernel, in the words of the launch and in the text before its source.
class Arguments {
 public:
  Arguments(const Record& command, const MetalState& state, LaunchStep* launch,
            const std::vector<CoreRange>& cores)
      : command_(command), state_(state), launch_(*launch), cores_(cores) {}

  // In this order, which is TT-Metalium's for the indices of semaphores. Problems of one leave those after it unplanned.
  void AddCompileTime(const List& arguments);
  void AddCommon(const List& arguments);
  void AddRuntime(const List& arguments);

  const std::string& problem() const { return problem_; }
  std::vector<ArgumentWord> TakeWords() { return std::move(words_); }
  std::string Text() const;

 private:
  ArgumentWord WordOf(std::string_view kind, const Record& argument);
  ArgumentWord Buffer(const Record& argument);
  ArgumentWord Semaphore(int64_t initial);
  void AddWords(const List& arguments);
  void AddAccessor(const Record& argument);
  void AddNumber(uint32_t number) {
    if (++numbers_ > kMaxArguments) problem_ = kTooMany;
    if (problem_.empty()) text_ += fmt::format("{{{}u, false}}, ", number);
  }

  const Record& command_;
  const MetalState& state_;
  LaunchStep& launch_;
  const std::vector<CoreRange>& cores_;
  std::vector<ArgumentWord> words_;
  size_t first_common_ = 0;
  size_t first_runtime_ = 0;
  size_t numbers_ = 0;  // of compile-time arguments
  std::string text_;    // of compile-time arguments
  std::string names_;   // of those that have one
  std::string problem_;
};

ArgumentWord Arguments::Buffer(const Record& argument) {
  const auto id =
      static_cast<uint32_t>(OperandAt(command_, argument, &problem_).Integer("global_id"));
  if (problem_.empty() && !state_.buffers.contains(id)) {
    problem_ = fmt::format("an argument is the address of %{}, which is not on the card", id);
  }
  return {ArgumentWord::Kind::kAddress, id};
}

// Each argument has a semaphore of its own, with the lowest index that none of the kernel's cores has, as in TT-Metalium:
// kernels on several cores mean each other's semaphores by that.
ArgumentWord Arguments::Semaphore(int64_t initial) {
  const auto is_taken = [this](uint32_t index) {
    return std::any_of(launch_.semaphores.begin(), launch_.semaphores.end(),
                       [&](const SemaphorePlan& other) {
                         return other.index == index && Overlap(other.cores, cores_);
                       });
  };
  uint32_t index = 0;
  while (index < kMaxSemaphores && is_taken(index)) ++index;
  if (index == kMaxSemaphores || launch_.semaphores.size() == kMaxSemaphorePlans) {
    problem_ = fmt::format("it has more than {} semaphores on a core, or {} in all", kMaxSemaphores,
                           kMaxSemaphorePlans);
    return {};
  }
  launch_.semaphores.push_back({index, static_cast<uint32_t>(initial), cores_});
  return {ArgumentWord::Kind::kNumber, index};
}

ArgumentWord Arguments::WordOf(std::string_view kind, const Record& argument) {
  if (kind == "KernelArgBufferAddress" || kind == "KernelArgGlobalSemaphore" ||
      kind == "RuntimeArgTensorAddress") {
    return Buffer(argument);
  }
  if (kind == "KernelArgSemaphore" || kind == "RuntimeArgSemaphoreAddress") {
    if (argument.Integer("core_type") != 0) problem_ = "it has a semaphore of an Ethernet tile";
    return Semaphore(argument.Integer("initial_value"));
  }
  if (kind == "KernelArgLocalSemaphore") {
    const auto id =
        static_cast<uint32_t>(OperandAt(command_, argument, &problem_).Integer("global_id"));
    const auto known = state_.semaphores.find(id);
    if (known != state_.semaphores.end()) return Semaphore(known->second);
    if (problem_.empty()) problem_ = fmt::format("semaphore {} is not defined", id);
    return {};
  }
  if (kind == "KernelArgNamedArgument") {
    return {ArgumentWord::Kind::kNumber, static_cast<uint32_t>(argument.Integer("value"))};
  }
  if (kind == "KernelArgCBPort") {
    const auto index = static_cast<uint64_t>(argument.Integer("operand_idx"));
    const List ports = command_.Items("cbs");
    if (index >= ports.size()) problem_ = fmt::format("it has no circular buffer {}", index);
    const Record port = ports.Child(static_cast<uint32_t>(index));
    return {ArgumentWord::Kind::kNumber, static_cast<uint32_t>(port.Integer("port"))};
  }
  if (kind == "KernelArgScalar") {
    const auto id =
        static_cast<uint32_t>(OperandAt(command_, argument, &problem_).Integer("global_id"));
    const auto host = state_.hosts.find(id);
    if (problem_.empty() && (host == state_.hosts.end() || host->second.bytes() < sizeof(id))) {
      problem_ = fmt::format("an argument is the number %{}, which the host does not have", id);
    }
    return {ArgumentWord::Kind::kScalar, id};
  }
  problem_ = fmt::format("it has an argument of the kind {}", kind);
  return {};
}

void Arguments::AddCommon(const List& arguments) {
  first_common_ = words_.size();
  AddWords(arguments);
}

void Arguments::AddRuntime(const List& arguments) {
  first_runtime_ = words_.size();
  AddWords(arguments);
}

void Arguments::AddWords(const List& arguments) {
  if (words_.size() + arguments.size() > kMaxArguments) problem_ = kTooMany;
  for (uint32_t i = 0; i < arguments.size() && problem_.empty(); ++i) {
    const Record argument = arguments.Child(i);
    // Those of 2024 are a list of the kinds themselves.
    const Definition::Member* const kind = arguments.MemberOf(i);
    words_.push_back(kind != nullptr ? WordOf(kind->name, argument)
                                     : WordOf(argument.MemberName("arg"), argument.Child("arg")));
  }
}

void Arguments::AddAccessor(const Record& argument) {
  const uint32_t id = Buffer(argument).value;
  if (!problem_.empty()) return;
  const BufferSpec& buffer = state_.buffers.at(id);
  // The numbers of AccessorKind in <ttfd/metal/accessors.h>.
  constexpr uint32_t kInterleavedDram = 0;
  constexpr uint32_t kShardedL1 = 1;
  const uint64_t count =
      std::accumulate(buffer.cores.begin(), buffer.cores.end(), uint64_t{0},
                      [](uint64_t sum, const CoreRange& range) { return sum + range.count(); });
  if (count > kMaxArguments) problem_ = kTooMany;
  if (!problem_.empty()) return;
  std::vector<uint32_t> workers;
  for (const CoreRange& range : buffer.cores) {
    for (uint32_t y = range.y0; y <= range.y1; ++y) {
      for (uint32_t x = range.x0; x <= range.x1; ++x) workers.push_back(x | y << 16);
    }
  }
  AddNumber(workers.empty() ? kInterleavedDram : kShardedL1);
  AddNumber(buffer.row_pages);
  AddNumber(buffer.shard_rows);
  AddNumber(buffer.shard_row_pages);
  AddNumber(static_cast<uint32_t>(workers.size()));
  for (const uint32_t worker : workers) AddNumber(worker);
}

// What is not known without a card is in a word.
void Arguments::AddCompileTime(const List& arguments) {
  if (words_.size() + arguments.size() > kMaxArguments) problem_ = kTooMany;
  for (uint32_t i = 0; i < arguments.size() && problem_.empty(); ++i) {
    const std::string_view kind = arguments.Child(i).MemberName("arg");
    const Record argument = arguments.Child(i).Child("arg");
    if (kind == "KernelArgTensorAccessorArgs") {
      AddAccessor(argument);
      continue;
    }
    const ArgumentWord word = WordOf(kind, argument);
    if (word.kind == ArgumentWord::Kind::kNumber) {
      AddNumber(word.value);
    } else {
      text_ += fmt::format("{{{}u, true}}, ", words_.size());
      words_.push_back(word);
    }
    if (kind == "KernelArgNamedArgument") {
      const std::string_view name = argument.Text("name");
      const bool is_plain = std::all_of(name.begin(), name.end(), [](unsigned char letter) {
        return std::isalnum(letter) != 0 || letter == '_';
      });
      if (!is_plain) problem_ = "the name of an argument has other signs than letters and digits";
      names_ += fmt::format("{{\"{}\", {}u}}, ", name, word.value);
    }
  }
}

std::string Arguments::Text() const {
  return fmt::format(
      "#include <ttfd/metal/argument.h>\n"
      "namespace ttfd::metal {{\n"
      "inline constexpr CompileTimeArgument kCompileTimeArguments[] = {{{}{{}}}};\n"
      "inline constexpr NamedArgument kNamedArguments[] = {{{}{{}}}};\n"
      "inline constexpr uint32_t kFirstCommonArgument = {};\n"
      "inline constexpr uint32_t kFirstRuntimeArgument = {};\n"
      "}}\n"
      "#include <ttfd/metal.h>\n",
      text_, names_, first_common_, first_runtime_);
}

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
  Arguments arguments(command, *state, launch, plan.cores);
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

// What a circular buffer is, of either schema.
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

// Of a file of 2024, with the cores of its kernel.
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
  const bool is_old = source.find("NAMESPACE") != std::string_view::npos;
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
