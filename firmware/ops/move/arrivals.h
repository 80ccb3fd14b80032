// Elements that are on their way into L1, and where they go then.
#pragma once

#include <stdint.h>

#include "firmware/ops/move/copy.h"
#include "firmware/ops/move/layout.h"

namespace ttfd::ops {

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

// Memory for reads, and the jobs that copy what they bring into a block of the output.
class Arrivals {
 public:
  static constexpr uint32_t kUnit = hw::kDramAlignment;

  // `memory` up to `end`: L1 addresses that are multiples of kUnit.
  Arrivals(uint32_t memory, uint32_t end) : memory_(memory), end_(end), next_(memory) {}

  const BlockMemory& block() const { return block_; }
  void Begin(const BlockMemory& block) { block_ = block; }

  // Waits for all reads and copies what has arrived.
  [[gnu::noinline]] void Finish() {
    kernel::ReadBarrier();
    for (uint32_t i = 0; i != jobs_; ++i) job_[i].Run(block_);
    firmware::Fence();  // the copies have been loaded before other reads arrive
    jobs_ = group_ = cursor_ = 0;
    next_ = memory_;
  }

  [[gnu::noinline]] Job& Add(const Runs& runs, uint32_t line, uint32_t done, uint32_t lines,
                             uint32_t length) {
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
  // Adds a line that is one of several segments of elements: one more of the job for the same segment of the line
  // before, where it continues that. BeginLine() comes before the segments of a line.
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

  // How many parts of `bytes`, a multiple of kUnit, Take() gives at once; at least one.
  uint32_t CountOf(uint32_t bytes) {
    if (bytes > end_ - next_) Finish();
    return (end_ - next_) / bytes;
  }
  // L1 address for `bytes`, a multiple of kUnit, and for one more job.
  uint32_t Take(uint32_t bytes) {
    if (bytes > end_ - next_ || jobs_ == kMaxJobs) Finish();
    const uint32_t address = next_;
    next_ += bytes;
    return address;
  }

  // Reads into the block, or into what Take() returned.
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

 private:
  static constexpr uint32_t kMaxJobs = 40;

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
