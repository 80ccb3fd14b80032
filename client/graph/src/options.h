// Options in the environment, where `ttfdctl graph trace` sets them: TTFD_GRAPH_TRACE is the file for the timeline of a
// run, TTFD_GRAPH_TRACE_RUN the number of the run, counted from 1 in the process. Empty or unset: no
// file, run 1.
#pragma once

#include <optional>
#include <string>

namespace ttfd::graph {

// The file for the run that begins, if it is that run. From any thread.
std::optional<std::string> TraceOfNextRun();

}  // namespace ttfd::graph
