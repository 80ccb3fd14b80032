// StreamDriver: decides which thread moves a session's stream. One thread at a time holds the driver role: a
// caller that waits takes the role itself if it is free (so a single-threaded client never wakes
// another thread), and otherwise sleeps until the holder has handled an event.
//
// Thread-safe. Its mutex guards everything of the session.
#pragma once

#include <chrono>
#include <thread>

#include "client/cpp/src/mutex.h"

namespace ttfd::client {

class StreamDriver {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  static Instant Now() { return std::chrono::steady_clock::now(); }

  virtual ~StreamDriver() = default;

  mutable Mutex mu;

  // Until `done` (called under the mutex), the end or the deadline; returns done().
  template <typename Done>
  bool Until(Instant deadline, Done&& done) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    while (!done() && !AtEnd() && Now() < deadline) {
      Once(deadline);
    }
    return done();
  }
  // The state has changed outside of Move: every thread checks its condition.
  void Notify() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) { moved_.NotifyAll(); }

  // A thread that drives the stream until the end or StopBackground. Each once; a derived class stops it before its
  // own members are destroyed.
  void StartBackground();
  void StopBackground() ABSL_LOCKS_EXCLUDED(mu);

 protected:
  // Waits for one event until the deadline and handles it. Releases the mutex while it waits and during
  // callbacks.
  virtual void Move(Instant deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) = 0;
  // No event follows.
  virtual bool AtEnd() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) = 0;
  // For Move, with nothing to wait for: until Notify or `time`.
  void SleepUntil(Instant time) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) { moved_.WaitUntil(&mu, time); }

 private:
  void Once(Instant deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

  Condition moved_;
  bool driving_ ABSL_GUARDED_BY(mu) = false;
  int sleepers_ ABSL_GUARDED_BY(mu) = 0;
  bool stop_ ABSL_GUARDED_BY(mu) = false;
  std::thread background_;
};

inline void StreamDriver::Once(Instant deadline) {
  if (driving_) {
    ++sleepers_;
    moved_.WaitUntil(&mu, deadline);
    --sleepers_;
    return;
  }
  driving_ = true;
  Move(deadline);
  driving_ = false;
  if (sleepers_ != 0) {
    moved_.NotifyAll();
  }
}

inline void StreamDriver::StartBackground() {
  background_ = std::thread([this] {
    MutexLock lock(&mu);
    while (!stop_ && !AtEnd()) {
      Once(std::chrono::steady_clock::now() + std::chrono::hours(1));
    }
  });
}

inline void StreamDriver::StopBackground() {
  {
    MutexLock lock(&mu);
    stop_ = true;
    moved_.NotifyAll();
  }
  if (background_.joinable()) {
    background_.join();
  }
}

}  // namespace ttfd::client
