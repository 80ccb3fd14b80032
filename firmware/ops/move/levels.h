// The levels of words Move: which rectangles of a block of the output are of a source.
#pragma once

#include <stdint.h>

#include "firmware/ops/index_tensor.h"
#include "firmware/ops/move/gather.h"
#include "firmware/ops/move/layout.h"

namespace ttfd::ops {

// A tensor of indices, and what they are for.
class Indices {
 public:
  // `memory`: L1 address of kMoveIndexBytes.
  Indices(const Move::Index& words, const MoveTensor& tensor, uint32_t memory)
      : words_(words), numbers_(tensor, memory) {}

  uint32_t At(uint32_t element) { return numbers_.At(element); }

  bool gathers() const { return Is(MoveIndexUse::kGather); }
  bool positions() const { return Is(MoveIndexUse::kPosition) || Is(MoveIndexUse::kPagedPosition); }
  bool pages() const { return words_.use >= static_cast<uint32_t>(MoveIndexUse::kPagedPosition); }
  bool is_empty() const { return words_.tensor.columns == 0; }
  uint32_t level() const { return words_.level; }
  uint32_t limit() const { return words_.limit; }
  uint32_t matrices() const { return words_.matrices; }

 private:
  bool Is(MoveIndexUse use) const { return words_.use == static_cast<uint32_t>(use); }

  const Move::Index& words_;
  IndexTensor numbers_;
};

// The digits of an element of the output.
class Digits {
 public:
  [[gnu::noinline]] Digits(const Move& words, uint32_t element) : words_(words) {
    for (uint32_t level = inner(); level != 0; --level) {
      const uint32_t rest = element / words.size[level];
      at_[level] = element - rest * words.size[level];
      element = rest;
    }
    at_[0] = element;
  }

  uint32_t operator[](uint32_t level) const { return at_[level]; }
  uint32_t inner() const { return words_.levels - 1; }
  // Elements from this one on that differ in the last digit only, at most `limit`.
  uint32_t Run(uint32_t limit) const { return Least(limit, words_.size[inner()] - at_[inner()]); }
  // To the element after a Run() that ended with the last digit.
  [[gnu::noinline]] void Carry() {
    uint32_t level = inner();
    for (at_[level] = 0; level != 0; at_[level] = 0) {
      --level;
      if (++at_[level] != words_.size[level]) return;
    }
  }
  void Grow(uint32_t level, uint32_t by) { at_[level] += by; }

 private:
  const Move& words_;
  uint32_t at_[kMaxMoveLevels];
};

// Rows of a block from `element` on, each `columns` wide, in which but one digit is that of the row before; at most
// `limit`.
inline uint32_t EqualRows(const Move& words, uint32_t element, uint32_t columns, uint32_t limit) {
  if (limit == 1 || words.row_step == 0) return 1;
  const uint32_t level = words.row_level;
  Digits digits(words, element);
  for (uint32_t x = 0, run = 0; x != columns; x += run) {
    if (x != 0) digits.Carry();
    run = digits.Run(columns - x);
    const uint32_t last = digits[level] + (level == digits.inner() ? run : 1);
    limit = Least(limit, (words.size[level] - last) / words.row_step + 1);
  }
  return limit;
}

// The box of a source, and the rectangle of a block that it has.
class Box {
 public:
  // `position`: where boxes begin in the level of the indices. `shift`: from the digit of level 0 to that of sources.
  Box(const Move& words, uint32_t source, Indices& indices, uint32_t position, uint32_t shift)
      : words_(words),
        source_(words.source[source]),
        indices_(indices),
        position_(position),
        shift_(shift),
        pages_(source_.tensor, words.unit_bytes),
        gathers_(source == 0 && indices.gathers()) {}

  // Reads what of `height` equal rows of `width` elements from `digits` on, one run each, is in the box.
  [[gnu::noinline]] void Read(Gather& gather, const Digits& digits, uint32_t y, uint32_t x,
                              uint32_t height, uint32_t width) {
    const uint32_t inner = digits.inner();
    if (words_.row_level == inner && height != 1) {
      const Range range = RangeOf(inner);
      const uint32_t end = digits[inner] + (height - 1) * words_.row_step + width;
      if (range.begin > digits[inner] || range.end < end) {  // a line at a time
        Digits line = digits;
        for (; height != 0; --height, ++y, line.Grow(inner, words_.row_step)) {
          Read(gather, line, y, x, 1, width);
        }
        return;
      }
    }
    Rectangle part = {y, x, height, width, source_.offset, 0, source_.level[inner].stride};
    for (uint32_t level = 0; level <= inner; ++level) {
      if (!Clip(level, digits[level], inner, &part)) return;
    }
    gather.Read(pages_, part);
  }

  // Element of the source; false: it is not in the box.
  bool Find(const Digits& digits, uint32_t* element) {
    Rectangle part = {0, 0, 1, 1, source_.offset, 0, 0};
    for (uint32_t level = 0; level <= digits.inner(); ++level) {
      if (!Clip(level, digits[level], digits.inner(), &part)) return false;
    }
    *element = part.first;
    return true;
  }
  // Whether rows that differ in one digit are at a fixed distance in the source.
  bool IsRegular() const { return !gathers_ || words_.index.level != words_.row_level; }

 private:
  struct Range {
    uint32_t begin;
    uint32_t end;
  };

  Range RangeOf(uint32_t level) const {
    const Move::Source::Level& box = source_.level[level];
    const uint32_t shift = indices_.positions() && level == indices_.level() ? position_ : 0;
    return {box.begin + shift, box.end + shift};
  }

  // Cuts digits from `at` on, `count` of them at intervals of `step`, to those in the range; returns how many were cut
  // from the begin.
  static uint32_t Cut(const Range& range, uint32_t at, uint32_t step, uint32_t* count) {
    const uint32_t before =
        at < range.begin ? Least((range.begin - at + step - 1) / step, *count) : 0;
    const uint32_t inside = at < range.end ? Least((range.end - at + step - 1) / step, *count) : 0;
    *count = inside > before ? inside - before : 0;
    return before;
  }

  // Cuts `part` to the box in one level, and adds what the level moves in the source. False: nothing is left.
  [[gnu::noinline]] bool Clip(uint32_t level, uint32_t at, uint32_t inner, Rectangle* part) {
    const uint32_t stride = source_.level[level].stride;
    if (level == 0) at += shift_;
    const Range range = RangeOf(level);
    const bool is_row = level == words_.row_level && part->height != 1;
    if (is_row) part->down = words_.row_step * stride;
    if (level == inner) {
      if (!is_row) {
        const uint32_t before = Cut(range, at, 1, &part->width);
        part->x += before;
        at += before;
      }
      if (part->width == 0) return false;
    } else if (is_row) {
      const uint32_t before = Cut(range, at, words_.row_step, &part->height);
      part->y += before;
      at += before * words_.row_step;
      if (part->height == 0) return false;
    } else if (at < range.begin || at >= range.end) {
      return false;
    }
    if (gathers_ && level == words_.index.level) {
      at = indices_.At(at);
      if (at >= words_.index.limit) return false;
    }
    if (indices_.positions() && level == indices_.level()) at -= position_;
    part->first += at * stride;
    return true;
  }

  const Move& words_;
  const Move::Source& source_;
  Indices& indices_;
  uint32_t position_;
  uint32_t shift_;
  TensorPages pages_;
  bool gathers_;
};

}  // namespace ttfd::ops
