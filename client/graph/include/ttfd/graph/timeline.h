// When and where the tasks of a run of a graph were: Graph::RunWithTimeline.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ttfd/status.h"
#include "ttfd/types.h"

namespace ttfd::graph {

struct TimelineSummary {
  struct Class {
    std::string name = {};
    uint32_t workers = 0;
    uint64_t tasks = 0;
    double utilization = 0;  // part of the workers' time in which they were in tasks, 0 to 1
  };
  uint64_t tasks = 0;
  uint64_t clocks = 0;  // from the begin of the first task to the end of the last
  double clocks_per_task = 0;
  double tasks_per_second = 0;  // at the card's clock
  std::vector<Class> classes = {};
};

// A plain value. Times are clocks since the begin of the first task. Tiles count clocks from epochs of their own, which
// are compared by messages before the first task: to half of the time that the quickest of eight exchanges took, about
// 65 clocks on the device model. None of this has been measured on silicon.
struct Timeline {
  struct Class {
    std::string name = {};
    std::vector<client::Core> workers = {};
  };
  struct Task {
    uint64_t begin = 0;     // of its function
    uint64_t end = 0;       // of the last of the function's kernels
    uint32_t function = 0;  // index in functions
    uint32_t in_class = 0;  // index in classes
    uint32_t worker = 0;    // index in its class's workers
  };

  TimelineSummary Summarize() const;
  // Writes a file in Chrome's trace event format, for ui.perfetto.dev: a process for each class, a thread for each of
  // its workers, a slice for each task, an arrow for each edge, and for each class counters of tasks that are ready and
  // of workers that are idle. A task is ready from the end of the last task before it until its own begin. Field
  // "otherData" has the summary. A file that exists is replaced once the new one is whole. INTERNAL: it cannot be
  // written.
  client::Status WriteTrace(const std::string& path) const;

  uint64_t clock_hz = 0;  // of the card
  std::vector<Class> classes = {};
  std::vector<std::string> functions = {};                // names
  std::vector<Task> tasks = {};                           // by number
  std::vector<std::pair<uint32_t, uint32_t>> edges = {};  // tasks: before, after; each once
};

}  // namespace ttfd::graph
