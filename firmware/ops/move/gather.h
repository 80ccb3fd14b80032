// Fills rectangles of a block of the output from a source: reads what has their elements, and copies it when it has
// arrived.
//
// Of a source in layout tile whole tiles are read where several of their rows are used. Otherwise the reads are of the
// 64-byte units of DRAM around the elements of a row. Elements that lie in DRAM as they will in the block, modulo 64,
// are read into the block.
#pragma once

#include <stdint.h>

#include "firmware/ops/move/copy.h"
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
  static constexpr uint32_t kUnit = hw::kDramAlignment;

  // `memory` up to `end`, L1 addresses that are multiples of 64, is for elements on their way: at least that of a tile
  // and of kMaxSpan.
  Gather(uint32_t memory, uint32_t end) : memory_(memory), end_(end), next_(memory) {}

  void Begin(const BlockMemory& block) { block_ = block; }

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

  // Waits for all reads and copies what has arrived.
  [[gnu::noinline]] void Finish() {
    kernel::ReadBarrier();
    for (uint32_t i = 0; i != jobs_; ++i) job_[i].Run(block_);
    firmware::Fence();  // the copies have been loaded before other reads arrive
    jobs_ = group_ = cursor_ = 0;
    next_ = memory_;
  }

 private:
  static constexpr uint32_t kMaxJobs = 40;
  static constexpr uint32_t kWholeTileLines = 3;  // from here on a tile is read as a whole

  // A rectangle as lines of runs, which lie along a row of the source as far as they can.
  struct Runs {
    bool goes_down;
    uint32_t y;
    uint32_t x;
    uint32_t line;
    uint32_t lines;
    uint32_t length;
    uint32_t first;
    uint32_t line_step;
    uint32_t run_step;
  };

  static Runs RunsOf(const TensorPages& source, const Rectangle& r) {
    bool goes_down = r.across != 1 && r.width != 1 &&
                     (r.down == 1 || (r.height != 1 && r.down < r.across));
    // A run that would go from row to row of the source is lines of one element.
    const uint32_t step = goes_down ? r.down : r.across;
    if (step != 0 && step % source.columns() == 0) goes_down = !goes_down;
    return {goes_down, r.y, r.x, 0, goes_down ? r.width : r.height, goes_down ? r.height : r.width,
            r.first, goes_down ? r.across : r.down, goes_down ? r.down : r.across};
  }

  // How many lines lie in the row of the source of the first one, and in kMaxSpan bytes; at least 1.
  uint32_t LinesInRow(const TensorPages& source, const Runs& runs, uint32_t column) const {
    const uint32_t end = Least(source.columns() - column, kMaxSpan / block_.unit_bytes);
    const uint32_t last = (runs.length - 1) * runs.run_step;  // of a line
    return last < end ? CountBelow(end - last, runs.line_step, runs.lines) : 1;
  }

  [[gnu::noinline]] Job& Add(const Runs& runs, uint32_t line, uint32_t done, uint32_t lines, uint32_t length) {
    Job& job = job_[jobs_++];
    job.goes_down = runs.goes_down;
    job.lines = lines;
    job.length = length;
    job.y = runs.y + (runs.goes_down ? done : line);
    job.x = runs.x + (runs.goes_down ? line : done);
    return job;
  }
  void AddRows(const Runs& runs, uint32_t line, uint32_t done, uint32_t lines, uint32_t length,
               uint32_t source, uint32_t pitch) {
    Job& job = Add(runs, line, done, lines, length);
    job.source = source;
    job.is_tiled = false;
    job.line_step = pitch;
    job.run_step = runs.run_step * block_.unit_bytes;
  }
  // Adds a line that is one of several segments of elements: one more of the job for the same segment of the line before,
  // where it continues that. BeginLine() comes before the segments of a line.
  void BeginLine() { cursor_ = group_; }
  [[gnu::noinline]] void AddSegment(const Runs& runs, uint32_t line, uint32_t done, uint32_t length,
                  uint32_t source) {
    if (cursor_ != jobs_) {
      Job& above = job_[cursor_];
      const uint32_t x = runs.x + (runs.goes_down ? line - above.lines : done);
      const uint32_t y = runs.y + (runs.goes_down ? done : line - above.lines);
      const uint32_t pitch = above.lines == 1 ? source - above.source : above.line_step;
      if (above.x == x && above.y == y && above.length == length && !above.is_tiled &&
          above.goes_down == runs.goes_down &&
          above.run_step == runs.run_step * block_.unit_bytes &&
          source == above.source + above.lines * pitch) {
        above.line_step = pitch;
        ++above.lines;
        ++cursor_;
        return;
      }
    }
    if (cursor_ == group_) group_ = jobs_;
    AddRows(runs, line, done, 1, length, source, 0);
    cursor_ = jobs_;
  }

  // L1 address for `bytes`, a multiple of 64, and a job.
  uint32_t Take(uint32_t bytes) {
    if (bytes > end_ - next_ || jobs_ == kMaxJobs) Finish();
    const uint32_t address = next_;
    next_ += bytes;
    return address;
  }

  [[gnu::noinline]] static void Start(kernel::NocAddress from, uint32_t to, uint32_t bytes) {
    kernel::Read(from, to, bytes);
  }

  static uint32_t UnitsAround(uint32_t before, uint32_t bytes) {
    return (before + bytes + kUnit - 1) & ~(kUnit - 1);
  }
  // Reads the units around `bytes`, and returns where those bytes will be.
  [[gnu::noinline]] uint32_t ReadAround(kernel::NocAddress from, uint32_t bytes) {
    const uint32_t before = from.address % kUnit;
    const uint32_t size = UnitsAround(before, bytes);
    const uint32_t to = Take(size);
    Start({from.tile, from.address - before}, to, size);
    return to + before;
  }

  // Lines that begin in the rows row, row + line step, ... of the source, or all in that row.
  void ReadLines(const TensorPages& source, const Runs& runs, uint32_t row, uint32_t column) {
    const uint32_t row_step = runs.line_step / source.columns();
    if (runs.lines == 1) BeginLine();
    for (uint32_t done = 0, count = 0; done != runs.length; done += count) {
      count = CountBelow(source.columns() - column, runs.run_step, runs.length - done);
      if (source.is_tiled()) {
        ReadTiles(source, runs, row, column, done, count, row_step);
        Advance(source, count * runs.run_step, &row, &column);
        continue;
      }
      count = CountBelow(kMaxSpan / block_.unit_bytes, runs.run_step, count);
      if (row_step == 0 && runs.lines != 1) {
        const uint32_t bytes =
            ((runs.lines - 1) * runs.line_step + (count - 1) * runs.run_step + 1) *
            block_.unit_bytes;
        AddRows(runs, runs.line, done, runs.lines, count,
                ReadAround(source.Page(row, column * block_.unit_bytes), bytes),
                runs.line_step * block_.unit_bytes);
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
    const uint32_t unit = block_.unit_bytes;
    const uint32_t offset = column * unit;
    const uint32_t bytes = ((count - 1) * runs.run_step + 1) * unit;
    const uint32_t before = (source.Page(row).address + offset) % kUnit;  // in all rows
    if (!block_.is_tiled && !runs.goes_down && runs.run_step == 1) {
      uint32_t to = block_.AddressOf(runs.y + runs.line, runs.x + done);
      if ((to - before) % kUnit == 0) {
        for (uint32_t i = 0; i != runs.lines; ++i, row += row_step, to += block_.row_pitch()) {
          Start(source.Page(row, offset), to, bytes);
        }
        return;
      }
    }
    const uint32_t size = UnitsAround(before, bytes);
    for (uint32_t i = 0, lines = 0; i != runs.lines; i += lines) {
      if (size > end_ - next_) Finish();
      lines = Least(runs.lines - i, (end_ - next_) / size);
      uint32_t to = Take(lines * size);
      AddRows(runs, runs.line + i, done, lines, count, to + before, size);
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
      if (runs.lines != 1) BeginLine();
      for (uint32_t j = 0, width = 0; j != count; j += width) {
        const uint32_t in_row = column + j * runs.run_step;
        width = CountBelow(kTileExtent - in_row % 32, runs.run_step, count - j);
        ReadTile(source, source.TileOf(matrix, in_matrix, in_row), in_matrix % 32, in_row % 32,
                 runs, runs.line + i, done + j, lines, width, row_step);
      }
    }
  }

  // `lines` lines of `width` elements of a tile, the first of which is at (row, column).
  [[gnu::noinline]] void ReadTile(const TensorPages& source, uint32_t tile, uint32_t row, uint32_t column,
                const Runs& runs, uint32_t line, uint32_t done, uint32_t lines, uint32_t width,
                uint32_t row_step) {
    if (lines < kWholeTileLines) {
      for (uint32_t i = 0; i != lines; ++i) {
        if (lines != 1) BeginLine();
        ReadTileRow(source, tile, row + i * row_step, column, runs, line + i, done, width);
      }
      return;
    }
    if (IsSameTile(row, column, runs, line, done, lines, width, row_step)) {
      Start(source.Page(tile), block_.AddressOf(runs.y + line, runs.x + done),
            source.page_bytes());
      return;
    }
    const uint32_t to = Take(source.page_bytes());
    Start(source.Page(tile), to, source.page_bytes());
    Job& job = Add(runs, line, done, lines, width);
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
    return block_.is_tiled && !runs.goes_down && lines == 32 && width == 32 && row_step == 1 &&
           runs.run_step == 1 && (row | column | (runs.y + line) | (runs.x + done)) % 32 == 0;
  }

  void ReadTileRow(const TensorPages& source, uint32_t tile, uint32_t row, uint32_t column,
                   const Runs& runs, uint32_t line, uint32_t done, uint32_t width) {
    const uint32_t unit = block_.unit_bytes;
    for (uint32_t j = 0, count = 0; j != width; j += count) {
      const uint32_t at = column + j * runs.run_step;
      count = CountBelow(kFaceExtent - at % kFaceExtent, runs.run_step, width - j);
      const uint32_t bytes = ((count - 1) * runs.run_step + 1) * unit;
      AddSegment(runs, line, done + j, count,
                 ReadAround(source.Page(tile, InTile(row, at) * unit), bytes));
    }
  }

  BlockMemory block_ = {};
  uint32_t memory_;
  uint32_t end_;
  uint32_t next_;  // what has been read ends here
  uint32_t jobs_ = 0;
  uint32_t group_ = 0;   // first job of the segments of the line before
  uint32_t cursor_ = 0;  // job that the next segment may continue
  Job job_[kMaxJobs];
};

}  // namespace ttfd::ops
