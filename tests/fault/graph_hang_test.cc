// Tasks that hang or fault, in graphs through libttfd_graph and the real daemon: the error names the task, and a graph
// of another client is right. TTFD_SEEDS in the environment: how many seeds, in place of five.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>

#include "tests/support/client_daemon.h"
#include "tests/support/random_graph.h"

namespace ttfd::testing::graph_hang_test {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kTasks = 10'000;
constexpr uint32_t kEndings = 3;  // of task_stop.cc: waits, runs, faults

uint32_t Seeds() {
  const char* const text = std::getenv("TTFD_SEEDS");
  return text == nullptr ? 5 : static_cast<uint32_t>(std::atoi(text));
}

client::Session Connect(const ClientDaemon& daemon, const std::string& name) {
  auto session = client::Session::Connect({.address = daemon.address(), .client_name = name});
  EXPECT_TRUE(session.ok()) << session.status().ToString();
  return std::move(*session);
}

client::Kernel Load(client::Session& session, const std::string& name) {
  auto kernel = session.LoadKernelFile(KernelPath(name));
  EXPECT_TRUE(kernel.ok()) << kernel.status().ToString();
  return std::move(*kernel);
}

graph::GraphOptions OnRows(uint32_t first, uint32_t last) {
  return {.scheduler = {0, first},
          .classes = {{"WORKERS", {{1, first, 9, first}, {0, first + 1, 9, last}}}},
          .scratch = {},
          .timeout = std::chrono::milliseconds(1000)};
}

client::Queue QueueOnRows(client::Session& session, uint32_t first, uint32_t last) {
  auto queue = session.OpenQueue({.workers = {{0, first, 9, last}}});
  EXPECT_TRUE(queue.ok()) << queue.status().ToString();
  return *queue;
}

// A graph in which task `stopping` does what `how` means; the others do nothing.
graph::Graph GraphThatStops(client::Session& session, const client::Kernel& kernel,
                            uint32_t stopping, uint32_t how, std::mt19937* random) {
  graph::Graph graph(session, OnRows(0, 3));
  const graph::Function function = graph.AddFunction("task_stop", kernel);
  for (uint32_t task = 0; task < kTasks; ++task) {
    graph.Add(function, {task == stopping ? how : 0});
    if (task != 0) graph.AddEdge({static_cast<uint32_t>((*random)() % task)}, {task});
  }
  return graph;
}

TEST(GraphHangs, NameTheTaskAndLeaveOthersGraphsRight) {
  const ClientDaemon daemon({}, "[hangs]\nquarantine_hangs = 0\n");
  client::Session hanging = Connect(daemon, "hanging"), other = Connect(daemon, "other");
  const client::Kernel stop = Load(hanging, "task_stop"), mix = Load(other, "task_mix");
  client::Queue queue = QueueOnRows(hanging, 0, 3), other_queue = QueueOnRows(other, 4, 7);
  RandomGraph values(other, mix, {.tasks = 2000, .graph = OnRows(4, 7)});
  ASSERT_TRUE(values.status().ok()) << values.status().ToString();
  std::atomic<bool> done = false;
  uint32_t runs = 0, right = 0;
  // A run that was on the card when that was reset may have to be sent again.
  std::thread neighbour([&] {
    for (; !done || runs == 0; ++runs) {
      const auto wrong = values.CountWrong(other_queue);
      if (!wrong.ok() && wrong.status().retryable()) continue;
      ASSERT_TRUE(wrong.ok()) << wrong.status().ToString();
      ASSERT_EQ(*wrong, 0u);
      ++right;
    }
  });
  for (uint32_t seed = 1; seed <= Seeds(); ++seed) {
    std::mt19937 random(seed);
    const auto task = static_cast<uint32_t>(random() % kTasks);
    const uint32_t how = 1 + seed % kEndings;
    SCOPED_TRACE("seed " + std::to_string(seed) + ", ending " + std::to_string(how));
    graph::Graph graph = GraphThatStops(hanging, stop, task, how, &random);
    EXPECT_TRUE(graph.Load(queue).ok());
    const std::string error = graph.Run(queue).ToString();
    const std::string name = "task " + std::to_string(task);
    EXPECT_THAT(error, HasSubstr((how == 3 ? "faulted in " : "hung in ") + name));
    EXPECT_THAT(error, HasSubstr(name + " at task_stop.cc:"));
    EXPECT_THAT(error, HasSubstr(name + " 'task_stop.elf'"));
  }
  done = true;
  neighbour.join();
  EXPECT_GT(right, runs / 2);
}

// The kernel for BRISC of that task has returned, and waits for the one in the engine.
TEST(GraphHangs, NameTheTaskWhoseEngineWaits) {
  const ClientDaemon daemon({}, "[hangs]\nquarantine_hangs = 0\n");
  client::Session session = Connect(daemon, "hanging");
  const client::Kernel empty = Load(session, "empty");
  const std::string path = KernelPath("task_stop_engine_trisc0");
  const auto engine =
      session.LoadKernels(path.substr(0, path.size() - std::string("_trisc0.elf").size()));
  ASSERT_TRUE(engine.ok()) << engine.status().ToString();
  for (uint32_t seed = 1; seed <= Seeds(); ++seed) {
    std::mt19937 random(seed);
    const auto stopping = static_cast<uint32_t>(random() % 1000);
    graph::Graph graph(session, OnRows(0, 3));
    const graph::Function function = graph.AddFunction(
        "stop", empty, {.on = {}, .host = {}, .ncrisc = nullptr, .compute = &*engine});
    for (uint32_t task = 0; task < 1000; ++task) graph.Add(function, {task == stopping ? 1 : 0});
    const std::string error = graph.Run(session.queue()).ToString();
    EXPECT_THAT(
        error, HasSubstr(" hung in task " + std::to_string(stopping) + " at task_stop_engine.cc:"));
  }
}

}  // namespace
}  // namespace ttfd::testing::graph_hang_test
