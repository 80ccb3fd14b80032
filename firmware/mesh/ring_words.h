// Common words of the kernels that gather over links. On one worker of each chip, NCRISC runs the sender and BRISC the
// receiver; both have these words.
//
// A chip sends its own chunk and then passes on those that it receives, in that order. A receiver writes chunks to
// their places in the gathered buffer; a sender reads them from there.
#pragma once

#include <stdint.h>

namespace ttfd::mesh {

struct RingWords {
  uint32_t end;     // link end: the sender's to the next chip, the receiver's to the one before
  uint32_t chunks;  // that the kernel sends, or receives. 0: the end is not opened
  uint32_t first;   // number of the first: for the sender this chip's own
  uint32_t step;    // from the number of a chunk to that of the next, modulo `all`
  uint32_t all;     // chunks of the gathered buffer
  // A chunk is `pages` whole pages of buffers in DRAM. A segment is up to `segment_extents` extents of one chunk; an
  // extent is a page, or kRingSegmentBytes of one that is larger.
  uint32_t pages;
  uint32_t page_bytes;
  uint32_t segment_extents;
  uint32_t own;       // address of the buffer of this chip's chunk
  uint32_t gathered;  // address of the gathered buffer
  // Address of a buffer of pages of kRingStampBytes, and the page that the kernel writes: RingStamp.
  uint32_t stamps;
  uint32_t stamp_page;
};

struct RingStamp {
  uint64_t begin;  // of the kernel, in clocks of the tile
  uint64_t end;
};

inline constexpr uint32_t kRingSegmentBytes = 32768;
inline constexpr uint32_t kRingStampBytes = 64;
inline constexpr uint32_t kRingExtentAlignment = 64;  // of extents in a segment

// Circular buffers of the two kernels, used as scratch: two segments and a stamp, aligned to 64 bytes.
inline constexpr uint32_t kRingSenderScratch = 0;
inline constexpr uint32_t kRingReceiverScratch = 1;
inline constexpr uint32_t kRingScratchBytes = 2 * kRingSegmentBytes + 2 * kRingStampBytes;

// Semaphore: segments that the receiver has written to the gathered buffer, in this launch.
inline constexpr uint32_t kRingWritten = 0;

}  // namespace ttfd::mesh
