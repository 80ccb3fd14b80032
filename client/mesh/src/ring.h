// Operations along lines of chips, as launches of the kernels of firmware/mesh: which links they need, and which chunks
// each chip sends and receives.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "firmware/mesh/ring_words.h"
#include "ttfd/mesh/mesh.h"

namespace ttfd::mesh {

// Link ends of the workers of a line.
inline constexpr uint32_t kEndToNext = 0;
inline constexpr uint32_t kEndToLast = 1;

// The chips of a line along an axis, in order.
struct Line {
  std::vector<uint32_t> chips;
  bool closed = false;  // the last one has a link to the first
};

// All lines of a mesh along an axis.
std::vector<Line> LinesAlong(const Placement& placement, uint32_t axis);

// The worker that runs the operations of an axis.
inline client::Core WorkerOf(uint32_t axis) { return {axis, 0}; }

// The connections that the lines of all axes need, each over a channel of its own. `devices`: as the daemon lists them.
// FAILED_PRECONDITION: two neighbours have no link that is left.
Result<std::vector<client::LinkConnection>> ConnectionsOf(
    const Placement& placement, const std::vector<client::DeviceInfo>& devices);

// One chip's part in a launch on all chips of a line.
struct Pass {
  RingWords sender;
  RingWords receiver;
};

// An all_gather, for the chip with number `index` of a line of `length`: one launch, or two where the line is open and
// has more than two chips: towards its end, then towards its start. Without addresses and what a chunk is.
std::vector<Pass> GatherPasses(uint32_t length, bool closed, uint32_t index);

// Sets what a chunk is: `pages` pages of `page_bytes`. Short chunks are cut in two, so that the halves travel at the
// same time.
void SetChunk(RingWords& words, uint32_t pages, uint32_t page_bytes);

}  // namespace ttfd::mesh
