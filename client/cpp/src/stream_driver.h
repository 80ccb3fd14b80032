// StreamDriver: decides which thread moves a session's stream. One thread at a time holds the driver role: a
// caller that waits takes the role itself if it is free (so a single-threaded client never wakes
// another thread), and otherwise sleeps until the holder has handled an event.
//
// Thread-safe. Its mutex guards everything of the session.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "client/cpp/src/mutex.h"

namespace ttfd::client {

class StreamDriver {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  static Instant Now() { return std::chrono::steady_clock::now(); }

  // `interrupted` may be empty. It is called without the mutex.
  explicit StreamDriver(std::function<bool()> interrupted = {})
      : interrupted_(std::move(interrupted)) {}
  virtual ~StreamDriver() = default;

  mutable Mutex mu;

  // Until `done` (called under the mutex), the end or the deadline; returns done(). A thread that waits, in one
  // call or in several, calls `interrupted` every kInterruptInterval: true counts as the deadline.
  template <typename Done>
  bool Until(Instant deadline, Done&& done) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    return Wait(deadline, interrupted_ != nullptr, done);
  }
  // The same without `interrupted`, for what ends the session.
  template <typename Done>
  bool UntilUninterrupted(Instant deadline, Done&& done) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    return Wait(deadline, false, done);
  }
  // The state has changed outside of Move: every thread checks its condition.
  void Notify() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) { moved_.NotifyAll(); }

  // A thread that drives the stream until the end or StopBackground. Started once; a derived class stops it before
  // its own members are destroyed. Of several threads that stop it one waits for its end.
  void StartBackground() ABSL_LOCKS_EXCLUDED(mu);
  void StopBackground() ABSL_LOCKS_EXCLUDED(mu);

 protected:
  // Waits for one event until the deadline and handles it. Releases the mutex while it waits and during
  // callbacks.
  virtual void Move(Instant deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) = 0;
  // No event follows.
  virtual bool AtEnd() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) = 0;
  // A thread is inside Move.
  bool driving() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) { return driving_; }
  // For Move, with nothing to wait for: until Notify or `time`.
  void SleepUntil(Instant time) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) { moved_.WaitUntil(&mu, time); }

 private:
  static constexpr std::chrono::milliseconds kInterruptInterval{100};

  template <typename Done>
  bool Wait(Instant deadline, bool interruptible, Done& done) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    thread_local Instant check = {};
    while (!done() && !AtEnd() && Now() < deadline) {
      if (interruptible && Now() >= check) {
        check = Now() + kInterruptInterval;
        if (Interrupted()) {
          break;
        }
        continue;  // the mutex was released
      }
      Once(interruptible ? std::min(deadline, check) : deadline);
    }
    return done();
  }
  bool Interrupted() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    mu.Unlock();
    const bool interrupted = interrupted_();
    mu.Lock();
    return interrupted;
  }
  void Once(Instant deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

  const std::function<bool()> interrupted_;
  Condition moved_;
  bool driving_ ABSL_GUARDED_BY(mu) = false;
  int sleepers_ ABSL_GUARDED_BY(mu) = 0;
  bool stop_ ABSL_GUARDED_BY(mu) = false;
  std::thread background_ ABSL_GUARDED_BY(mu);
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
  MutexLock starting(&mu);
  background_ = std::thread([this] {
    MutexLock lock(&mu);
    while (!stop_ && !AtEnd()) {
      Once(std::chrono::steady_clock::now() + std::chrono::hours(1));
    }
  });
}

inline void StreamDriver::StopBackground() {
  std::thread background;
  {
    MutexLock lock(&mu);
    stop_ = true;
    moved_.NotifyAll();
    background.swap(background_);
  }
  if (background.joinable()) {
    background.join();
  }
}

}  // namespace ttfd::client
