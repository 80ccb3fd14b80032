// The log of a run with a timeline: a DRAM buffer in which workers write when they ran each task.
#pragma once

#include <cstdint>

#include "client/graph/src/description.h"
#include "client/graph/src/placement.h"
#include "ttfd/graph/timeline.h"
#include "ttfd/session.h"

namespace ttfd::graph {

class RunLog {
 public:
  // Allocates the buffer for so many tasks and clears it on the queue.
  static Result<RunLog> Make(client::Session& session, size_t tasks, client::Queue& queue);

  const client::Buffer& buffer() const { return buffer_; }
  // Reads it, after the run. INTERNAL: a task has no entry.
  Result<Timeline> Read(const Description& graph, const Placement& placement, uint64_t clock_hz,
                        client::Queue& queue) const;

 private:
  explicit RunLog(client::Buffer buffer) : buffer_(std::move(buffer)) {}

  client::Buffer buffer_;
};

}  // namespace ttfd::graph
