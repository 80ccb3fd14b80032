// Example: a graph of integer tasks that the card schedules itself, checked against the host.
//
//   task_graph KERNELS_FOLDER [TASKS [RELAUNCHES]]
//
// A task's value is a hash of those of up to four tasks before it: one that ran too early, twice or
// not at all would change the values. The graph runs on the host, on the card, and many times more on
// the card without another upload. task_graph.py is the same program in Python.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "check.h"
#include "stopwatch.h"
#include "ttfd/graph/graph.h"

namespace {

using ttfd::client::Buffer;
using ttfd::client::Kernel;
using ttfd::client::Queue;
using ttfd::client::Session;
using ttfd::graph::Argument;
using ttfd::graph::Graph;
using ttfd::graph::HostArgument;

constexpr uint32_t kPageBytes = 64;  // of a value
constexpr uint32_t kNone = 0xFFFFFFFF;
constexpr uint32_t kMostRead = 4;  // values that a task reads
constexpr uint32_t kNear = 1000;   // tasks read values of the last 1000 before them

uint32_t Mix(uint32_t value) {
  value ^= value >> 16;
  value *= 0x7feb352du;
  return value ^ value >> 15;
}

// The function of task_mix.cc.
void HostMix(std::span<const HostArgument> arguments) {
  const std::span<std::byte> values = arguments[0].buffer;
  const uint32_t number = arguments[1].word;
  uint32_t value = number + 1;
  for (uint32_t i = 0; i < kMostRead && arguments[2 + i].word != kNone; ++i) {
    uint32_t read = 0;
    std::memcpy(&read, &values[size_t{arguments[2 + i].word} * kPageBytes], sizeof(read));
    value = Mix(value + read);
  }
  std::memcpy(&values[size_t{number} * kPageBytes], &value, sizeof(value));
}

void AddTasks(Graph* graph, ttfd::graph::Function mix, const Buffer& values, uint32_t tasks) {
  std::minstd_rand random(1);
  const auto below = [&random](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  std::vector<uint32_t> numbers(tasks);  // say nothing of the order
  std::iota(numbers.begin(), numbers.end(), 0);
  std::shuffle(numbers.begin(), numbers.end(), random);
  std::vector<std::vector<uint32_t>> before(tasks);
  for (uint32_t place = 1; place < tasks; ++place) {
    const uint32_t first = place > kNear ? place - kNear : 0;
    for (uint32_t count = below(kMostRead + 1); count != 0; --count) {
      before[numbers[place]].push_back(numbers[first + below(place - first)]);
    }
  }
  for (uint32_t task = 0; task < tasks; ++task) {
    std::vector<Argument> arguments = {values, task};
    for (const uint32_t one : before[task]) arguments.emplace_back(one);
    arguments.resize(2 + kMostRead, kNone);
    graph->Add(mix, arguments);
  }
  for (uint32_t task = 0; task < tasks; ++task) {
    for (const uint32_t one : before[task]) graph->AddEdge({one}, {task});
  }
}

bool Verify(Queue queue, const Buffer& values, std::span<const std::byte> expected,
            const std::string& what) {
  std::vector<std::byte> found(values.size_bytes());
  Check(queue.Read(values, 0, found), "read");
  uint32_t wrong = 0;
  for (size_t at = 0; at < found.size(); at += kPageBytes) {
    wrong += std::memcmp(&found[at], &expected[at], sizeof(uint32_t)) != 0 ? 1 : 0;
  }
  std::printf("%s: %u of %zu values differ from the host's\n", what.c_str(), wrong,
              found.size() / kPageBytes);
  return wrong == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int tasks = argc > 2 ? std::atoi(argv[2]) : 10'000;
  const int relaunches = argc > 3 ? std::atoi(argv[3]) : 1000;
  if (argc < 2 || argc > 4 || tasks < 1 || relaunches < 0) {
    std::fprintf(stderr, "task_graph KERNELS_FOLDER [TASKS [RELAUNCHES]]\n");
    return 2;
  }
  Session session = Check(Session::Connect({.client_name = "task_graph"}), "connect");
  const Kernel kernel =
      Check(session.LoadKernelFile(std::string(argv[1]) + "/task_mix.elf"), "load");
  const Buffer values =
      Check(session.AllocateDram(uint64_t{kPageBytes} * static_cast<uint32_t>(tasks),
                                 {.page_bytes = kPageBytes}),
            "allocate");
  Graph graph(session);
  AddTasks(&graph, graph.AddFunction("mix", kernel, {.on = {}, .host = HostMix}), values,
           static_cast<uint32_t>(tasks));
  std::vector<std::byte> expected(values.size_bytes());
  ttfd::graph::HostMemory memory;
  memory.Bind(values, expected);
  Check(graph.RunOnHost(memory), "run on the host");

  Queue queue = session.queue();
  Check(graph.Run(queue), "run");
  bool right = Verify(queue, values, expected,
                      std::to_string(graph.tasks()) + " integer tasks with " +
                          std::to_string(graph.edges()) + " edges");
  double ms = 0;
  for (int i = 0; i < relaunches; ++i) {
    Check(queue.Fill(values, 0, values.size_bytes(), 0), "fill");  // nothing of the last run helps
    Stopwatch watch;
    Check(graph.Run(queue), "run again");
    ms += watch.Lap();
  }
  if (relaunches != 0) {
    right &= Verify(queue, values, expected, "after " + std::to_string(relaunches) + " relaunches");
    const ttfd::graph::RunReport report = Check(graph.ReadReport(queue), "report");
    std::printf("%.2f million tasks a second, %.1f clocks a task, %.2f ms a launch on %u workers\n",
                relaunches * 1e-3 * tasks / ms, static_cast<double>(report.clocks) / tasks,
                ms / relaunches, session.device().workers() - 1);
  }
  if (right) std::printf("verified: all values are those of the host\n");
  return right ? 0 : 1;
}
