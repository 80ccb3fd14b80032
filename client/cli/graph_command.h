// ttfdctl graph trace: the timeline of a task graph that a command runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/cli/commands.h"

namespace ttfd::cli {

struct GraphTraceArguments {
  std::string output = "trace.json";
  uint64_t run = 1;  // of the runs of graphs in the command's process, from 1
  std::vector<std::string> command;
};

// Runs the command, whose run with that number writes its timeline to the file, and prints the summary. Returns the
// command's exit code, as RunChild does; kFailed if that was 0 and there is no timeline.
int TraceGraph(const Common& common, const GraphTraceArguments& arguments);

}  // namespace ttfd::cli
