// Chunks in segments, and their order, for all kernels of a lane (ring_words.h); no more than the words are needed.
#pragma once

#include <stdint.h>

#include "firmware/mesh/ring_words.h"

namespace ttfd::mesh {

// Chunks as extents in slices in segments.
class Extents {
 public:
  explicit Extents(const RingChunks& chunks) : chunks_(chunks) {}

  // A place in a chunk: the next extent.
  struct Place {
    uint32_t page;  // of the numbering of chunks
    uint32_t end;   // page behind the chunk
    uint32_t offset;
  };
  // The start of a slice of a segment.
  Place At(uint32_t chunk, uint32_t segment, uint32_t slice) const {
    const uint32_t extent = (segment * chunks_.slices + slice) * chunks_.slice_extents;
    const uint32_t begin = chunk * chunks_.chunk_pages + chunks_.lane_page;
    const uint32_t end = begin + chunks_.lane_pages;
    const uint32_t page = extent / chunks_.page_extents;
    return {begin + page, end < chunks_.all_pages ? end : chunks_.all_pages,
            (extent - page * chunks_.page_extents) * chunks_.extent_bytes};
  }

  // Calls `move(page, offset, L1 address, bytes)` for each extent of the slice at `place`, which lies at `at` in L1,
  // and leaves `place` behind it. Returns the bytes of the slice.
  template <typename Move>
  [[gnu::always_inline]] uint32_t Slice(Place& place, uint32_t at, Move move) const {
    const uint32_t begin = at;
    for (uint32_t left = chunks_.slice_extents; left != 0 && place.page < place.end; --left) {
      const uint32_t rest = chunks_.page_bytes - place.offset;
      const uint32_t bytes = rest < chunks_.extent_bytes ? rest : chunks_.extent_bytes;
      move(place.page, place.offset, at, bytes);
      at += chunks_.extent_stride;
      place.offset += bytes;
      if (place.offset == chunks_.page_bytes) ++place.page, place.offset = 0;
    }
    return at - begin;
  }

  // The same for a segment.
  template <typename Move>
  [[gnu::always_inline]] void Segment(Place place, uint32_t at, Move move) const {
    for (uint32_t slice = 0; slice != chunks_.slices && place.page < place.end; ++slice) {
      Slice(place, at + slice * chunks_.slice_bytes, move);
    }
  }
  // Bytes of a segment up to the end of its last extent.
  uint32_t SegmentBytes(uint32_t chunk, uint32_t segment) const {
    const uint32_t before = segment * chunks_.slices * chunks_.slice_extents;
    const Place place = At(chunk, 0, 0);
    const uint32_t pages = place.page < place.end ? place.end - place.page : 0;
    if (pages * chunks_.page_extents <= before) return 0;
    uint32_t extents = pages * chunks_.page_extents - before;
    const uint32_t most = chunks_.slices * chunks_.slice_extents;
    if (extents > most) extents = most;
    const uint32_t whole = (extents - 1) / chunks_.slice_extents;  // slices before the last
    return whole * chunks_.slice_bytes +
           (extents - whole * chunks_.slice_extents) * chunks_.extent_stride;
  }

 private:
  const RingChunks& chunks_;
};

// The order of the segments of some chunks: a group of each chunk in turn.
class Order {
 public:
  Order(const RingWords& words, uint32_t chunks, uint32_t first)
      : schedule_(words.schedule),
        segments_(chunks == 0 ? 0 : words.chunks.segments),
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
    chunk_ += schedule_.step;
    if (chunk_ >= schedule_.all) chunk_ -= schedule_.all;
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

  const RingSchedule& schedule_;
  const uint32_t segments_, chunks_, first_;
  uint32_t chunk_;
  uint32_t index_ = 0;
  uint32_t segment_ = 0;
  uint32_t group_ = 0, group_end_ = 0;
};

}  // namespace ttfd::mesh
