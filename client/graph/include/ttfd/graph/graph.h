// A graph of tasks, given to the card once and scheduled there: a task runs when the tasks before it have ended, on
// any worker that has nothing to do, without the host.
//
//   #include <ttfd/graph/graph.h>
//   using namespace ttfd;
//
//   graph::Graph graph(session);                            // a client::Session
//   graph::Function add = graph.AddFunction("add", kernel); // a client::Kernel for BRISC
//   graph::Function mul = graph.AddFunction("mul", other);
//   graph::Task t = graph.Add(add, {a, b, c, 128 * 128});
//   graph::Task u = graph.Add(add, {a, c, d, 128 * 128}, {.after = {t}});
//   graph::Task v = graph.Add(mul, {c, d, e, 128 * 128}, {.after = {t, u}});
//   client::Status status = graph.Run(session.queue());     // any number of times
//
// A function is an ordinary kernel, unchanged, or one and others for further harts of the tile, which share circular
// buffers (GraphOptions::scratch): the task's arguments are their Argument(i). It runs on one worker and has no common
// arguments. Those that it reads and a task does not give are 0. It leaves circular buffers empty.
//
// A graph is a program and two buffers of the session: an upload when it has changed, then one launch a run. A launch
// loads all that it changes anew, so that a run that was cancelled or lost leaves nothing to repair.
//
// Mistakes in calls (an unknown function, too many arguments) are kept; the first is what Run returns. A graph is used
// by one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ttfd/graph/argument.h"
#include "ttfd/graph/configuration.h"
#include "ttfd/graph/host.h"
#include "ttfd/graph/timeline.h"
#include "ttfd/session.h"

namespace ttfd::graph {

template <typename T>
using Result = client::Result<T>;
using client::Status;

// A function of a graph, and a task of it: numbers from 0, in the order of the calls.
struct Function {
  uint32_t number = 0;
};
struct Task {
  uint32_t number = 0;
};

// Workers that run the tasks of a class.
struct ClassOptions {
  std::string name = {};
  std::vector<client::CoreRange> cores = {};
};

struct GraphOptions {
  // The tile of the scheduler. It runs no tasks.
  client::Core scheduler = {0, 0};
  // No worker may be in two classes, and the scheduler's tile in none. At most 14 groups of 16 workers, of which each
  // class has whole ones. Empty: one class "ALL" of all other workers of the device.
  std::vector<ClassOptions> classes = {};
  std::vector<ScratchOptions> scratch = {};
  // Longest run, as LaunchRequest::Timeout; unset: the kernel timeout of the session or the daemon.
  std::optional<std::chrono::milliseconds> timeout = {};
};

struct FunctionOptions {
  std::string on = {};     // class of its tasks; empty: the first
  HostFunction host = {};  // what it does, for RunOnHost
  // Kernels that run together with that for BRISC, with the same arguments: for NCRISC, and for the Tensix engine. A
  // task ends when all of them have. Null: none.
  const client::Kernel* ncrisc = nullptr;
  const client::ComputeKernel* compute = nullptr;
  // Its tasks have a Configuration each (<ttfd/graph/configuration.h>). Which circular buffers and arguments its
  // kernels use is not checked. Its kernel for BRISC may be an empty one. Tasks of a function without any kernel do
  // nothing: where many tasks wait for the same ones, one in between saves edges.
  bool configured = false;
};

struct TaskOptions {
  std::vector<Task> after = {};  // tasks that end before it starts
  std::string on = {};           // its class; empty: the function's
};

// The last run that has ended.
struct RunReport {
  bool cancelled = false;
  uint32_t blocks = 0;  // of 64 records, that have ended; joins are records, too
  uint64_t clocks = 0;  // of the scheduler, from the first task to the end of the last
  uint32_t rounds = 0;  // of its loop
};

class Graph {
 public:
  static constexpr uint32_t kMaxArguments = 16;  // of a task
  static constexpr uint32_t kMaxKernels =
      64;  // of all functions; one for the Tensix engine counts as three
  static constexpr uint32_t kMaxScratchIndex = 27;  // the graph has those above

  // The session outlives the graph.
  explicit Graph(client::Session& session, GraphOptions options = {});
  ~Graph();
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;

  // `kernel` was built for BRISC. It and those of `options` exist while the graph may change. `name` is for messages.
  Function AddFunction(std::string name, const client::Kernel& kernel,
                       FunctionOptions options = {});
  Task Add(Function function, std::span<const Argument> arguments, const TaskOptions& options = {});
  Task Add(Function function, std::initializer_list<Argument> arguments,
           const TaskOptions& options = {}) {
    return Add(function, std::span(arguments.begin(), arguments.size()), options);
  }
  // Circular buffers and common arguments for tasks of functions that are configured: at most 4 KiB of them.
  Configuration AddConfiguration(const ConfigurationOptions& options);
  Task AddConfigured(Function function, Configuration configuration,
                     const TaskOptions& options = {});
  // `after` starts when `before` has ended; both exist.
  void AddEdge(Task before, Task after);

  client::Session& session() const;
  uint64_t tasks() const;
  uint64_t edges() const;

  // Puts the graph on the card, without running it; does nothing if it is there. Errors as of Run.
  Status Load(client::Queue queue);
  // Runs the graph on the queue, whose workers include the graph's; returns when all tasks have ended.
  // INVALID_ARGUMENT: a mistake in a call, a cycle (both name tasks), or more than the card's limits. INTERNAL: the
  // file that TTFD_GRAPH_TRACE names (docs/ttfdctl.md) cannot be written. Else errors of Queue::Launch.
  Status Run(client::Queue queue);
  // The same, with a log of 16 bytes a task in DRAM, which workers write and the client reads at the end: it takes as
  // much memory of the host, the timeline 32 bytes a task and 8 an edge. A run that fails or is cancelled has none.
  Result<Timeline> RunWithTimeline(client::Queue queue);
  // Run without waiting.
  Result<client::Position> Enqueue(client::Queue queue);
  // The launch of the graph as it is now, for Queue::RecordTrace. Replays of it cannot be cancelled.
  Result<client::LaunchRequest> Launch(client::Queue queue);
  // Ends all runs that Run and Enqueue began, of any queue, after the tasks that workers have: Run returns CANCELLED;
  // of one that Enqueue began, ReadReport says so. Nothing is left to repair. `transfers`: a queue that does not wait
  // for the run, such as one of QueueKind::kTransfer. From any thread, also while another is in Run.
  Status Cancel(client::Queue transfers);
  // Tasks that name `from` use `to` in its place, from the next run on: a word of the launch changes. Tasks that name
  // `to` as well name the same buffer from then on. INVALID_ARGUMENT: no task names `from`.
  Status Rebind(const client::Buffer& from, const client::Buffer& to);
  // Reads the report of the last run, after all that was enqueued on the queue.
  Result<RunReport> ReadReport(client::Queue queue);

  // Runs the functions' host forms, in the order in which the tasks may run, on memory of the host: the same results
  // without a card.
  Status RunOnHost(const HostMemory& memory) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace ttfd::graph
