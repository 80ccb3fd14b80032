// A thread for work that something outside of the process may block for ever: a disk, a pipe that nobody reads, a name
// service. Its owner waits for its end only until a deadline.
#pragma once

#include <functional>
#include <future>
#include <thread>

#include "runtime/base/clock.h"

namespace ttfd {

// For one owner, which calls it from one thread at a time.
class AbandonableThread {
 public:
  // Starts the thread, with every signal blocked. What `main` uses must live as long as the thread does, which may be
  // until the end of the process: give it shared ownership.
  explicit AbandonableThread(std::function<void()> main);
  // Abandons the thread unless JoinUntil has returned true.
  ~AbandonableThread();
  AbandonableThread(const AbandonableThread&) = delete;
  AbandonableThread& operator=(const AbandonableThread&) = delete;

  // Waits for the end of `main`. False: it had not ended by `deadline`, and nothing waits for it any more.
  bool JoinUntil(TimePoint deadline);

 private:
  std::future<void> ended_;
  std::thread thread_;
};

}  // namespace ttfd
