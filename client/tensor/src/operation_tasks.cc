// Tasks of the cores of operations.
#include "client/tensor/src/operation_tasks.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "firmware/ops/words.h"
#include "ttfd/tiles.h"

namespace ttfd::tensor {
namespace {

constexpr uint32_t kProcessors = 5;

uint32_t IndexOf(client::Processor processor) { return static_cast<uint32_t>(processor) - 1; }

// Words of a kernel for core `core` of a launch, wherever it runs: a bitmap without cores makes it number 0.
std::vector<uint32_t> WordsOfCore(const Lowering& lowering, const KernelWords& kernel,
                                  uint32_t launch, uint32_t core) {
  std::vector<uint32_t> words = kernel.words;
  const uint32_t first = launch * lowering.items_per_launch;
  const ops::Cores cores = {.count = lowering.cores,
                            .shape = static_cast<uint32_t>(words.size()) << 24,
                            .first = first + core,
                            .end = std::min(lowering.items, first + lowering.items_per_launch)};
  std::memcpy(words.data(), &cores, sizeof(cores));
  words.resize(words.size() + ops::kBitmapWords);
  return words;
}

}  // namespace

Result<graph::Function> OperationTasks::FunctionOf(Family family) {
  const auto found = functions_.find(family);
  if (found != functions_.end()) return found->second;
  const client::Result<const KernelSet::Kernels*> kernels = card_->KernelsOf(family);
  if (!kernels.ok()) return kernels.status();
  std::array<client::Kernel, kProcessors> by_processor;
  const auto infos = InfoOf(family).kernels;
  for (size_t i = 0; i < infos.size(); ++i) {
    by_processor[IndexOf(infos[i].processor)] = client::Kernel(nullptr, (**kernels)[i].handle());
  }
  auto& [brisc, ncrisc, trisc0, trisc1, trisc2] = by_processor;
  const bool has_reader = ncrisc.handle() != 0, has_engine = trisc0.handle() != 0;
  const client::ComputeKernel engine({std::move(trisc0), std::move(trisc1), std::move(trisc2)});
  graph::FunctionOptions options;
  options.ncrisc = has_reader ? &ncrisc : nullptr;
  options.compute = has_engine ? &engine : nullptr;
  options.configured = true;
  const graph::Function function =
      graph_->AddFunction(std::string(InfoOf(family).name), brisc, std::move(options));
  return functions_.emplace(family, function).first->second;
}

graph::ConfigurationOptions OperationTasks::ConfigurationOf(const RecordedOperation& operation,
                                                            uint32_t launch, uint32_t core) const {
  const Lowering& lowering = operation.lowering;
  graph::ConfigurationOptions options;
  for (const CircularBufferUse& buffer : lowering.circular_buffers) {
    options.circular_buffers.push_back({buffer.index, buffer.pages,
                                        static_cast<uint32_t>(client::TileBytes(buffer.format)),
                                        buffer.format});
  }
  for (const FamilyInfo::Kernel& info : InfoOf(lowering.family).kernels) {
    const KernelWords& kernel = lowering.kernels[info.words];
    const std::vector<uint32_t> words = WordsOfCore(lowering, kernel, launch, core);
    std::vector<graph::Argument> arguments(words.begin(), words.end());
    for (const auto& [word, tensor] : kernel.addresses) {
      arguments[word] = graph::Argument::OfBuffer(operation.buffer(tensor));
    }
    options.common.push_back({info.processor, std::move(arguments)});
  }
  return options;
}

OperationTasks::Tasks OperationTasks::TasksBefore(const RecordedOperation& operation) {
  std::map<uint32_t, graph::Task> before;  // each once
  const auto add = [&before](const Tasks& tasks) {
    for (const graph::Task task : tasks) before.emplace(task.number, task);
  };
  for (const uint64_t input : operation.inputs) add(users_[input].writers);
  add(users_[operation.output].writers);
  add(users_[operation.output].readers);
  Tasks tasks;
  for (const auto& [number, task] : before) tasks.push_back(task);
  return tasks;
}

OperationTasks::Tasks OperationTasks::Joined(Tasks before, size_t count) {
  if (before.size() * count <= before.size() + count) return before;
  if (!join_) {
    graph::FunctionOptions options;
    options.configured = true;
    join_ = graph_->AddFunction("join", client::Kernel(), std::move(options));
    nothing_ = graph_->AddConfiguration({});
  }
  ++tasks_;
  return {graph_->AddConfigured(*join_, nothing_, {.after = std::move(before)})};
}

void OperationTasks::NoteUses(const RecordedOperation& operation, const Tasks& tasks) {
  for (const uint64_t input : operation.inputs) {
    Tasks& readers = users_[input].readers;
    readers.insert(readers.end(), tasks.begin(), tasks.end());
  }
  users_[operation.output] = {.writers = tasks, .readers = {}};
}

Status OperationTasks::Add(const RecordedOperation& operation) {
  const Result<graph::Function> function = FunctionOf(operation.lowering.family);
  if (!function.ok()) return function.status();
  const Lowering& lowering = operation.lowering;
  const Tasks before = Joined(TasksBefore(operation), size_t{lowering.launches()} * lowering.cores);
  Tasks tasks;
  for (uint32_t launch = 0; launch < lowering.launches(); ++launch) {
    const uint32_t items =
        std::min(lowering.items - launch * lowering.items_per_launch, lowering.items_per_launch);
    for (uint32_t core = 0; core < std::min(items, lowering.cores); ++core) {
      const graph::Configuration configuration =
          graph_->AddConfiguration(ConfigurationOf(operation, launch, core));
      tasks.push_back(graph_->AddConfigured(*function, configuration, {.after = before}));
    }
  }
  tasks_ += static_cast<uint32_t>(tasks.size());
  NoteUses(operation, tasks);
  return {};
}

}  // namespace ttfd::tensor
