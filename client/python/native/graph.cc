// Task graphs, for ttfd.graph.
#include "client/python/native/graph.h"

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "client/python/native/module.h"

namespace ttfd::python {
namespace {

// Name, tiles.
using ClassUse = std::pair<std::string, std::vector<Range>>;
// Index, pages, page bytes, format.
using Scratch = std::tuple<uint32_t, uint32_t, uint32_t, uint8_t>;
// A word, or the handle of a buffer.
using Word = std::pair<uint64_t, bool>;

std::unique_ptr<Graph> MakeGraph(const std::shared_ptr<Session>& session,
                                 const std::pair<uint32_t, uint32_t>& scheduler,
                                 const std::vector<ClassUse>& classes,
                                 const std::vector<Scratch>& scratch, uint32_t timeout_ms) {
  graph::GraphOptions options;
  options.scheduler = {scheduler.first, scheduler.second};
  for (const auto& [name, ranges] : classes) {
    options.classes.push_back({name, ToRanges(ranges)});
  }
  for (const auto& [index, pages, page_bytes, format] : scratch) {
    options.scratch.push_back({index, pages, page_bytes, static_cast<client::DataFormat>(format)});
  }
  if (timeout_ms != 0) options.timeout = std::chrono::milliseconds(timeout_ms);
  return std::make_unique<Graph>(
      session, session->Call([&] { return graph::Graph(session->client(), std::move(options)); }));
}

// `host` gets a word as an int, a buffer as its handle, negative.
graph::HostFunction HostOf(const py::object& host) {
  if (host.is_none()) return {};
  return [&host](std::span<const graph::HostArgument> arguments) {
    py::list given;
    for (const graph::HostArgument& argument : arguments) {
      if (argument.handle != 0) {
        given.append(-static_cast<int64_t>(argument.handle));
      } else {
        given.append(argument.word);
      }
    }
    host(given);
  };
}

// `compute`: handles of the three kernels, or none. `ncrisc`: 0 is none.
uint32_t AddFunction(Graph& self, std::string name, uint64_t kernel, std::string on,
                     py::object host, const std::vector<uint64_t>& compute, uint64_t ncrisc,
                     bool configured) {
  const client::Kernel reader(nullptr, ncrisc);
  client::ComputeKernel engine;
  graph::FunctionOptions options{.on = std::move(on),
                                 .host = HostOf(self.Keep(std::move(host))),
                                 .ncrisc = ncrisc != 0 ? &reader : nullptr,
                                 .compute = nullptr,
                                 .configured = configured};
  if (compute.size() == 3) {
    engine = client::ComputeKernel({client::Kernel(nullptr, compute[0]),
                                    client::Kernel(nullptr, compute[1]),
                                    client::Kernel(nullptr, compute[2])});
    options.compute = &engine;
  }
  return self.With([&](graph::Graph& graph) {
    return graph.AddFunction(std::move(name), client::Kernel(nullptr, kernel), std::move(options))
        .number;
  });
}

std::vector<graph::Argument> ToArguments(const std::vector<Word>& words) {
  std::vector<graph::Argument> arguments;
  for (const auto& [value, is_buffer] : words) {
    arguments.push_back(is_buffer ? graph::Argument::OfBuffer(value)
                                  : graph::Argument(static_cast<uint32_t>(value)));
  }
  return arguments;
}

graph::TaskOptions ToOptions(const std::vector<uint32_t>& after, std::string on) {
  graph::TaskOptions options{.after = {}, .on = std::move(on)};
  for (const uint32_t task : after) options.after.push_back({task});
  return options;
}

uint32_t Add(Graph& self, uint32_t function, const std::vector<Word>& words,
             const std::vector<uint32_t>& after, std::string on) {
  const std::vector<graph::Argument> arguments = ToArguments(words);
  return self.With([&](graph::Graph& graph) {
    return graph.Add({function}, arguments, ToOptions(after, std::move(on))).number;
  });
}

// Index, pages, page bytes and format of circular buffers; processor and words of kernels.
uint32_t AddConfiguration(Graph& self, const std::vector<Scratch>& circular_buffers,
                          const std::vector<std::pair<uint8_t, std::vector<Word>>>& common) {
  graph::ConfigurationOptions options;
  for (const auto& [index, pages, page_bytes, format] : circular_buffers) {
    options.circular_buffers.push_back(
        {index, pages, page_bytes, static_cast<client::DataFormat>(format)});
  }
  for (const auto& [processor, words] : common) {
    options.common.push_back({static_cast<client::Processor>(processor), ToArguments(words)});
  }
  return self.With([&](graph::Graph& graph) { return graph.AddConfiguration(options).number; });
}

uint32_t AddConfigured(Graph& self, uint32_t function, uint32_t configuration,
                       const std::vector<uint32_t>& after, std::string on) {
  return self.With([&](graph::Graph& graph) {
    return graph
        .AddConfigured({function}, graph::Configuration{configuration},
                       ToOptions(after, std::move(on)))
        .number;
  });
}

// Words of an array of uint32.
std::span<const uint32_t> Words(const BytesView& view) {
  const std::span<const std::byte> bytes = view.bytes();
  return {reinterpret_cast<const uint32_t*>(bytes.data()), bytes.size() / sizeof(uint32_t)};
}

// `rows` tasks of the words of `array`; buffers replace columns. Returns the first task's number.
uint64_t AddMany(Graph& self, uint32_t function, const py::object& array, size_t rows,
                 const std::map<uint32_t, uint64_t>& buffers, const std::string& on) {
  const BytesView view(array, /*writable=*/false);
  return self.Call([&](graph::Graph& graph) {
    const uint64_t first = graph.tasks();
    const std::span<const uint32_t> words = Words(view);
    const size_t columns = rows == 0 ? 0 : words.size() / rows;
    std::vector<graph::Argument> arguments(columns, graph::Argument(uint32_t{0}));
    const graph::TaskOptions options{.after = {}, .on = on};
    for (size_t row = 0; row < rows; ++row) {
      for (size_t i = 0; i < columns; ++i) {
        arguments[i] = graph::Argument(words[row * columns + i]);
      }
      for (const auto& [column, handle] : buffers) {
        arguments[column] = graph::Argument::OfBuffer(handle);
      }
      graph.Add({function}, arguments, options);
    }
    return first;
  });
}

// Pairs of numbers of tasks.
void AddEdges(Graph& self, const py::object& array) {
  const BytesView view(array, /*writable=*/false);
  self.Call([&](graph::Graph& graph) {
    const std::span<const uint32_t> words = Words(view);
    for (size_t i = 0; i + 2 <= words.size(); i += 2) graph.AddEdge({words[i]}, {words[i + 1]});
  });
}

// With the GIL, which host functions want.
void RunOnHost(Graph& self, const std::vector<uint64_t>& buffers) {
  graph::HostMemory memory;
  for (const uint64_t handle : buffers) memory.Bind(handle, {});
  Check(self.With([&](const graph::Graph& graph) { return graph.RunOnHost(memory); }));
}

void BindRuns(py::class_<Graph>& bound) {
  bound
      .def("load",
           [](Graph& g, const Queue& queue) {
             Check(g.Call([&](graph::Graph& graph) { return graph.Load(queue.client); }));
           })
      .def("run",
           [](Graph& g, const Queue& queue) {
             Check(g.Call([&](graph::Graph& graph) { return graph.Run(queue.client); }));
           })
      .def("run_with_timeline",
           [](Graph& g, const Queue& queue) {
             return Take(
                 g.Call([&](graph::Graph& graph) { return graph.RunWithTimeline(queue.client); }));
           })
      .def("enqueue",
           [](Graph& g, const Queue& queue) {
             return Take(g.Call([&](graph::Graph& graph) { return graph.Enqueue(queue.client); }))
                 .value;
           })
      .def("cancel",
           [](Graph& g, const Queue& transfers) {
             Check(g.CallConcurrently(
                 [&](graph::Graph& graph) { return graph.Cancel(transfers.client); }));
           })
      .def("rebind",
           [](Graph& g, uint64_t from, uint64_t to) {
             Check(g.Call([&](graph::Graph& graph) {
               return graph.Rebind(client::Buffer(nullptr, from, 0, 0),
                                   client::Buffer(nullptr, to, 0, 0));
             }));
           })
      // Handle of the program; for each kernel with arguments its words, and (word, handle) of buffers.
      .def("launch",
           [](Graph& g, const Queue& queue) {
             const client::LaunchRequest launch =
                 Take(g.Call([&](graph::Graph& graph) { return graph.Launch(queue.client); }));
             py::list kernels;
             for (const auto& one : launch.arguments()) {
               py::list buffers;
               for (const auto& buffer : one.buffers) {
                 buffers.append(py::make_tuple(buffer.word, buffer.buffer));
               }
               kernels.append(py::make_tuple(one.kernel, one.common, buffers));
             }
             return py::make_tuple(launch.program(), kernels);
           })
      // Cancelled, blocks, clocks, rounds.
      .def("report", [](Graph& g, const Queue& queue) {
        const graph::RunReport report =
            Take(g.Call([&](graph::Graph& graph) { return graph.ReadReport(queue.client); }));
        return py::make_tuple(report.cancelled, report.blocks, report.clocks, report.rounds);
      });
}

// As ttfd.graph reads them.
static_assert(sizeof(graph::Timeline::Task) == 32);
static_assert(sizeof(std::pair<uint32_t, uint32_t>) == 8);

template <typename Element>
py::bytes BytesOf(const std::vector<Element>& elements) {
  return {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(Element)};
}

void BindTimelines(py::module_& module) {
  py::class_<graph::Timeline>(module, "Timeline")
      .def("write_trace",
           [](const graph::Timeline& self, const std::string& path) {
             Check(WithoutGil([&] { return self.WriteTrace(path); }));
           })
      // Tasks, clocks, clocks a task, tasks a second; of each class its name, workers, tasks, utilization.
      .def("summarize",
           [](const graph::Timeline& self) {
             const graph::TimelineSummary all = self.Summarize();
             py::list classes;
             for (const auto& one : all.classes) {
               classes.append(py::make_tuple(one.name, one.workers, one.tasks, one.utilization));
             }
             return py::make_tuple(all.tasks, all.clocks, all.clocks_per_task, all.tasks_per_second,
                                   classes);
           })
      // The bytes of the Timeline::Tasks.
      .def("tasks", [](const graph::Timeline& self) { return BytesOf(self.tasks); })
      // Names and tiles.
      .def_property_readonly("classes",
                             [](const graph::Timeline& self) {
                               py::list classes;
                               for (const auto& one : self.classes) {
                                 py::list tiles;
                                 for (const client::Core& tile : one.workers) {
                                   tiles.append(py::make_tuple(tile.x, tile.y));
                                 }
                                 classes.append(py::make_tuple(one.name, tiles));
                               }
                               return classes;
                             })
      .def_readonly("functions", &graph::Timeline::functions)
      // The bytes of pairs of numbers of tasks.
      .def("edges", [](const graph::Timeline& self) { return BytesOf(self.edges); })
      .def_readonly("clock_hz", &graph::Timeline::clock_hz);
}

}  // namespace

void BindGraphs(py::module_& module) {
  BindTimelines(module);
  py::class_<Graph> bound(module, "Graph");
  bound.def(py::init(&MakeGraph))
      .def("add_function", &AddFunction)
      .def("add", &Add)
      .def("add_configuration", &AddConfiguration)
      .def("add_configured", &AddConfigured)
      .def("add_many", &AddMany)
      .def("add_edges", &AddEdges)
      .def_property_readonly(
          "tasks",
          [](Graph& g) { return g.With([](graph::Graph& graph) { return graph.tasks(); }); })
      .def_property_readonly(
          "edges",
          [](Graph& g) { return g.With([](graph::Graph& graph) { return graph.edges(); }); })
      .def("run_on_host", &RunOnHost);
  BindRuns(bound);
}

}  // namespace ttfd::python
