// Copies elements within L1: from where reads have put them to their places in a block of the output.
#pragma once

#include <stdint.h>

#include "firmware/ops/move/layout.h"

namespace ttfd::ops {

using Word [[gnu::may_alias]] = uint32_t;
using Half [[gnu::may_alias]] = uint16_t;

// A rectangle of elements in L1: `lines` runs of `length` elements. Pitches are bytes.
struct Plane {
  uint32_t address;
  uint32_t line_pitch;
  uint32_t run_pitch;
};

// Eight words, all of which are loaded before the first is stored.
[[gnu::always_inline]] inline void CopyWords8(const Word* source, Word* target) {
  const Word a = source[0], b = source[1], c = source[2], d = source[3];
  const Word e = source[4], f = source[5], g = source[6], h = source[7];
  target[0] = a, target[1] = b, target[2] = c, target[3] = d;
  target[4] = e, target[5] = f, target[6] = g, target[7] = h;
}

// Eight words of each line: the most frequent case, a line of a face of 16-bit elements.
inline void CopyLines8(uint32_t from, uint32_t from_pitch, uint32_t to, uint32_t to_pitch,
                       uint32_t lines) {
  if (lines % 2 != 0) {
    CopyWords8(kernel::L1Pointer<const Word>(from), kernel::L1Pointer<Word>(to));
    from += from_pitch, to += to_pitch;
  }
  for (lines /= 2; lines != 0; --lines) {
    CopyWords8(kernel::L1Pointer<const Word>(from), kernel::L1Pointer<Word>(to));
    from += from_pitch, to += to_pitch;
    CopyWords8(kernel::L1Pointer<const Word>(from), kernel::L1Pointer<Word>(to));
    from += from_pitch, to += to_pitch;
  }
}

// Two runs of eight words of each line: the lines of both faces of a row of a tile, or 32 elements of 16 bits that
// become those. Gaps are the bytes from the begin of a run to that of the other one.
inline constexpr uint32_t kFaceGap = kFaceExtent * kFaceExtent * sizeof(Half);
inline constexpr uint32_t kLineGap = kFaceExtent * sizeof(Half);
template <uint32_t kFromGap, uint32_t kToGap>
[[gnu::noinline]] inline void CopyPairs(const Plane& from, const Plane& to, uint32_t lines) {
  const uint32_t from_pitch = from.line_pitch, to_pitch = to.line_pitch;
  uint32_t source = from.address, target = to.address;
  for (; lines != 0; --lines, source += from_pitch, target += to_pitch) {
    CopyWords8(kernel::L1Pointer<const Word>(source), kernel::L1Pointer<Word>(target));
    CopyWords8(kernel::L1Pointer<const Word>(source + kFromGap),
               kernel::L1Pointer<Word>(target + kToGap));
  }
}

inline void CopyWordLines(const Plane& from, const Plane& to, uint32_t lines, uint32_t words) {
  uint32_t done = 0;
  for (; words - done >= 8; done += 8) {
    CopyLines8(from.address + 4 * done, from.line_pitch, to.address + 4 * done, to.line_pitch,
               lines);
  }
  if (done == words) return;
  for (uint32_t line = 0; line != lines; ++line) {
    const Word* const source = kernel::L1Pointer<const Word>(from.address + line * from.line_pitch);
    Word* const target = kernel::L1Pointer<Word>(to.address + line * to.line_pitch);
    for (uint32_t i = done; i != words; ++i) target[i] = source[i];
  }
}

template <typename Element>
inline void CopyElements(Plane from, Plane to, uint32_t lines, uint32_t length) {
  for (; lines != 0; --lines, from.address += from.line_pitch, to.address += to.line_pitch) {
    uint32_t source = from.address;
    uint32_t target = to.address;
    const uint32_t end = target + length * to.run_pitch;
    for (; target != end; source += from.run_pitch, target += to.run_pitch) {
      *kernel::L1Pointer<Element>(target) = *kernel::L1Pointer<const Element>(source);
    }
  }
}

// Transposes elements of 16 bits: lines and runs of an even number of them, 2 x 2 at a time. The lines lie side by side
// in `to`, all addresses and other pitches are multiples of 4.
[[gnu::noinline]] inline void CopyTransposed(const Plane& from, const Plane& to, uint32_t lines,
                                             uint32_t length) {
  constexpr uint32_t kLow = 0xFFFF;
  const uint32_t pitch = to.run_pitch;
  for (uint32_t line = 0; line != lines; line += 2) {
    const Word* first = kernel::L1Pointer<const Word>(from.address + line * from.line_pitch);
    const Word* second = first + from.line_pitch / sizeof(Word);
    const Word* const end = first + length / 2;
    uint32_t target = to.address + line * sizeof(Half);
    for (; first != end; ++first, ++second, target += 2 * pitch) {
      const Word a = *first, b = *second;
      *kernel::L1Pointer<Word>(target) = (a & kLow) | b << 16;
      *kernel::L1Pointer<Word>(target + pitch) = a >> 16 | (b & ~kLow);
    }
  }
}

inline void CopyPlane(const Plane& from, const Plane& to, uint32_t lines, uint32_t length,
                      uint32_t unit_bytes) {
  const bool is_packed = from.run_pitch == unit_bytes && to.run_pitch == unit_bytes;
  const uint32_t mixed = from.address | to.address | from.line_pitch | to.line_pitch;
  if (is_packed && ((mixed | length * unit_bytes) & 3) == 0) {
    CopyWordLines(from, to, lines, length * unit_bytes / 4);
  } else if (unit_bytes == 2 && from.run_pitch == 2 && to.line_pitch == 2 &&
             ((from.address | from.line_pitch | to.address | to.run_pitch) & 3) == 0 &&
             ((lines | length) & 1) == 0) {
    CopyTransposed(from, to, lines, length);
  } else if (unit_bytes == 2) {
    CopyElements<Half>(from, to, lines, length);
  } else {
    CopyElements<Word>(from, to, lines, length);
  }
}

// A block of the output in L1.
struct BlockMemory {
  uint32_t address;
  bool is_tiled;
  uint32_t columns;  // of a line, if it is not tiled
  uint32_t unit_bytes;

