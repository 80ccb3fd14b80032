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

// Links between two neighbours that a mesh uses, at most.
inline constexpr uint32_t kMostLinks = 2;

// Workers: each link of an axis has a link worker, and a column of adders for each lane.
inline client::Core LinkWorker(uint32_t axis, uint32_t link) {
  return {(axis * kMostLinks + link) * kRingLanes, 0};
}
inline client::CoreRange Adders(uint32_t axis, uint32_t link, uint32_t lane) {
  const uint32_t x = LinkWorker(axis, link).x + lane;
  return {x, 1, x, kRingAdders};
}

// The connections that the lines of all axes need, each over a channel of its own.
struct Connections {
  std::vector<client::LinkConnection> all = {};
  std::array<uint32_t, 2> links = {};  // by axis: between two neighbours
};
// `devices`: as the daemon lists them. All neighbours of an axis get as many links, up to kMostLinks.
// FAILED_PRECONDITION: two neighbours have no link that is left.
Result<Connections> ConnectionsOf(const Placement& placement,
                                  const std::vector<client::DeviceInfo>& devices);

// One chip's part in a launch on all chips of a line: the schedule of both lanes. Words about buffers are not set. In a
// closed line either lane moves half of each chunk.
using Pass = std::array<RingWords, kRingLanes>;

// An all_gather, for the chip with number `index` of a line of `length`: chunk `index` is its own. In a line that is
// open the lanes bring different chunks.
Pass GatherPass(uint32_t length, bool closed, uint32_t index);

// A reduce_scatter, which leaves the sum of chunk `index` of all chips. In a line that is open lane 1 adds to the
// result of lane 0.
Pass ReducePass(uint32_t length, bool closed, uint32_t index);

// The sum of all chunks that a gather has left on a chip, in the order of their numbers; either lane moves half of it.
Pass FoldPass(uint32_t length);

// How buffers are cut into chunks.
struct Chunks {
  uint32_t pages;      // of a chunk; the last chunks of a buffer may have fewer
  uint32_t all_pages;  // of the buffer that has all chunks
  uint32_t page_bytes;
};

// Sets which pages of each chunk a lane moves, share `share` of `shares`, and how they are cut into segments. Short
// chunks are cut in two, so that the halves travel at the same time. REQUIRES that the schedule and the sum are set.
void SetChunks(RingWords& words, const Chunks& chunks, uint32_t share, uint32_t shares);

}  // namespace ttfd::mesh
