// Common words of the kernels of collective operations over the links of a line of chips. All kernels of a lane have
// the same.
//
// A lane goes along the line in one direction. It has a sender and a receiver on the link worker, NCRISC and BRISC for
// lane 0, TRISC1 and TRISC0 for lane 1, and adders on other workers where the operation adds.
//
// In a fold nothing travels: the adders add the chunks that a gather has left on the chip, and the receiver waits.
//
//   link -> receiver -> slot -> (adders: slot += own) -> sender -> link
//                          \-> the result in DRAM, of a gather by the receiver, of a sum by the adders
//
// Chunks travel in groups of kRingGroup segments: a group of each chunk that the chip sends of its own, then the same
// group of each that it passes on. The slots of a link hold a group without the receiver, so a ring of senders cannot
// wait for itself: the one that has sent least finds space. What a chip does not pass on leaves its slot without the
// sender.
#pragma once

#include <stdint.h>

namespace ttfd::mesh {

enum class RingSum : uint32_t {
  kNone,  // a gather
  kInt32,
  kFloat32,
  kBFloat16,
};

// Schedule of a lane: the chunks that it moves, by number. The next one is `step` on, modulo `all`.
struct RingSchedule {
  uint32_t out_end;  // link ends of the link worker. An end without segments is not opened
  uint32_t in_end;
  uint32_t own_chunks;  // that the sender sends from `own`
  uint32_t own_first;
  uint32_t received;  // that the receiver receives
  uint32_t received_first;
  uint32_t forwarded;  // of those: that the sender passes on, the first ones
  uint32_t step;
  uint32_t all;
};

// How buffers are cut. A chunk is `chunk_pages` pages of a buffer in DRAM that has `all_pages`. The lane moves
// `lane_pages` of them, from `lane_page` on.
struct RingChunks {
  uint32_t chunk_pages;
  uint32_t all_pages;
  uint32_t lane_page;
  uint32_t lane_pages;
  uint32_t page_bytes;
  // An extent is a page, or `slice_bytes` of one that is larger. A slice is up to `slice_extents` extents, and a
  // segment up to `slices` slices, which lie `slice_bytes` from each other in L1. Of a sum each slice has an adder.
  uint32_t extent_bytes;
  uint32_t extent_stride;  // in L1
  uint32_t page_extents;   // of a page
  uint32_t slice_extents;
  uint32_t slice_bytes;
  uint32_t slices;
  uint32_t
      segments;  // of a chunk. Where the end of the buffer cuts the chunk off, they may have no bytes
};

// Addresses of the buffers of what the chip has itself and of the result, and in each the page of chunk 0, modulo
// 2^32.
struct RingBuffers {
  uint32_t own;
  uint32_t own_page;
  uint32_t result;
  uint32_t result_page;
  uint32_t copies_own;  // the sender writes its own chunks to the result, too
  // A buffer of pages of kRingStampBytes, and the page that the sender writes, a RingStamp; the receiver writes the
  // next one.
  uint32_t stamps;
  uint32_t stamp_page;
};

struct RingAdders {
  RingSum sum;
  uint32_t sums;     // slices that each adder makes in all
  uint32_t addends;  // of each sum, besides its first
  uint32_t folds;    // nothing is received: each sum is of a slice of all chunks of `own`
  // The last chunk that lane 1 receives is added to the result of lane 0 in place of `own`.
  uint32_t accumulated;         // of lane 0: its adders count results for those of lane 1
  uint32_t accumulates;         // of lane 1
  uint32_t worker_x, worker_y;  // link worker
  uint32_t adder_x, adder_y;    // adder of slice 0; the next are below it
  uint32_t done;                // semaphore: RingDone() of the lane
};

struct RingWords {
  RingSchedule schedule;
  RingChunks chunks;
  RingBuffers buffers;
  RingAdders adders;
};

struct RingStamp {
  uint64_t begin;  // of the kernel, in clocks of the tile
  uint64_t end;
};

inline constexpr uint32_t kRingLanes = 2;
inline constexpr uint32_t kRingSegmentBytes = 32768;
inline constexpr uint32_t kRingSliceBytes =
    4096;  // of a sum: a tile of Float32, or two of bfloat16
inline constexpr uint32_t kRingAdders = kRingSegmentBytes / kRingSliceBytes;
inline constexpr uint32_t kRingGroup = 4;  // segments; a link takes as many without its receiver
inline constexpr uint32_t kRingSlots = 4;  // of segments, in the link worker
inline constexpr uint32_t kRingStampBytes = 64;
inline constexpr uint32_t kRingExtentAlignment = 64;  // of extents in a slice

// Circular buffer of a lane on the link worker, used as scratch: slots, two segments of the sender, and two stamps,
// aligned to 64 bytes.
inline constexpr uint32_t kRingScratchBytes =
    (kRingSlots + 2) * kRingSegmentBytes + 3 * kRingStampBytes;

// Circular buffers of an adder, in tiles: what was received, what is added to it, the sum. Two slices each.
inline constexpr uint32_t kRingReceived = 0;
inline constexpr uint32_t kRingAddend = 1;
inline constexpr uint32_t kRingTotal = 2;

// Semaphores. Of an adder: the address of the link worker's slots, how many segments have arrived there, and how many
// slices of the result lane 0 has written.
inline constexpr uint32_t kRingSlotsAddress = 0;
inline constexpr uint32_t kRingArrived = 1;
inline constexpr uint32_t kRingResults = 2;
// Semaphore of a lane on the link worker: segments that the sender has passed on.
constexpr uint32_t RingPassedOn(uint32_t lane) { return 3 + lane * (1 + kRingSlots); }
// The same, for each slot: how often a slice of it has become what is passed on, or is in the result. A gather has one
// slice.
constexpr uint32_t RingDone(uint32_t lane) { return RingPassedOn(lane) + 1; }
inline constexpr uint32_t kRingSemaphores = 3 + kRingLanes * (1 + kRingSlots);

}  // namespace ttfd::mesh