  uint32_t AddressOf(uint32_t y, uint32_t x) const {
    const uint32_t element = is_tiled ? (x / 32) * kTileElements + InTile(y, x) : y * columns + x;
    return address + element * unit_bytes;
  }
  uint32_t row_pitch() const { return (is_tiled ? kFaceExtent : columns) * unit_bytes; }
};

// Elements that have been read, and their places in a block.
struct Job {
  uint32_t source;  // L1 address of the first element; of its tile, if the elements are in one
  bool is_tiled;
  bool goes_down;  // runs are columns of the block, lines lie side by side
  uint32_t row;    // of the first element in its tile
  uint32_t column;
  uint32_t line_step;  // bytes; in a tile, rows
  uint32_t run_step;   // bytes; in a tile, columns
  uint32_t lines;
  uint32_t length;
  uint32_t y;  // of the first element in the block
  uint32_t x;

  void Run(const BlockMemory& block) const {
    const uint32_t unit = block.unit_bytes;
    const uint32_t row_pitch = block.row_pitch();
    Plane from = {0, is_tiled ? line_step * kFaceExtent * unit : line_step,
                  is_tiled ? run_step * unit : run_step};
    Plane to = {0, goes_down ? unit : row_pitch, goes_down ? row_pitch : unit};
    const bool has_pairs = (is_tiled || block.is_tiled) && unit == 2 && !goes_down &&
                           from.run_pitch == 2 && x % 32 == 0 &&
                           (is_tiled ? column % 32 == 0 : (source | line_step) % 4 == 0);
    for (uint32_t i = 0, count = 0; i != lines; i += count) {
      const uint32_t line_at = (goes_down ? x : y) + i;
      const uint32_t from_row = row + i * line_step;
      count = lines - i;
      if (block.is_tiled) count = Least(count, kFaceExtent - line_at % kFaceExtent);
      if (is_tiled) count = CountBelow(kFaceExtent - from_row % kFaceExtent, line_step, count);
      for (uint32_t j = 0, width = 0; j != length; j += width) {
        const uint32_t run_at = (goes_down ? y : x) + j;
        const uint32_t from_column = column + j * run_step;
        width = length - j;
        if (has_pairs && width >= kTileExtent) {
          width = kTileExtent;
          from.address =
              source + (is_tiled ? InTile(from_row, 0) * unit : i * line_step + j * unit);
          to.address = block.AddressOf(line_at, run_at);
          if (is_tiled && block.is_tiled) {
            CopyPairs<kFaceGap, kFaceGap>(from, to, count);
          } else if (is_tiled) {
            CopyPairs<kFaceGap, kLineGap>(from, to, count);
          } else {
            CopyPairs<kLineGap, kFaceGap>(from, to, count);
          }
          continue;
        }
        if (block.is_tiled) width = Least(width, kFaceExtent - run_at % kFaceExtent);
        if (is_tiled) width = CountBelow(kFaceExtent - from_column % kFaceExtent, run_step, width);
        from.address = source + (is_tiled ? InTile(from_row, from_column) * unit
                                          : i * line_step + j * run_step);
        to.address =
            goes_down ? block.AddressOf(run_at, line_at) : block.AddressOf(line_at, run_at);
        CopyPlane(from, to, count, width, unit);
      }
    }
  }
};

}  // namespace ttfd::ops
