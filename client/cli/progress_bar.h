// A bar on stderr for transfers that last. Silent when stderr is not a terminal, and for the first
// half second, so that quick commands stay quiet.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace ttfd::cli {

class ProgressBar {
 public:
  using Clock = std::chrono::steady_clock;

  // `title` says what moves, such as "writing picture.raw"; `columns` are those of the terminal that stderr is, 0 if it
  // is none.
  ProgressBar(std::string title, size_t columns, Clock::time_point now);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void Update(uint64_t done, uint64_t total, Clock::time_point now);

  // One line of the bar, without the carriage return. Shorter than `columns`, so that a terminal never wraps it: the
  // bar itself becomes shorter first.
  static std::string Line(const std::string& title, uint64_t done, uint64_t total,
                          Clock::duration elapsed, size_t columns);

 private:
  const std::string title_;
  const size_t columns_;
  const Clock::time_point started_;
  Clock::time_point drawn_;
  bool visible_ = false;
};

}  // namespace ttfd::cli
