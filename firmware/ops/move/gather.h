// Fills rectangles of a block of the output from a source: reads what has their elements, and copies it when it has
// arrived.
//
// Whole tiles of a source in layout tile are read where several of their rows are used. Otherwise the reads are of the
// 64-byte units of DRAM around the elements of a row. Elements that lie in DRAM as they will in the block, modulo 64,
// are read into the block.
#pragma once

#include <stdint.h>

#include "firmware/ops/move/arrivals.h"
#include "firmware/ops/move/layout.h"

namespace ttfd::ops {

// Elements of a source for a rectangle of the block: element (y, x) is `first` + y * down + x * across.
struct Rectangle {
  uint32_t y;  // of the first element, in the block
  uint32_t x;
  uint32_t height;
  uint32_t width;
  uint32_t first;
  uint32_t down;
  uint32_t across;
};

class Gather {
 public:
  static constexpr uint32_t kMaxSpan = 2048;  // bytes of a row that are read at once

  // `memory` up to `end`, L1 addresses that are multiples of 64, is for elements on their way: at least that of a tile
  // and of kMaxSpan.
  Gather(uint32_t memory, uint32_t end) : arrivals_(memory, end) {}

  void Begin(const BlockMemory& block) { arrivals_.Begin(block); }
  // Waits until the block has all elements that have been read.
  void Finish() { arrivals_.Finish(); }

  [[gnu::noinline]] void Read(const TensorPages& source, const Rectangle& rectangle) {
    Runs runs = RunsOf(source, rectangle);
    const bool is_regular = runs.lines == 1 || runs.line_step % source.columns() == 0;
    const uint32_t lines = runs.lines;
    for (uint32_t line = 0; line != lines; line += runs.lines) {
      runs.lines = lines - line;
      const uint32_t row = runs.first / source.columns();
      const uint32_t column = runs.first - row * source.columns();
      if (!is_regular) runs.lines = source.is_tiled() ? 1 : LinesInRow(source, runs, column);
      ReadLines(source, runs, row, column);
      runs.line += runs.lines;
      runs.first += runs.lines * runs.line_step;
    }
  }

 private:
  static constexpr uint32_t kUnit = Arrivals::kUnit;
  static constexpr uint32_t kWholeTileLines = 3;  // from here on a tile is read as a whole

  static Runs RunsOf(const TensorPages& source, const Rectangle& r) {
    bool goes_down =
        r.across != 1 && r.width != 1 && (r.down == 1 || (r.height != 1 && r.down < r.across));
    // A run that would go from row to row of the source is lines of one element.
    const uint32_t step = goes_down ? r.down : r.across;
    if (step != 0 && step % source.columns() == 0) goes_down = !goes_down;
    return {goes_down,
            r.y,
            r.x,
            0,
            goes_down ? r.width : r.height,
            goes_down ? r.height : r.width,
            r.first,
            goes_down ? r.across : r.down,
            goes_down ? r.down : r.across};
  }

  const BlockMemory& block() const { return arrivals_.block(); }

  // How many lines lie in the row of the source of the first one, and in kMaxSpan bytes; at least 1.
  uint32_t LinesInRow(const TensorPages& source, const Runs& runs, uint32_t column) const {
    const uint32_t end = Least(source.columns() - column, kMaxSpan / block().unit_bytes);
    const uint32_t last = (runs.length - 1) * runs.run_step;  // of a line
    return last < end ? CountBelow(end - last, runs.line_step, runs.lines) : 1;
  }

  // Lines that begin in the rows row, row + line step, ... of the source, or all in that row.
  void ReadLines(const TensorPages& source, const Runs& runs, uint32_t row, uint32_t column) {
    const uint32_t row_step = runs.line_step / source.columns();
    if (runs.lines == 1) arrivals_.BeginLine();
    for (uint32_t done = 0, count = 0; done != runs.length; done += count) {
      count = CountBelow(source.columns() - column, runs.run_step, runs.length - done);
      if (source.is_tiled()) {
        ReadTiles(source, runs, row, column, done, count, row_step);
        Advance(source, count * runs.run_step, &row, &column);
        continue;
      }
      count = CountBelow(kMaxSpan / block().unit_bytes, runs.run_step, count);
      if (row_step == 0 && runs.lines != 1) {
        const uint32_t bytes =
            ((runs.lines - 1) * runs.line_step + (count - 1) * runs.run_step + 1) *
            block().unit_bytes;
        arrivals_.AddRows(
            runs, runs.line, done, runs.lines, count,
            arrivals_.ReadAround(source.Page(row, column * block().unit_bytes), bytes),
            runs.line_step * block().unit_bytes);
      } else {
        ReadRows(source, runs, row, column, done, count, row_step);
      }
      Advance(source, count * runs.run_step, &row, &column);
    }
  }

  static void Advance(const TensorPages& source, uint32_t elements, uint32_t* row,
                      uint32_t* column) {
    *column += elements;
    if (*column < source.columns()) return;
    const uint32_t rows = *column / source.columns();
    *row += rows;
    *column -= rows * source.columns();
  }

