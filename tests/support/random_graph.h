// Random task graphs of firmware/kernels/task_mix.cc. Their values show that every task ran once, after those before
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ttfd/graph/graph.h"
#include "ttfd/session.h"

namespace ttfd::testing {

struct RandomGraphOptions {
  uint32_t tasks = 0;
  uint32_t seed = 1;
  uint32_t near = 1000;  // a task reads values of the last so many before it
  graph::GraphOptions graph = {};
};

// The first `workers` tiles after (0,0) of a grid `grid_x` wide, as the only class.
graph::GraphOptions OnWorkers(uint32_t grid_x, uint32_t workers);

class RandomGraph {
 public:
  // Tasks read up to four values, and are numbered in no order. `mix`: task_mix.cc, which outlives this, as the session
  // does. Errors: status().
  RandomGraph(client::Session& session, const client::Kernel& mix,
              const RandomGraphOptions& options);

  const client::Status& status() const { return status_; }
  graph::Graph& graph() { return graph_; }
  // Runs it on the card with all values 0 at first. Returns how many differ from the host's afterwards.
  client::Result<uint32_t> CountWrong(client::Queue queue);
  client::Result<uint32_t> CountWrong() { return CountWrong(session_.queue()); }

 private:
  client::Status Build(const client::Kernel& mix, const RandomGraphOptions& options);

  client::Session& session_;
  graph::Graph graph_;
  client::Buffer values_;
  std::vector<std::byte> expected_;
  client::Status status_;
};

}  // namespace ttfd::testing
