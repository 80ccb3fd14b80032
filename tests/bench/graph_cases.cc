// The graph.* cases: task graphs of libttfd_graph against a daemon that is another process. Tasks are calls of a kernel
// that does nothing, with two tasks before each on average, and run on all workers but the scheduler's.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "firmware/kernel_elfs.h"
#include "tests/bench/bench_case.h"
#include "ttfd/graph/graph.h"

namespace ttfd::bench {
namespace {

using graph::Graph;
using Now = std::chrono::steady_clock;
using Nanoseconds = std::chrono::nanoseconds;

constexpr uint32_t kResident = 7000;  // nearly what the scheduler's tile has at once
constexpr uint32_t kStreamed = 100'000;
constexpr uint32_t kUploaded = 1'000'000;
constexpr uint32_t kNear = 1000;  // edges come from the last so many tasks

Status FromClient(const client::Status& status) {
  return status.ok() ? OkStatus() : absl::InternalError(status.ToString());
}

double Seconds(Now::duration duration) { return std::chrono::duration<double>(duration).count(); }

enum class Shape { kRandom, kChain };

class GraphBench {
 public:
  GraphBench(client::Session session, client::Kernel kernel)
      : session_(std::move(session)), kernel_(std::move(kernel)) {}

  static StatusOr<std::unique_ptr<GraphBench>> Connect(const std::string& address) {
    auto session = client::Session::Connect({.address = address, .client_name = "bench-graph"});
    RETURN_IF_ERROR(FromClient(session.status()));
    auto kernel = session->LoadKernel(std::as_bytes(KernelElf("empty")), "empty");
    RETURN_IF_ERROR(FromClient(kernel.status()));
    return std::make_unique<GraphBench>(std::move(*session), std::move(*kernel));
  }

  StatusOr<double> ClocksPerTask(Shape shape, uint32_t tasks) {
    ASSIGN_OR_RETURN(Graph* const graph, Loaded(shape, tasks));
    RETURN_IF_ERROR(FromClient(graph->Run(session_.queue())));
    const auto report = graph->ReadReport(session_.queue());
    RETURN_IF_ERROR(FromClient(report.status()));
    return static_cast<double>(report->clocks) / tasks;
  }

  // Seconds of a run.
  StatusOr<double> RunSeconds(uint32_t tasks, Nanoseconds budget) {
    ASSIGN_OR_RETURN(Graph* const graph, Loaded(Shape::kRandom, tasks));
    uint32_t runs = 0;
    const auto start = Now::now();
    do {
      RETURN_IF_ERROR(FromClient(graph->Run(session_.queue())));
      ++runs;
    } while (Now::now() - start < budget);
    return Seconds(Now::now() - start) / runs;
  }

  // Seconds from the first call that describes a graph until it is on the card.
  StatusOr<double> UploadSeconds(Nanoseconds budget) {
    const bool smoke = budget < std::chrono::milliseconds(50);
    const std::vector<std::pair<uint32_t, uint32_t>> edges =
        EdgesOf(Shape::kRandom, smoke ? 1000 : kUploaded);
    const auto start = Now::now();
    Graph graph = Describe(smoke ? 1000 : kUploaded, edges);
    RETURN_IF_ERROR(FromClient(graph.Load(session_.queue())));
    return Seconds(Now::now() - start);
  }

 private:
  static std::vector<std::pair<uint32_t, uint32_t>> EdgesOf(Shape shape, uint32_t tasks) {
    std::vector<std::pair<uint32_t, uint32_t>> edges;
    std::minstd_rand random(1);
    for (uint32_t task = 1; task < tasks; ++task) {
      if (shape == Shape::kChain) {
        edges.emplace_back(task - 1, task);
        continue;
      }
      for (auto count = random() % 5; count != 0; --count) {
        const auto back = static_cast<uint32_t>(random() % std::min(task, kNear));
        edges.emplace_back(task - 1 - back, task);
      }
    }
    return edges;
  }

  Graph Describe(uint32_t tasks, const std::vector<std::pair<uint32_t, uint32_t>>& edges) {
    Graph graph(session_);
    const graph::Function function = graph.AddFunction("empty", kernel_);
    for (uint32_t task = 0; task < tasks; ++task) graph.Add(function, {task, task + 1, task + 2});
    for (const auto& [before, after] : edges) graph.AddEdge({before}, {after});
    return graph;
  }

  StatusOr<Graph*> Loaded(Shape shape, uint32_t tasks) {
    std::unique_ptr<Graph>& graph = loaded_[{shape, tasks}];
    if (graph == nullptr) {
      graph = std::make_unique<Graph>(Describe(tasks, EdgesOf(shape, tasks)));
      RETURN_IF_ERROR(FromClient(graph->Load(session_.queue())));
    }
    return graph.get();
  }

  client::Session session_;
  client::Kernel kernel_;
  std::map<std::pair<Shape, uint32_t>, std::unique_ptr<Graph>> loaded_;
};

}  // namespace

std::vector<BenchCase> GraphCases(AddressFunction address, BenchCase python) {
  auto bench = std::make_shared<std::unique_ptr<GraphBench>>();
  const auto with = [bench, address = std::move(address)](auto run) {
    return [bench, address, run](Nanoseconds budget) -> StatusOr<double> {
      if (*bench == nullptr) {
        ASSIGN_OR_RETURN(const std::string where, address());
        ASSIGN_OR_RETURN(*bench, GraphBench::Connect(where));
      }
      return run(**bench, budget);
    };
  };
  const auto clocks = [&with](Shape shape, uint32_t tasks) {
    return with([shape, tasks](GraphBench& given, Nanoseconds) {
      return given.ClocksPerTask(shape, tasks);
    });
  };
  return {
      {"graph.resident_clocks", "clocks", clocks(Shape::kRandom, kResident)},
      {"graph.streamed_clocks", "clocks", clocks(Shape::kRandom, kStreamed)},
      {"graph.chain_clocks", "clocks", clocks(Shape::kChain, 1000)},
      {"graph.tasks_per_s", "million/s",
       with([](GraphBench& given, Nanoseconds budget) -> StatusOr<double> {
         ASSIGN_OR_RETURN(const double seconds, given.RunSeconds(kStreamed, budget));
         return kStreamed / seconds / 1e6;
       })},
      {"graph.relaunch_us", "us",
       with([](GraphBench& given, Nanoseconds budget) -> StatusOr<double> {
         ASSIGN_OR_RETURN(const double seconds, given.RunSeconds(1000, budget));
         return seconds * 1e6;
       })},
      {"graph.upload_1m_cpp_s", "s",
       with([](GraphBench& given, Nanoseconds budget) { return given.UploadSeconds(budget); })},
      std::move(python),
  };
}

}  // namespace ttfd::bench