  // `count` elements of each line of a source whose pages are rows.
  void ReadRows(const TensorPages& source, const Runs& runs, uint32_t row, uint32_t column,
                uint32_t done, uint32_t count, uint32_t row_step) {
    const uint32_t unit = block().unit_bytes;
    const uint32_t offset = column * unit;
    const uint32_t bytes = ((count - 1) * runs.run_step + 1) * unit;
    const uint32_t before = (source.Page(row).address + offset) % kUnit;  // in all rows
    if (!block().is_tiled && !runs.goes_down && runs.run_step == 1) {
      uint32_t to = block().AddressOf(runs.y + runs.line, runs.x + done);
      if ((to - before) % kUnit == 0) {
        for (uint32_t i = 0; i != runs.lines; ++i, row += row_step, to += block().row_pitch()) {
          Arrivals::Start(source.Page(row, offset), to, bytes);
        }
        return;
      }
    }
    const uint32_t size = Arrivals::UnitsAround(before, bytes);
    for (uint32_t i = 0, lines = 0; i != runs.lines; i += lines) {
      lines = Least(runs.lines - i, arrivals_.CountOf(size));
      uint32_t to = arrivals_.Take(lines * size);
      arrivals_.AddRows(runs, runs.line + i, done, lines, count, to + before, size);
      for (uint32_t j = 0; j != lines; ++j, row += row_step, to += size) {
        kernel::Read(source.pages().Page(row, offset - before), to, size);
      }
    }
  }

  // `count` elements of each line of a source whose pages are tiles.
  void ReadTiles(const TensorPages& source, const Runs& runs, uint32_t row, uint32_t column,
                 uint32_t done, uint32_t count, uint32_t row_step) {
    for (uint32_t i = 0, lines = 0; i != runs.lines; i += lines) {
      const uint32_t at = row + i * row_step;
      const uint32_t matrix = at / source.rows();
      const uint32_t in_matrix = at - matrix * source.rows();
      const uint32_t below = Least(source.rows() - in_matrix, kTileExtent - in_matrix % 32);
      lines = CountBelow(below, row_step, runs.lines - i);
      if (runs.lines != 1) arrivals_.BeginLine();
      for (uint32_t j = 0, width = 0; j != count; j += width) {
        const uint32_t in_row = column + j * runs.run_step;
        width = CountBelow(kTileExtent - in_row % 32, runs.run_step, count - j);
        ReadTile(source, source.TileOf(matrix, in_matrix, in_row), in_matrix % 32, in_row % 32,
                 runs, runs.line + i, done + j, lines, width, row_step);
      }
    }
  }

  // `lines` lines of `width` elements of a tile, the first of which is at (row, column).
  [[gnu::noinline]] void ReadTile(const TensorPages& source, uint32_t tile, uint32_t row,
                                  uint32_t column, const Runs& runs, uint32_t line, uint32_t done,
                                  uint32_t lines, uint32_t width, uint32_t row_step) {
    if (lines < kWholeTileLines) {
      for (uint32_t i = 0; i != lines; ++i) {
        if (lines != 1) arrivals_.BeginLine();
        ReadTileRow(source, tile, row + i * row_step, column, runs, line + i, done, width);
      }
      return;
    }
    if (IsSameTile(row, column, runs, line, done, lines, width, row_step)) {
      Arrivals::Start(source.Page(tile), block().AddressOf(runs.y + line, runs.x + done),
                      source.page_bytes());
      return;
    }
    const uint32_t to = arrivals_.Take(source.page_bytes());
    Arrivals::Start(source.Page(tile), to, source.page_bytes());
    Job& job = arrivals_.Add(runs, line, done, lines, width);
    job.source = to;
    job.is_tiled = true;
    job.row = row;
    job.column = column;
    job.line_step = row_step;
    job.run_step = runs.run_step;
  }

  // A tile that is one of the block.
  bool IsSameTile(uint32_t row, uint32_t column, const Runs& runs, uint32_t line, uint32_t done,
                  uint32_t lines, uint32_t width, uint32_t row_step) const {
    return block().is_tiled && !runs.goes_down && lines == 32 && width == 32 && row_step == 1 &&
           runs.run_step == 1 && (row | column | (runs.y + line) | (runs.x + done)) % 32 == 0;
  }

  void ReadTileRow(const TensorPages& source, uint32_t tile, uint32_t row, uint32_t column,
                   const Runs& runs, uint32_t line, uint32_t done, uint32_t width) {
    const uint32_t unit = block().unit_bytes;
    for (uint32_t j = 0, count = 0; j != width; j += count) {
      const uint32_t at = column + j * runs.run_step;
      count = CountBelow(kFaceExtent - at % kFaceExtent, runs.run_step, width - j);
      const uint32_t bytes = ((count - 1) * runs.run_step + 1) * unit;
      arrivals_.AddSegment(runs, line, done + j, count,
                           arrivals_.ReadAround(source.Page(tile, InTile(row, at) * unit), bytes));
    }
  }

  Arrivals arrivals_;
};

}  // namespace ttfd::ops
