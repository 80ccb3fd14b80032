// The functions, tasks and edges of a graph, as its calls described them. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "client/graph/src/configurations.h"
#include "client/graph/src/placement.h"
#include "firmware/graph/layout.h"
#include "ttfd/graph/graph.h"

namespace ttfd::graph {

class Description {
 public:
  static constexpr uint32_t kHarts = 5;  // BRISC, NCRISC, TRISC0 to TRISC2
  struct FunctionEntry {
    std::string name;
    // Handles by hart; 0: none.
    std::array<uint64_t, kHarts> kernels = {};
    uint32_t list = 0;  // class
    bool configured = false;
    HostFunction host;
  };
  struct TaskEntry {
    uint32_t first_word = 0;  // of its arguments
    uint16_t buffers = 0;     // bit i: argument i is an index into buffers()
    uint8_t arguments = 0;
    uint8_t function = 0;
    uint8_t list = 0;
  };
  using Edge = std::pair<uint32_t, uint32_t>;  // before, after

  // `placement` outlives this.
  explicit Description(const Placement& placement) : placement_(placement) {}

  Function AddFunction(std::string name, uint64_t kernel, FunctionOptions options);
  Task Add(Function function, std::span<const Argument> arguments, const TaskOptions& options) {
    return AddTask(function, arguments, /*configured=*/false, options);
  }
  Configuration AddConfiguration(const ConfigurationOptions& options);
  Task AddConfigured(Function function, Configuration configuration, const TaskOptions& options);
  void AddEdge(Task before, Task after);

  // Replaces a buffer in all tasks. Returns its indices.
  Result<std::vector<uint32_t>> Rebind(uint64_t from, uint64_t to);

  const std::vector<FunctionEntry>& functions() const { return functions_; }
  const std::vector<TaskEntry>& tasks() const { return tasks_; }
  const std::vector<Edge>& edges() const { return edges_; }
  const std::vector<uint64_t>& buffers() const { return buffers_; }
  const Configurations& configurations() const { return configurations_; }
  std::span<const uint32_t> Arguments(const TaskEntry& task) const {
    return std::span(words_).subspan(task.first_word, task.arguments);
  }
  // Bits of layout::Call::arguments: the harts besides BRISC on which a function has kernels, or any function, and
  // whether it is configured.
  uint8_t PartsOf(uint32_t function) const;
  uint8_t parts() const;
  // "7 'matmul'".
  std::string NameOf(uint32_t task) const;
  // The first mistake in a call, or OK.
  const Status& status() const { return status_; }

 private:
  // More never fit the words of a launch; CardGraph has the exact limit.
  static constexpr size_t kMostBuffers = layout::MaxBuffers(0);

  // `configured`: the arguments name a configuration.
  Task AddTask(Function function, std::span<const Argument> arguments, bool configured,
               const TaskOptions& options);
  void Note(std::string field, std::string message);
  // The list of class `name`, or `fallback` where it is empty; notes one that the graph does not have.
  uint32_t ListOf(const std::string& name, uint32_t fallback, const std::string& user);
  uint32_t BufferIndex(uint64_t handle);

  const Placement& placement_;
  std::vector<FunctionEntry> functions_;
  uint32_t kernels_ = 0;  // of all functions
  std::vector<TaskEntry> tasks_;
  std::vector<uint32_t> words_;  // of all arguments
  std::vector<Edge> edges_;
  std::vector<uint64_t> buffers_;  // handles
  Configurations configurations_;
  Status status_;
};

}  // namespace ttfd::graph
