// Random task graphs.
#include "tests/support/random_graph.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

namespace ttfd::testing {
namespace {

constexpr uint32_t kPageBytes = 64;
constexpr uint32_t kNone = 0xFFFFFFFF;
constexpr uint32_t kMostRead = 4;

uint32_t Hash(uint32_t value) {
  value ^= value >> 16;
  value *= 0x7feb352du;
  return value ^ value >> 15;
}

void HostMix(std::span<const graph::HostArgument> arguments) {
  const std::span<std::byte> values = arguments[0].buffer;
  const uint32_t number = arguments[1].word;
  uint32_t value = number + 1;
  for (uint32_t i = 0; i < kMostRead && arguments[2 + i].word != kNone; ++i) {
    uint32_t read = 0;
    std::memcpy(&read, &values[size_t{arguments[2 + i].word} * kPageBytes], sizeof(read));
    value = Hash(value + read);
  }
  std::memcpy(&values[size_t{number} * kPageBytes], &value, sizeof(value));
}

}  // namespace

graph::GraphOptions OnWorkers(uint32_t grid_x, uint32_t workers) {
  graph::ClassOptions all{"WORKERS", {}};
  for (uint32_t i = 1; i <= workers; ++i) {
    all.cores.push_back(client::CoreRange::Single({i % grid_x, i / grid_x}));
  }
  graph::GraphOptions options;
  options.classes.push_back(std::move(all));
  return options;
}

RandomGraph::RandomGraph(client::Session& session, const client::Kernel& mix,
                         const RandomGraphOptions& options)
    : session_(session), graph_(session, options.graph) {
  status_ = Build(mix, options);
}

client::Status RandomGraph::Build(const client::Kernel& mix, const RandomGraphOptions& options) {
  const uint32_t tasks = options.tasks;
  client::Result<client::Buffer> values =
      session_.AllocateDram(uint64_t{tasks} * kPageBytes, {.page_bytes = kPageBytes});
  if (!values.ok()) return values.status();
  values_ = std::move(*values);
  const graph::Function function = graph_.AddFunction("mix", mix, {.on = {}, .host = HostMix});
  std::minstd_rand random(options.seed);
  const auto below = [&random](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  std::vector<uint32_t> place(tasks);  // of a task, in an order that is not that of the numbers
  std::vector<uint32_t> task_at(tasks);
  std::iota(task_at.begin(), task_at.end(), 0);
  std::shuffle(task_at.begin(), task_at.end(), random);
  for (uint32_t i = 0; i < tasks; ++i) place[task_at[i]] = i;
  std::vector<graph::Argument> arguments;
  std::vector<std::pair<uint32_t, uint32_t>> edges;
  for (uint32_t task = 0; task < tasks; ++task) {
    arguments.assign({values_, task, kNone, kNone, kNone, kNone});
    const uint32_t at = place[task], first = at > options.near ? at - options.near : 0;
    const uint32_t count = at == 0 ? 0 : below(kMostRead + 1);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t before = task_at[first + below(at - first)];
      arguments[2 + i] = before;
      edges.emplace_back(before, task);
    }
    graph_.Add(function, arguments);
  }
  for (const auto& [before, after] : edges) graph_.AddEdge({before}, {after});
  expected_.resize(values_.size_bytes());
  graph::HostMemory memory;
  memory.Bind(values_, expected_);
  return graph_.RunOnHost(memory);
}

client::Result<uint32_t> RandomGraph::CountWrong(client::Queue queue) {
  std::vector<std::byte> values(values_.size_bytes());
  client::Status status = queue.Fill(values_, 0, values_.size_bytes(), 0);
  if (status.ok()) status = graph_.Run(queue);
  if (status.ok()) status = queue.Read(values_, 0, values);
  if (!status.ok()) return status;
  uint32_t wrong = 0;
  for (size_t at = 0; at < values.size(); at += kPageBytes) {
    wrong += std::memcmp(&values[at], &expected_[at], sizeof(uint32_t)) != 0 ? 1 : 0;
  }
  return wrong;
}

}  // namespace ttfd::testing
