// Task graphs for Python, in the session they live in.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "client/python/native/in_session.h"
#include "client/python/native/values.h"
#include "ttfd/graph/graph.h"

namespace ttfd::python {

// A graph and the host forms of its functions, for one thread at a time.
class Graph {
 public:
  Graph(const std::shared_ptr<Session>& session, graph::Graph graph)
      : graph_(session, std::move(graph)) {}

  // Calls `function` with the graph and the GIL.
  template <typename Function>
  auto With(const Function& function) {
    const std::unique_lock lock = Lock();
    return function(*graph_);
  }
  // The same without the GIL.
  template <typename Function>
  auto Call(const Function& function) {
    const std::unique_lock lock = Lock();
    return graph_.Call([&] { return function(*graph_); });
  }
  // The same while another thread may be inside: for calls that any thread may make.
  template <typename Function>
  auto CallConcurrently(const Function& function) {
    return graph_.Call([&] { return function(*graph_); });
  }
  // Keeps a function until the graph is gone, which may be without the GIL.
  const py::object& Keep(py::object host) {
    return *hosts_.emplace_back(std::make_unique<py::object>(std::move(host)));
  }

 private:
  std::unique_lock<std::mutex> Lock() {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) WithoutGil([&lock] { lock.lock(); });
    return lock;
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<py::object>> hosts_;
  InSession<graph::Graph> graph_;
};

}  // namespace ttfd::python
