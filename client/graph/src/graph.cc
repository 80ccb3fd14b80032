// The graph as its user sees it.
#include "ttfd/graph/graph.h"

#include <utility>

#include "client/graph/src/card_graph.h"
#include "client/graph/src/description.h"
#include "client/graph/src/error.h"
#include "client/graph/src/options.h"
#include "client/graph/src/order.h"
#include "client/graph/src/packing.h"
#include "client/graph/src/placement.h"
#include "client/graph/src/run_control.h"
#include "client/graph/src/run_log.h"
#include "firmware/graph/layout.h"

namespace ttfd::graph {

static_assert(Graph::kMaxArguments == layout::kArguments);
static_assert(Graph::kMaxKernels == layout::kFunctions);
static_assert(Graph::kMaxScratchIndex + 1 == layout::kArena);

class Graph::State {
 public:
  State(client::Session& of, GraphOptions given)
      : session(of),
        options(std::move(given)),
        placement(options, session.device().grid_x, session.device().grid_y),
        description(placement),
        control(session),
        card(session, placement, options, control) {}

  // Puts the graph on the card as it is described.
  Status Load(client::Queue& queue);

  client::Session& session;
  const GraphOptions options;
  const Placement placement;
  Description description;
  RunControl control;
  CardGraph card;
  bool loaded = false;  // as it is described
};

Graph::Graph(client::Session& session, GraphOptions options)
    : state_(std::make_unique<State>(session, std::move(options))) {}
Graph::~Graph() = default;
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;

Function Graph::AddFunction(std::string name, const client::Kernel& kernel,
                            FunctionOptions options) {
  state_->loaded = false;
  return state_->description.AddFunction(std::move(name), kernel.handle(), std::move(options));
}

Task Graph::Add(Function function, std::span<const Argument> arguments,
                const TaskOptions& options) {
  state_->loaded = false;
  return state_->description.Add(function, arguments, options);
}

Configuration Graph::AddConfiguration(const ConfigurationOptions& options) {
  state_->loaded = false;
  return state_->description.AddConfiguration(options);
}

Task Graph::AddConfigured(Function function, Configuration configuration,
                          const TaskOptions& options) {
  state_->loaded = false;
  return state_->description.AddConfigured(function, configuration, options);
}

void Graph::AddEdge(Task before, Task after) {
  state_->loaded = false;
  state_->description.AddEdge(before, after);
}

client::Session& Graph::session() const { return state_->session; }
uint64_t Graph::tasks() const { return state_->description.tasks().size(); }
uint64_t Graph::edges() const { return state_->description.edges().size(); }

Status Graph::State::Load(client::Queue& queue) {
  if (loaded) return {};
  if (!placement.status().ok()) return placement.status();
  if (!description.status().ok()) return description.status();
  if (description.tasks().empty()) return Invalid("graph", "a graph without tasks");
  for (const ScratchOptions& one : options.scratch) {
    if (one.index <= kMaxScratchIndex) continue;
    return Invalid("scratch", "a circular buffer of index " + std::to_string(one.index) +
                                  "; those of functions have indices up to " +
                                  std::to_string(kMaxScratchIndex));
  }
  const Successors successors = SuccessorsOf(description);
  const Result<std::vector<uint32_t>> order = OrderByLevel(description, successors);
  if (!order.ok()) return order.status();
  const Result<PackedGraph> packed = Pack(description, successors, *order, card.WindowBlocks());
  if (!packed.ok()) return packed.status();
  Status status = card.Load(description, *packed, queue);
  loaded = status.ok();
  return status;
}

Status Graph::Load(client::Queue queue) { return state_->Load(queue); }

Status Graph::Run(client::Queue queue) {
  if (Status status = state_->Load(queue); !status.ok()) return status;
  if (const std::optional<std::string> path = TraceOfNextRun()) {
    const Result<Timeline> timeline = RunWithTimeline(queue);
    return timeline.ok() ? timeline->WriteTrace(*path) : timeline.status();
  }
  const uint32_t run = state_->control.Begin();
  if (Status status = queue.Launch(state_->card.LaunchAs(run)); !status.ok()) return status;
  return state_->control.StatusOf(run, queue);
}

Result<Timeline> Graph::RunWithTimeline(client::Queue queue) {
  State& state = *state_;
  if (Status status = state.Load(queue); !status.ok()) return status;
  const Result<RunLog> log = RunLog::Make(state.session, state.description.tasks().size(), queue);
  if (!log.ok()) return log.status();
  const uint32_t run = state.control.Begin();
  Status status = queue.Launch(state.card.TimedLaunchAs(run, log->buffer()));
  if (status.ok()) status = state.control.StatusOf(run, queue);
  if (!status.ok()) return status;
  return log->Read(state.description, state.placement, state.session.device().clock_hz, queue);
}

Result<client::Position> Graph::Enqueue(client::Queue queue) {
  if (Status status = state_->Load(queue); !status.ok()) return status;
  return queue.EnqueueLaunch(state_->card.LaunchAs(state_->control.Begin()));
}

Result<client::LaunchRequest> Graph::Launch(client::Queue queue) {
  if (Status status = state_->Load(queue); !status.ok()) return status;
  return state_->card.LaunchAs(0);
}

Status Graph::Cancel(client::Queue transfers) { return state_->control.Cancel(transfers); }

Status Graph::Rebind(const client::Buffer& from, const client::Buffer& to) {
  const Result<std::vector<uint32_t>> changed =
      state_->description.Rebind(from.handle(), to.handle());
  if (!changed.ok()) return changed.status();
  if (!state_->loaded) return {};
  for (const uint32_t index : *changed) state_->card.SetBuffer(index, to.handle());
  return {};
}

Result<RunReport> Graph::ReadReport(client::Queue queue) {
  if (!state_->loaded) return Invalid("graph", "the graph has not run since it was changed");
  return state_->control.ReadReport(queue);
}

Status Graph::RunOnHost(const HostMemory& memory) const {
  const Description& graph = state_->description;
  if (!graph.status().ok()) return graph.status();
  const Result<std::vector<uint32_t>> order = OrderByLevel(graph, SuccessorsOf(graph));
  if (!order.ok()) return order.status();
  std::vector<HostArgument> arguments;
  for (const uint32_t task : *order) {
    const Description::TaskEntry& entry = graph.tasks()[task];
    const HostFunction& function = graph.functions()[entry.function].host;
    if (!function) {
      return Invalid("host", "task " + graph.NameOf(task) + ": its function has no host form");
    }
    arguments.clear();
    const std::span<const uint32_t> words = graph.Arguments(entry);
    for (size_t i = 0; i < words.size(); ++i) {
      HostArgument& argument = arguments.emplace_back();
      if ((entry.buffers >> i & 1) == 0) {
        argument.word = words[i];
        continue;
      }
      argument.handle = graph.buffers()[words[i]];
      const std::span<std::byte>* const bound = memory.Find(argument.handle);
      if (bound == nullptr) {
        return Invalid("memory", "task " + graph.NameOf(task) +
                                     ": no memory is bound to its buffer " + std::to_string(i));
      }
      argument.buffer = *bound;
    }
    function(arguments);
  }
  return {};
}

}  // namespace ttfd::graph
