// Operations of a recording as tasks of a graph.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "client/tensor/src/card_state.h"
#include "client/tensor/src/stream.h"
#include "ttfd/graph/graph.h"

namespace ttfd::tensor {

// Adds tasks: one for each core that an operation would have. They have the words of a launch on a core of its own, and
// wait for the tasks before that write what they read or write, or read what they write.
class OperationTasks {
 public:
  // Both outlive this.
  OperationTasks(CardState* card, graph::Graph* graph) : card_(card), graph_(graph) {}

  Status Add(const RecordedOperation& operation);

  uint32_t tasks() const { return tasks_; }

 private:
  using Tasks = std::vector<graph::Task>;
  // Tasks that use a buffer, since its last change.
  struct Users {
    Tasks writers;
    Tasks readers;
  };

  Result<graph::Function> FunctionOf(Family family);
  Tasks TasksBefore(const RecordedOperation& operation);
  // A task that ends after these, if `count` tasks that wait for it have fewer edges so than without it.
  Tasks Joined(Tasks before, size_t count);
  void NoteUses(const RecordedOperation& operation, const Tasks& tasks);
  graph::ConfigurationOptions ConfigurationOf(const RecordedOperation& operation, uint32_t launch,
                                              uint32_t core) const;

  CardState* card_;
  graph::Graph* graph_;
  std::map<Family, graph::Function> functions_;
  std::optional<graph::Function> join_;
  graph::Configuration nothing_;     // of join_
  std::map<uint64_t, Users> users_;  // by handle
  uint32_t tasks_ = 0;
};

}  // namespace ttfd::tensor
