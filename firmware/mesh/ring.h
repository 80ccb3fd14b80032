// Extents and segments of chunks, for both kernels of a ring (ring_words.h).
#pragma once

#include <stdint.h>
#include <ttfd/kernel.h>

#include "firmware/mesh/ring_words.h"

namespace ttfd::mesh {

// Scratch of a kernel: two segments, which it uses by turns, and its stamp.
class Scratch {
 public:
  explicit Scratch(uint32_t circular_buffer)
      : begin_((kernel::CircularBuffer(circular_buffer).address() + kRingStampBytes - 1) &
               ~(kRingStampBytes - 1)) {}
  uint32_t Segment(uint32_t number) const { return begin_ + (number & 1) * kRingSegmentBytes; }
  uint32_t stamp() const { return begin_ + 2 * kRingSegmentBytes; }

 private:
  uint32_t begin_;
};

// Notes when the kernel began and ended.
class Stopwatch {
 public:
  Stopwatch(const RingWords& words, const Scratch& scratch)
      : words_(words), at_(scratch.stamp()), begin_(kernel::WallClock()) {}
  void Stop() const {
    *kernel::L1Pointer<RingStamp>(at_) = {begin_, kernel::WallClock()};
    const kernel::InterleavedBuffer stamps(words_.stamps, kRingStampBytes);
    kernel::Write(at_, stamps.Page(words_.stamp_page), sizeof(RingStamp));
    kernel::WriteBarrier();
  }

 private:
  const RingWords& words_;
  const uint32_t at_;
  const uint64_t begin_;
};

// Chunks as extents in segments.
class Extents {
 public:
  explicit Extents(const RingWords& words)
      : words_(words),
        extent_bytes_(words.page_bytes < kRingSegmentBytes ? words.page_bytes : kRingSegmentBytes),
        stride_((extent_bytes_ + kRingExtentAlignment - 1) & ~(kRingExtentAlignment - 1)) {
    const uint32_t in_page = (words.page_bytes + extent_bytes_ - 1) / extent_bytes_;
    const uint32_t extents = words.pages * in_page;
    segments_ = (extents + words.segment_extents - 1) / words.segment_extents;
  }

  // Segments of a chunk.
  uint32_t segments() const { return segments_; }

  // A place in a buffer: the next extent of a chunk.
  struct Place {
    uint32_t page;
    uint32_t end;  // page behind the chunk
    uint32_t offset = 0;
  };
  // The start of chunk `number` of a buffer.
  Place Chunk(uint32_t number) const {
    return {number * words_.pages, (number + 1) * words_.pages};
  }
  uint32_t After(uint32_t chunk) const {
    const uint32_t next = chunk + words_.step;
    return next < words_.all ? next : next - words_.all;
  }

  // Calls `move(NocAddress, L1 address, bytes)` for each extent of the next segment, which lies at `at` in L1. Returns
  // the bytes of the segment and leaves `place` behind it.
  template <typename Function>
  [[gnu::always_inline]] uint32_t Segment(const kernel::InterleavedBuffer& buffer, Place& place,
                                          uint32_t at, Function move) const {
    return Walk(place, at, [&buffer, &move](const Place& extent, uint32_t to, uint32_t bytes) {
      move(buffer.Page(extent.page, extent.offset), to, bytes);
    });
  }

  // Bytes of the segment at `place`.
  uint32_t SegmentBytes(Place place) const {
    return Walk(place, 0, [](const Place&, uint32_t, uint32_t) {});
  }

 private:
  template <typename Function>
  [[gnu::always_inline]] uint32_t Walk(Place& place, uint32_t at, Function visit) const {
    const uint32_t begin = at;
    for (uint32_t left = words_.segment_extents; left != 0 && place.page != place.end; --left) {
      const uint32_t rest = words_.page_bytes - place.offset;
      const uint32_t bytes = rest < extent_bytes_ ? rest : extent_bytes_;
      visit(place, at, bytes);
      at += stride_;
      place.offset += bytes;
      if (place.offset == words_.page_bytes) ++place.page, place.offset = 0;
    }
    return at - begin;
  }

  const RingWords& words_;
  const uint32_t extent_bytes_;
  const uint32_t stride_;
  uint32_t segments_ = 0;
};

}  // namespace ttfd::mesh
