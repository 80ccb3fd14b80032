// The trace of an embedded device: a file of text, written as things happen or when something goes wrong.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/base/unique_fd.h"
#include "runtime/device/sim/trace_options.h"
#include "runtime/sim/chip.h"
#include "runtime/sim/trace.h"
#include "runtime/sim/trace_text.h"

namespace ttfd {

class TraceFile {
 public:
  // Creates or empties the file. `chip` outlives every call but the destructor.
  static StatusOr<std::unique_ptr<TraceFile>> Open(const TraceOptions& options, sim::Chip* chip);
  // Writes what has not been written.
  ~TraceFile();

  // To be called around every Advance of the chip, by up to `clocks`. After: `going_on` if the chip neither faulted nor
  // came to rest nor was stopped; otherwise the file is brought up to date.
  void BeforeAdvance(uint64_t clocks);
  void AfterAdvance(bool going_on);
  // To be called before the chip is reset: a daemon resets one that hangs.
  void BeforeReset();

 private:
  TraceFile(const TraceOptions& options, sim::Chip* chip, UniqueFd file);

  void Take(const sim::TraceEvent& event);
  void Write(const sim::TraceEvent& event);
  // The events that trace_last keeps, under a line that says why.
  void WriteKept(std::string_view why);
  void Flush();
  // Attaches to the chip or detaches from it, as what is wanted of the clocks from `from` up to `to` demands.
  void Watch(uint64_t from, uint64_t to);
  bool WantsMore() const { return file_.valid() && !full_; }

  const TraceOptions options_;
  sim::Chip* const chip_;
  UniqueFd file_;  // invalid: it could not be written any more
  sim::TraceText text_;
  sim::Tracer tracer_;
  bool attached_ = false;
  bool fault_written_ = false;  // of the chip, since it was reset
  fmt::memory_buffer buffer_;
  uint64_t bytes_ = 0;                 // taken by the file and the buffer
  bool full_ = false;                  // the limit is reached
  std::vector<sim::TraceEvent> kept_;  // a ring
  uint64_t taken_ = 0;                 // events put into the ring, all in all
  uint64_t shown_ = 0;                 // of those, written or passed by
};

}  // namespace ttfd
