// Order of the tasks.
#include "client/graph/src/order.h"

#include <algorithm>
#include <string>

#include "client/graph/src/error.h"

namespace ttfd::graph {
namespace {

constexpr size_t kMostNamed = 8;

// Names the tasks of a cycle. `left`: predecessors of each task that are not in the order, 0 of those that are.
Status CycleError(const Description& graph, const Successors& successors,
                  const std::vector<uint32_t>& left) {
  const auto count = static_cast<uint32_t>(left.size());
  std::vector<uint32_t> before(count, count);  // a predecessor that is left
  for (uint32_t task = 0; task < count; ++task) {
    if (left[task] == 0) continue;
    for (uint32_t i = successors.begin[task]; i < successors.begin[task + 1]; ++i) {
      before[successors.after[i]] = task;
    }
  }
  // Every task that is left has one before it that is left: going back, one comes a second time.
  std::vector<bool> seen(count);
  uint32_t task = 0;
  while (left[task] == 0) ++task;
  while (!seen[task]) {
    seen[task] = true;
    task = before[task];
  }
  std::vector<uint32_t> cycle = {task};
  for (uint32_t at = before[task]; at != task; at = before[at]) cycle.push_back(at);
  cycle.push_back(task);
  std::reverse(cycle.begin(), cycle.end());
  std::string names;
  for (size_t i = 0; i < cycle.size(); ++i) {
    if (i + 1 < cycle.size() && i >= kMostNamed) continue;
    if (i + 1 == cycle.size() && i > kMostNamed) {
      names += " -> (" + std::to_string(i - kMostNamed) + " more)";
    }
    names += (i == 0 ? "" : " -> ") + graph.NameOf(cycle[i]);
  }
  return Invalid("after", "tasks wait for each other: " + names);
}

}  // namespace

Successors SuccessorsOf(const Description& graph) {
  Successors successors;
  const size_t count = graph.tasks().size();
  successors.begin.assign(count + 1, 0);
  for (const auto& [before, after] : graph.edges()) ++successors.begin[before + 1];
  for (size_t i = 0; i < count; ++i) successors.begin[i + 1] += successors.begin[i];
  successors.after.resize(graph.edges().size());
  std::vector<uint32_t> next(successors.begin.begin(), successors.begin.end() - 1);
  for (const auto& [before, after] : graph.edges()) successors.after[next[before]++] = after;
  // An edge that was given twice counts once.
  uint32_t to = 0;
  for (size_t task = 0; task < count; ++task) {
    const auto first = successors.after.begin() + successors.begin[task];
    const auto last = successors.after.begin() + successors.begin[task + 1];
    std::sort(first, last);
    successors.begin[task] = to;
    to += static_cast<uint32_t>(std::unique_copy(first, last, successors.after.begin() + to) -
                                (successors.after.begin() + to));
  }
  successors.begin[count] = to;
  successors.after.resize(to);
  return successors;
}

Result<std::vector<uint32_t>> OrderByLevel(const Description& graph, const Successors& successors) {
  const auto count = static_cast<uint32_t>(graph.tasks().size());
  std::vector<uint32_t> left(count);
  for (const uint32_t task : successors.after) ++left[task];
  std::vector<uint32_t> order;
  order.reserve(count);
  for (uint32_t task = 0; task < count; ++task) {
    if (left[task] == 0) order.push_back(task);
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (uint32_t k = successors.begin[order[i]]; k < successors.begin[order[i] + 1]; ++k) {
      if (--left[successors.after[k]] == 0) order.push_back(successors.after[k]);
    }
  }
  if (order.size() != count) return CycleError(graph, successors, left);
  return order;
}

}  // namespace ttfd::graph
