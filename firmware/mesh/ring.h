// Chunks in segments, and their order, for all kernels of a lane (ring_words.h).
#pragma once

#include <stdint.h>
#include <ttfd/kernel.h>

#include "firmware/mesh/ring_words.h"

namespace ttfd::mesh {

// Chunks as extents in slices in segments.
class Extents {
 public:
  explicit Extents(const RingWords& words)
      : words_(words),
        extent_bytes_(words.page_bytes < words.slice_bytes ? words.page_bytes : words.slice_bytes),
        stride_((extent_bytes_ + kRingExtentAlignment - 1) & ~(kRingExtentAlignment - 1)),
        in_page_((words.page_bytes + extent_bytes_ - 1) / extent_bytes_) {
    const uint32_t extents = words.lane_pages * in_page_;
    const uint32_t in_segment = words.slices * words.slice_extents;
    segments_ = (extents + in_segment - 1) / in_segment;
  }

  // Segments of a chunk. Those of a chunk that the buffer's end cuts off may have fewer bytes, or none.
  uint32_t segments() const { return segments_; }

  // A place in a chunk: the next extent.
  struct Place {
    uint32_t page;  // of the numbering of chunks
    uint32_t end;   // page behind the chunk
    uint32_t offset;
  };
  // The start of a slice of a segment.
  Place At(uint32_t chunk, uint32_t segment, uint32_t slice) const {
    const uint32_t extent = (segment * words_.slices + slice) * words_.slice_extents;
    const uint32_t begin = chunk * words_.chunk_pages + words_.lane_page;
    const uint32_t end = begin + words_.lane_pages;
    const uint32_t page = extent / in_page_;
    return {begin + page, end < words_.all_pages ? end : words_.all_pages,
            (extent - page * in_page_) * extent_bytes_};
  }

  // Calls `move(page, offset, L1 address, bytes)` for each extent of the slice at `place`, which lies at `at` in L1, and
  // leaves `place` behind it. Returns the bytes of the slice.
  template <typename Move>
  [[gnu::always_inline]] uint32_t Slice(Place& place, uint32_t at, Move move) const {
    const uint32_t begin = at;
    for (uint32_t left = words_.slice_extents; left != 0 && place.page < place.end; --left) {
      const uint32_t rest = words_.page_bytes - place.offset;
      const uint32_t bytes = rest < extent_bytes_ ? rest : extent_bytes_;
      move(place.page, place.offset, at, bytes);
      at += stride_;
      place.offset += bytes;
      if (place.offset == words_.page_bytes) ++place.page, place.offset = 0;
    }
    return at - begin;
  }

  // The same for a segment, of the bytes up to the end of its last extent.
  template <typename Move>
  [[gnu::always_inline]] uint32_t Segment(Place place, uint32_t at, Move move) const {
    uint32_t bytes = 0;
    for (uint32_t slice = 0; slice != words_.slices && place.page < place.end; ++slice) {
      const uint32_t begin = slice * words_.slice_bytes;
      bytes = begin + Slice(place, at + begin, move);
    }
    return bytes;
  }
  uint32_t SegmentBytes(const Place& place) const {
    return Segment(place, 0, [](uint32_t, uint32_t, uint32_t, uint32_t) {});
  }

 private:
  const RingWords& words_;
  const uint32_t extent_bytes_;
  const uint32_t stride_;
  const uint32_t in_page_;  // extents
  uint32_t segments_ = 0;
};

// The order of the segments of some chunks: a group of each chunk in turn.
class Order {
 public:
  Order(const RingWords& words, const Extents& extents, uint32_t chunks, uint32_t first)
      : words_(words),
        segments_(chunks == 0 ? 0 : extents.segments()),
        chunks_(chunks),
        first_(first),
        chunk_(first) {
    SetGroup(0);
  }

  bool done() const { return group_ == segments_; }
  uint32_t group() const { return group_; }  // its first segment
  uint32_t chunk() const { return chunk_; }  // number
  uint32_t index() const { return index_; }  // of the chunk, among these
  uint32_t segment() const { return segment_; }
  // Number of the segment where each group has `chunks` chunks, these first.
  uint32_t NumberAmong(uint32_t chunks) const {
    return group_ * chunks + index_ * (group_end_ - group_) + segment_ - group_;
  }

  void Next() {
    if (++segment_ != group_end_) return;
    segment_ = group_;
    chunk_ += words_.step;
    if (chunk_ >= words_.all) chunk_ -= words_.all;
    if (++index_ != chunks_) return;
    index_ = 0;
    chunk_ = first_;
    SetGroup(group_end_);
  }

 private:
  void SetGroup(uint32_t begin) {
    group_ = segment_ = begin;
    group_end_ = segments_ - begin < kRingGroup ? segments_ : begin + kRingGroup;
  }

  const RingWords& words_;
  const uint32_t segments_, chunks_, first_;
  uint32_t chunk_;
  uint32_t index_ = 0;
  uint32_t segment_ = 0;
  uint32_t group_ = 0, group_end_ = 0;
};

// A buffer in DRAM, by pages of the numbering of chunks.
class Pages {
 public:
  Pages(uint32_t address, uint32_t page_bytes, uint32_t first)
      : buffer_(address, page_bytes), first_(first) {}
  kernel::NocAddress At(uint32_t page, uint32_t offset) const {
    return buffer_.Page(first_ + page, offset);
  }

 private:
  kernel::InterleavedBuffer buffer_;
  uint32_t first_;
};

inline Pages OwnPages(const RingWords& words) {
  return {words.own, words.page_bytes, words.own_page};
}
inline Pages ResultPages(const RingWords& words) {
  return {words.result, words.page_bytes, words.result_page};
}

}  // namespace ttfd::mesh
