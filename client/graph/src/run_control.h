// The runs of a graph by number, and what cancels them while they run. Thread-safe.
#pragma once

#include <cstdint>
#include <mutex>

#include "ttfd/graph/graph.h"

namespace ttfd::graph {

class RunControl {
 public:
  // The session outlives this.
  explicit RunControl(client::Session& session) : session_(session) {}

  // Allocates the layout::Control in the L1 of `scheduler`, if it is not there.
  Status Allocate(client::Core scheduler);
  // REQUIRES Allocate. Valid while this exists.
  const client::Buffer& buffer() const { return control_; }

  // The number of the next run, counted from 1.
  uint32_t Begin();
  // Cancels all runs that have begun and not ended, by a write on `transfers`.
  Status Cancel(client::Queue& transfers);
  // CANCELLED if the run, which has ended on the queue, was cancelled.
  Status StatusOf(uint32_t run, client::Queue& queue);
  // Reads the report of the last run. FAILED_PRECONDITION: none has ended.
  Result<RunReport> ReadReport(client::Queue& queue);

 private:
  struct Ended {
    uint32_t run = 0;
    RunReport report;
  };
  Result<Ended> ReadEnded(client::Queue& queue);

  client::Session& session_;
  client::Buffer control_;
  std::mutex mutex_;
  uint32_t last_ = 0;       // run that has begun
  uint32_t attempted_ = 0;  // runs up to this one may have been cancelled
};

}  // namespace ttfd::graph
