// Order in which the tasks of a graph are given to the card.
#pragma once

#include <cstdint>
#include <vector>

#include "client/graph/src/description.h"

namespace ttfd::graph {

// Successors of all tasks: those of task t are after[begin[t]] to after[begin[t + 1] - 1], each edge once.
struct Successors {
  std::vector<uint32_t> begin;
  std::vector<uint32_t> after;
};
Successors SuccessorsOf(const Description& graph);

// The tasks by level, a task's level being the longest chain before it: what can run together lies close together, and
// predecessors come first. INVALID_ARGUMENT names the tasks of a cycle.
Result<std::vector<uint32_t>> OrderByLevel(const Description& graph, const Successors& successors);

}  // namespace ttfd::graph
