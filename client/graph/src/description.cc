// The calls that describe a graph.
#include "client/graph/src/description.h"

#include <algorithm>

#include "client/graph/src/error.h"

namespace ttfd::graph {

void Description::Note(std::string field, std::string message) {
  if (status_.ok()) status_ = Invalid(std::move(field), std::move(message));
}

std::string Description::NameOf(uint32_t task) const {
  const std::string number = std::to_string(task);
  const size_t function = task < tasks_.size() ? tasks_[task].function : functions_.size();
  return function < functions_.size() ? number + " '" + functions_[function].name + "'" : number;
}

uint32_t Description::ListOf(const std::string& name, uint32_t fallback, const std::string& user) {
  if (name.empty()) return fallback;
  if (const auto list = placement_.Find(name)) return *list;
  Note("on", user + ": class '" + name + "' has no workers; the graph has " + placement_.Names());
  return fallback;
}

Function Description::AddFunction(std::string name, uint64_t kernel, FunctionOptions options) {
  const Function function{static_cast<uint32_t>(functions_.size())};
  FunctionEntry entry;
  entry.kernels[0] = kernel;
  if (options.ncrisc != nullptr) entry.kernels[1] = options.ncrisc->handle();
  for (size_t i = 0; options.compute != nullptr && i < 3; ++i) {
    entry.kernels[2 + i] = options.compute->kernels()[i].handle();
  }
  for (const uint64_t one : entry.kernels) kernels_ += one != 0 ? 1 : 0;
  const bool is_empty =
      (kernel == 0 && !options.configured) ||
      (options.ncrisc != nullptr && entry.kernels[1] == 0) ||
      (options.compute != nullptr &&
       std::find(entry.kernels.begin() + 2, entry.kernels.end(), 0) != entry.kernels.end());
  if (is_empty) {
    Note("function", "function '" + name + "' has an empty kernel");
    return function;
  }
  if (kernels_ > Graph::kMaxKernels) {
    Note("function", "with function '" + name + "' the graph's functions have " +
                         std::to_string(kernels_) + " kernels; at most " +
                         std::to_string(Graph::kMaxKernels) + " are allowed");
    return function;
  }
  entry.list = ListOf(options.on, 0, "function '" + name + "'");
  entry.configured = options.configured;
  entry.name = std::move(name);
  entry.host = std::move(options.host);
  functions_.push_back(std::move(entry));
  return function;
}

uint8_t Description::PartsOf(uint32_t function) const {
  const std::array<uint64_t, kHarts>& kernels = functions_[function].kernels;
  return static_cast<uint8_t>((kernels[1] != 0 ? layout::kNcriscPart : 0) |
                              (kernels[2] != 0 ? layout::kComputePart : 0) |
                              (functions_[function].configured ? layout::kConfigured : 0));
}

uint8_t Description::parts() const {
  uint8_t parts = 0;
  for (uint32_t i = 0; i < functions_.size(); ++i) parts |= PartsOf(i);
  return parts;
}

Task Description::AddTask(Function function, std::span<const Argument> arguments, bool configured,
                          const TaskOptions& options) {
  const Task task{static_cast<uint32_t>(tasks_.size())};
  TaskEntry& entry = tasks_.emplace_back();
  if (function.number >= functions_.size()) {
    Note("function", "task " + std::to_string(task.number) + ": function " +
                         std::to_string(function.number) + "; the graph has " +
                         std::to_string(functions_.size()));
    return task;
  }
  entry.function = static_cast<uint8_t>(function.number);
  if (functions_[function.number].configured != configured) {
    Note("function",
         "task " + NameOf(task.number) + " has " + (configured ? "a configuration" : "arguments") +
             "; its function was added with configured = " + (configured ? "false" : "true"));
    return task;
  }
  entry.list = static_cast<uint8_t>(functions_[function.number].list);
  if (!options.on.empty()) {
    entry.list =
        static_cast<uint8_t>(ListOf(options.on, entry.list, "task " + NameOf(task.number)));
  }
  if (arguments.size() > Graph::kMaxArguments) {
    Note("arguments", "task " + NameOf(task.number) + " has " + std::to_string(arguments.size()) +
                          " arguments; at most " + std::to_string(Graph::kMaxArguments) +
                          " are allowed");
    return task;
  }
  entry.first_word = static_cast<uint32_t>(words_.size());
  entry.arguments = static_cast<uint8_t>(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    if (argument.is_buffer()) entry.buffers = static_cast<uint16_t>(entry.buffers | 1u << i);
    words_.push_back(argument.is_buffer() ? BufferIndex(argument.buffer()) : argument.word());
  }
  for (const Task before : options.after) AddEdge(before, task);
  return task;
}

Configuration Description::AddConfiguration(const ConfigurationOptions& options) {
  const Configuration configuration{configurations_.size()};
  const Status added =
      configurations_.Add(options, [this](uint64_t handle) { return BufferIndex(handle); });
  if (!added.ok() && status_.ok()) status_ = added;
  return configuration;
}

Task Description::AddConfigured(Function function, Configuration configuration,
                                const TaskOptions& options) {
  if (configuration.number >= configurations_.size()) {
    Note("configuration", "configuration " + std::to_string(configuration.number) +
                              "; the graph has " + std::to_string(configurations_.size()));
    return {};
  }
  const Argument arguments[] = {configuration.number,
                                configurations_.UsedBytes(configuration.number)};
  return AddTask(function, arguments, /*configured=*/true, options);
}

void Description::AddEdge(Task before, Task after) {
  for (const Task task : {before, after}) {
    if (task.number < tasks_.size()) continue;
    Note("after", "an edge from task " + NameOf(before.number) + " to task " +
                      NameOf(after.number) + "; the graph has " + std::to_string(tasks_.size()) +
                      " tasks");
    return;
  }
  edges_.emplace_back(before.number, after.number);
}

Result<std::vector<uint32_t>> Description::Rebind(uint64_t from, uint64_t to) {
  std::vector<uint32_t> changed;
  for (uint32_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i] == from) changed.push_back(i);
  }
  if (changed.empty()) return Invalid("from", "no task names buffer " + std::to_string(from));
  for (const uint32_t index : changed) buffers_[index] = to;
  return changed;
}

// Graphs name few buffers, most often one of the last.
uint32_t Description::BufferIndex(uint64_t handle) {
  for (size_t i = buffers_.size(); i != 0; --i) {
    if (buffers_[i - 1] == handle) return static_cast<uint32_t>(i - 1);
  }
  if (buffers_.size() == kMostBuffers) {
    Note("arguments", "the tasks name more than " + std::to_string(kMostBuffers) +
                          " buffers, which are the most that a graph may have");
    return 0;
  }
  buffers_.push_back(handle);
  return static_cast<uint32_t>(buffers_.size() - 1);
}

}  // namespace ttfd::graph
