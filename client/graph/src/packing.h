// A graph as the bytes that the card reads (firmware/graph/layout.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "client/graph/src/description.h"
#include "client/graph/src/order.h"
#include "firmware/graph/layout.h"

namespace ttfd::graph {

struct PackedGraph {
  // Blocks of records, then blocks of extensions.
  std::vector<std::byte> bytes;
  uint32_t blocks = 0;  // of records
  uint32_t window = 0;  // blocks of the ring; as layout::ScheduleWords, like the next
  uint32_t reach = 0;   // blocks
};

// Packs the tasks in `order`. `window`: blocks that the scheduler's tile can have, at least 2. A graph that fits is
// there as a whole; of a larger one, edges that are longer than half the window are left out, for the window keeps
// them. A task with more successors than a record names gets a tree of joins. RESOURCE_EXHAUSTED: the graph exceeds
// 2^31 bytes.
Result<PackedGraph> Pack(const Description& graph, const Successors& successors,
                         const std::vector<uint32_t>& order, uint32_t window);

}  // namespace ttfd::graph
