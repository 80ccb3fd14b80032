// Operations as tasks of a graph that the card schedules itself (<ttfd/graph/graph.h>): a task for each core of each
// operation, which starts when the tasks have ended whose tensors it reads or writes.
//
//   graph::Graph graph(card->session());
//   tt::Tensor y;
//   tt::Result<tt::TaskRecording> layer = card->RecordTasks(&graph, [&] { y = Layer(x); });
//   tt::Status status = graph.Run(card->queue());
//   tt::Result<std::vector<float>> numbers = y.ToHost();
//
// A run gives, bit by bit, what the operations give without the graph. The graph may have other tasks, too; those of
// several recordings do not wait for each other unless edges say so.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ttfd/graph/graph.h"
#include "ttfd/tensor/spec.h"

namespace ttfd::tensor {

class TaskRecordingState;  // of the library

// A handle: copies are the same. It keeps the memory of all tensors that the tasks use, so it has to exist while the
// graph may run. Tensors of the recording have no defined content before the first run.
class TaskRecording {
 public:
  explicit TaskRecording(std::shared_ptr<TaskRecordingState> state) : state_(std::move(state)) {}

  // Tasks that the recording has added.
  uint32_t tasks() const;

 private:
  std::shared_ptr<TaskRecordingState> state_;
};

}  // namespace ttfd::tensor
