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

  void Read(const TensorPages& source, const Rectangle& rectangle) {
    Runs runs = RunsOf(source, rectangle);
    if (source.is_tiled()) {
      if (runs.lines == 1 || runs.line_step % source.columns() == 0) {
        return ReadTiles(source, runs);
      }
      const uint32_t lines = runs.lines;
      for (runs.lines = 1; runs.line != lines; ++runs.line, runs.first += runs.line_step) {
        ReadTiles(source, runs);
      }
      return;
    }
    for (; runs.line != runs.lines; ++runs.line, runs.first += runs.line_step) {
      ReadRow(source, runs);
    }
  }

  // Waits for all reads and copies what has arrived.
  void Finish() {
    kernel::ReadBarrier();
    for (uint32_t i = 0; i != jobs_; ++i) job_[i].Run(block_);
    firmware::Fence();  // the copies have been loaded before other reads arrive
    jobs_ = 0;
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

  Job& Add(const Runs& runs, uint32_t line, uint32_t done, uint32_t lines, uint32_t length) {
    Job& job = job_[jobs_++];
    job.goes_down = runs.goes_down;
    job.lines = lines;
    job.length = length;
    job.y = runs.y + (runs.goes_down ? done : line);
    job.x = runs.x + (runs.goes_down ? line : done);
    return job;
  }

  // L1 address for `bytes`, a multiple of 64, and a job.
  uint32_t Take(uint32_t bytes) {
    if (bytes > end_ - next_ || jobs_ == kMaxJobs) Finish();
    const uint32_t address = next_;
    next_ += bytes;
    return address;
  }

  // Reads the units around `bytes`, and returns where those bytes will be.
  uint32_t ReadAround(kernel::NocAddress from, uint32_t bytes) {
    const uint32_t before = from.address % kUnit;
    const uint32_t size = (before + bytes + kUnit - 1) & ~(kUnit - 1);
    const uint32_t to = Take(size);
    kernel::Read({from.tile, from.address - before}, to, size);
    return to + before;
  }

  // Adds a line of elements at `source`; one more of the last job, if it continues that.
  void AddLine(const Runs& runs, uint32_t line, uint32_t done, uint32_t length, uint32_t source) {
    const uint32_t run_step = runs.run_step * block_.unit_bytes;
    if (jobs_ != 0) {
      Job& last = job_[jobs_ - 1];
      const bool follows = !last.is_tiled && last.goes_down == runs.goes_down &&
                           last.length == length && last.run_step == run_step &&
                           (runs.goes_down ? last.x + last.lines == runs.x + line &&
                                                 last.y == runs.y + done
                                           : last.y + last.lines == runs.y + line &&
                                                 last.x == runs.x + done);
      if (follows && (last.lines == 1 || source == last.source + last.lines * last.line_step)) {
        if (last.lines == 1) last.line_step = source - last.source;
        ++last.lines;
        return;
      }
    }
    Job& job = Add(runs, line, done, 1, length);
    job.source = source;
    job.is_tiled = false;
    job.line_step = 0;
    job.run_step = run_step;
  }

  // Line runs.line of a source whose pages are rows.
  void ReadRow(const TensorPages& source, const Runs& runs) {
    const uint32_t unit = block_.unit_bytes;
    uint32_t element = runs.first;
    for (uint32_t done = 0, count = 0; done != runs.length;
         done += count, element += count * runs.run_step) {
      const uint32_t row = element / source.columns();
      const uint32_t column = element - row * source.columns();
      count = CountBelow(source.columns() - column, runs.run_step, runs.length - done);
      count = CountBelow(kMaxSpan / unit, runs.run_step, count);
      const uint32_t bytes = ((count - 1) * runs.run_step + 1) * unit;
      const kernel::NocAddress from = source.Page(row, column * unit);
      if (!block_.is_tiled && !runs.goes_down && runs.run_step == 1) {
        const uint32_t to = block_.AddressOf(runs.y + runs.line, runs.x + done);
        if ((from.address - to) % kUnit == 0) {
          kernel::Read(from, to, bytes);
          continue;
        }
      }
      AddLine(runs, runs.line, done, count, ReadAround(from, bytes));
    }
  }

  // All lines of a source whose pages are tiles; a line step is of whole rows.
  void ReadTiles(const TensorPages& source, const Runs& runs) {
    const uint32_t row_step = runs.lines == 1 ? 0 : runs.line_step / source.columns();
    uint32_t element = runs.first;
    for (uint32_t done = 0, count = 0; done != runs.length;
         done += count, element += count * runs.run_step) {
      const uint32_t row = element / source.columns();
      const uint32_t column = element - row * source.columns();
      count = CountBelow(source.columns() - column, runs.run_step, runs.length - done);
      for (uint32_t i = 0, lines = 0; i != runs.lines; i += lines) {
        const uint32_t at = row + i * row_step;
        const uint32_t matrix = at / source.rows();
        const uint32_t in_matrix = at - matrix * source.rows();
        const uint32_t below = Least(source.rows() - in_matrix, kTileExtent - in_matrix % 32);
        lines = CountBelow(below, row_step, runs.lines - i);
        for (uint32_t j = 0, width = 0; j != count; j += width) {
          const uint32_t in_row = column + j * runs.run_step;
          width = CountBelow(kTileExtent - in_row % 32, runs.run_step, count - j);
          ReadTile(source, source.TileOf(matrix, in_matrix, in_row), in_matrix % 32, in_row % 32,
                   runs, runs.line + i, done + j, lines, width, row_step);
        }
      }
    }
  }

  // `lines` lines of `width` elements of a tile, the first of which is at (row, column).
  void ReadTile(const TensorPages& source, uint32_t tile, uint32_t row, uint32_t column,
                const Runs& runs, uint32_t line, uint32_t done, uint32_t lines, uint32_t width,
                uint32_t row_step) {
    if (IsSameTile(row, column, runs, line, done, lines, width, row_step)) {
      kernel::Read(source.Page(tile), block_.AddressOf(runs.y + line, runs.x + done),
                   source.page_bytes());
      return;
    }
    if (lines < kWholeTileLines) {
      for (uint32_t i = 0; i != lines; ++i) {
        ReadTileRow(source, tile, row + i * row_step, column, runs, line + i, done, width);
      }
      return;
    }
    const uint32_t to = Take(source.page_bytes());
    kernel::Read(source.Page(tile), to, source.page_bytes());
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
      AddLine(runs, line, done + j, count,
              ReadAround(source.Page(tile, InTile(row, at) * unit), bytes));
    }
  }

  BlockMemory block_ = {};
  uint32_t memory_;
  uint32_t end_;
  uint32_t next_;  // what has been read ends here
  uint32_t jobs_ = 0;
  Job job_[kMaxJobs];
};

}  // namespace ttfd::ops
