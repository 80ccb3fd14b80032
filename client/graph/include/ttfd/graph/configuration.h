// Circular buffers and common arguments of a task of its own. A task with them is what a launch of its function's
// kernels on one tile is: kernels that use what a launch gives, and no Argument(i), are functions, unchanged.
//
//   graph::Function copy = graph.AddFunction("copy", writer, {.ncrisc = &reader, .configured = true});
//   graph::Configuration c = graph.AddConfiguration(
//       {.circular_buffers = {{.index = 0, .pages = 2, .page_bytes = 2048}},
//        .common = {{client::Processor::kNcrisc, {a, 7}}, {client::Processor::kBrisc, {b, 7}}}});
//   graph::Task t = graph.AddConfigured(copy, c, {.after = {s}});
#pragma once

#include <cstdint>
#include <vector>

#include "ttfd/graph/argument.h"
#include "ttfd/types.h"

namespace ttfd::graph {

// A circular buffer that every worker has, for the functions: of a graph, or of a task with a configuration. Its pages
// are what the last task left.
struct ScratchOptions {
  uint32_t index = 0;  // not above Graph::kMaxScratchIndex
  uint32_t pages = 0;
  uint32_t page_bytes = 0;  // multiple of 16
  client::DataFormat format = client::DataFormat::kNone;
};

struct ConfigurationOptions {
  // Circular buffers that the function's kernels use; those of GraphOptions::scratch are not theirs.
  std::vector<ScratchOptions> circular_buffers = {};
  // Common arguments of the kernel for a processor; a buffer becomes its address.
  struct Common {
    client::Processor processor = client::Processor::kBrisc;
    std::vector<Argument> words = {};
  };
  std::vector<Common> common = {};
};

// A configuration of a graph, by its number, from 0 in the order of the calls. Any number of tasks may have it.
struct Configuration {
  uint32_t number = 0;
};

}  // namespace ttfd::graph
