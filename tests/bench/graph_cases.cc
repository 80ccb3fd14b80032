// The graph.* cases: task graphs of libttfd_graph against a daemon that is another process. Tasks are calls of a kernel
// that does nothing, with two tasks before each on average.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <tuple>
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

constexpr uint32_t kUploaded = 1'000'000;
constexpr uint32_t kNear = 1000;  // edges come from the last so many tasks

Status FromClient(const client::Status& status) {
  return status.ok() ? OkStatus() : absl::InternalError(status.ToString());
}

double Seconds(Now::duration duration) { return std::chrono::duration<double>(duration).count(); }

enum class Shape { kRandom, kChain };

// A graph that is measured: `workers` of 0 are all but the scheduler's tile.
struct Measured {
  Shape shape = Shape::kRandom;
  uint32_t tasks = 0;
  uint32_t workers = 0;
  bool operator<(const Measured& other) const {
    return std::tie(shape, tasks, workers) < std::tie(other.shape, other.tasks, other.workers);
  }
};
constexpr Measured kChain{Shape::kChain, 1000, 16};
constexpr Measured kRelaunched{Shape::kRandom, 1000, 64};
constexpr Measured kResident{Shape::kRandom, 7000,
                             0};  // nearly what the scheduler's tile has at once
constexpr Measured kStreamed{Shape::kRandom, 100'000, 0};
constexpr Measured kCancelled{Shape::kChain, 500'000, 16};

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

  StatusOr<double> ClocksPerTask(const Measured& measured) {
    ASSIGN_OR_RETURN(Graph* const graph, Loaded(measured));
    RETURN_IF_ERROR(FromClient(graph->Run(session_.queue())));
    const auto report = graph->ReadReport(session_.queue());
    RETURN_IF_ERROR(FromClient(report.status()));
    return static_cast<double>(report->clocks) / measured.tasks;
  }

  // The same with a timeline.
  StatusOr<double> TimedClocksPerTask(const Measured& measured) {
    ASSIGN_OR_RETURN(Graph* const graph, Loaded(measured));
    const auto timeline = graph->RunWithTimeline(session_.queue());
    RETURN_IF_ERROR(FromClient(timeline.status()));
    return timeline->Summarize().clocks_per_task;
  }

  // Seconds of a run.
  StatusOr<double> RunSeconds(const Measured& measured, Nanoseconds budget) {
    ASSIGN_OR_RETURN(Graph* const graph, Loaded(measured));
    uint32_t runs = 0;
    const auto start = Now::now();
    do {
      RETURN_IF_ERROR(FromClient(graph->Run(session_.queue())));
      ++runs;
    } while (Now::now() - start < budget);
    return Seconds(Now::now() - start) / runs;
  }

  // Milliseconds from a call of Cancel until the run has ended.
  StatusOr<double> CancelMilliseconds() {
    ASSIGN_OR_RETURN(Graph* const graph, Loaded(kCancelled));
    client::Queue queue = session_.queue();
    if (!transfers_) {
      auto opened = session_.OpenQueue({.kind = client::QueueKind::kTransfer});
      RETURN_IF_ERROR(FromClient(opened.status()));
      transfers_ = std::move(*opened);
    }
    const auto running = graph->Enqueue(queue);
    RETURN_IF_ERROR(FromClient(running.status()));
    RETURN_IF_ERROR(FromClient(queue.Flush()));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // it runs by then
    const auto start = Now::now();
    RETURN_IF_ERROR(FromClient(graph->Cancel(*transfers_)));
    RETURN_IF_ERROR(FromClient(queue.Wait(*running)));
    const double milliseconds = Seconds(Now::now() - start) * 1e3;
    const auto report = graph->ReadReport(queue);
    RETURN_IF_ERROR(FromClient(report.status()));
    if (!report->cancelled) return Internal("the run had ended before it was cancelled");
    return milliseconds;
  }

  // Seconds from the first call that describes a graph until it is on the card.
  StatusOr<double> UploadSeconds(Nanoseconds budget) {
    const bool smoke = budget < std::chrono::milliseconds(50);
    const Measured measured{Shape::kRandom, smoke ? 1000 : kUploaded, 0};
    const std::vector<std::pair<uint32_t, uint32_t>> edges = EdgesOf(measured);
    const auto start = Now::now();
    Graph graph = Describe(measured, edges);
    RETURN_IF_ERROR(FromClient(graph.Load(session_.queue())));
    return Seconds(Now::now() - start);
  }

 private:
  static std::vector<std::pair<uint32_t, uint32_t>> EdgesOf(const Measured& measured) {
    std::vector<std::pair<uint32_t, uint32_t>> edges;
    std::minstd_rand random(1);
    for (uint32_t task = 1; task < measured.tasks; ++task) {
      if (measured.shape == Shape::kChain) {
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

  graph::GraphOptions OptionsOf(const Measured& measured) const {
    graph::GraphOptions options;
    if (measured.workers == 0) return options;
    graph::ClassOptions workers{"WORKERS", {}};
    for (uint32_t i = 1; i <= measured.workers; ++i) {
      const uint32_t columns = session_.device().grid_x;
      workers.cores.push_back(client::CoreRange::Single({i % columns, i / columns}));
    }
    options.classes.push_back(std::move(workers));
    return options;
  }

  Graph Describe(const Measured& measured,
                 const std::vector<std::pair<uint32_t, uint32_t>>& edges) {
    Graph graph(session_, OptionsOf(measured));
    const graph::Function function = graph.AddFunction("empty", kernel_);
    for (uint32_t i = 0; i < measured.tasks; ++i) graph.Add(function, {i, i + 1, i + 2});
    for (const auto& [before, after] : edges) graph.AddEdge({before}, {after});
    return graph;
  }

  StatusOr<Graph*> Loaded(const Measured& measured) {
    std::unique_ptr<Graph>& graph = loaded_[measured];
    if (graph == nullptr) {
      graph = std::make_unique<Graph>(Describe(measured, EdgesOf(measured)));
      RETURN_IF_ERROR(FromClient(graph->Load(session_.queue())));
    }
    return graph.get();
  }

  client::Session session_;
  client::Kernel kernel_;
  std::optional<client::Queue> transfers_;
  std::map<Measured, std::unique_ptr<Graph>> loaded_;
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
  const auto clocks = [&with](const Measured& measured) {
    return with(
        [measured](GraphBench& given, Nanoseconds) { return given.ClocksPerTask(measured); });
  };
  return {
      {"graph.resident_clocks", "clocks", clocks(kResident)},
      {"graph.streamed_clocks", "clocks", clocks(kStreamed)},
      {"graph.chain_clocks", "clocks", clocks(kChain)},
      {"graph.timed_clocks", "clocks",
       with([](GraphBench& given, Nanoseconds) { return given.TimedClocksPerTask(kResident); })},
      {"graph.tasks_per_s", "million/s",
       with([](GraphBench& given, Nanoseconds budget) -> StatusOr<double> {
         ASSIGN_OR_RETURN(const double seconds, given.RunSeconds(kStreamed, budget));
         return kStreamed.tasks / seconds / 1e6;
       })},
      {"graph.relaunch_us", "us",
       with([](GraphBench& given, Nanoseconds budget) -> StatusOr<double> {
         ASSIGN_OR_RETURN(const double seconds, given.RunSeconds(kRelaunched, budget));
         return seconds * 1e6;
       })},
      {"graph.cancel_ms", "ms",
       with([](GraphBench& given, Nanoseconds) { return given.CancelMilliseconds(); })},
      {"graph.upload_1m_cpp_s", "s",
       with([](GraphBench& given, Nanoseconds budget) { return given.UploadSeconds(budget); })},
      std::move(python),
  };
}

}  // namespace ttfd::bench
