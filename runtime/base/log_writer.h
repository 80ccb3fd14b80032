// Writes lines to a descriptor on a thread of its own: whoever has something to log never waits for whoever reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "runtime/base/abandonable_thread.h"
#include "runtime/base/clock.h"

namespace ttfd {

struct LogWriterOptions {
  // Lines that wait to be written, and their bytes. A line beyond either limit is dropped and counted.
  size_t lines = 4096;
  size_t bytes = size_t{1} << 20;
  // The line, with its newline, that reports dropped lines at the place where they are missing.
  std::function<std::string(uint64_t dropped)> dropped_text;
};

// Thread-safe. The descriptor's flags are not changed, because other processes may share it: the thread writes when
// poll(2) reports space, at most PIPE_BUF bytes at a time, so that a write to a pipe does not block.
class LogWriter {
 public:
  // `fd` stays open until the writer is destroyed; if it takes nothing by then, until the process ends. Starts the
  // thread.
  LogWriter(int fd, LogWriterOptions options);
  // Writes what waits, as far as the descriptor takes it within 250 ms.
  ~LogWriter();

  // Appends a line, its newline included. Never waits: without space the line is dropped and counted.
  void Write(std::string line);
  // The same for a line that must not be dropped: waits for space, which it gets before lines of Write. False: there
  // was none by `deadline`, and the line was not taken.
  bool WriteUntil(std::string line, TimePoint deadline);
  // Waits until every line taken so far has been written. False: not by `deadline`.
  bool FlushUntil(TimePoint deadline);

 private:
  struct Shared;
  const std::shared_ptr<Shared> shared_;
  AbandonableThread thread_;
};

}  // namespace ttfd
