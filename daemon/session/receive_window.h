// Bytes that a session's client may have sent in total (ttfd.proto, ServerMessage.window_bytes): what has been
// accepted and is still held in memory is bounded for a session, and for all sessions of a user together.
//
//   0 ... released ...... charged ............... granted = window_bytes
//                 | held  |  the client may send  |
//                 |    at most Limits.window_bytes |
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "daemon/api/reply.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status.h"

namespace ttfd {

// Bytes that are granted to all sessions of a user and not released, and those of them that are held. Thread-safe.
class WindowPool {
 public:
  // Takes up to `want` bytes of what is left of `most`, but at least `least`. Returns how many.
  uint64_t Take(uint64_t want, uint64_t least, uint64_t most);
  void Return(uint64_t bytes) { taken_.fetch_sub(bytes, std::memory_order_relaxed); }
  uint64_t taken() const { return taken_.load(std::memory_order_relaxed); }

  void Hold(uint64_t bytes) { held_.fetch_add(bytes, std::memory_order_relaxed); }
  void Drop(uint64_t bytes) { held_.fetch_sub(bytes, std::memory_order_relaxed); }
  uint64_t held() const { return held_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> taken_{0};
  std::atomic<uint64_t> held_{0};
};

// Bytes granted to a session even when other sessions of its user have all of window_bytes_per_user, so that none
// waits for another: a sixteenth of window_bytes, and enough for a chunk or an inline payload with its message
// (ttfd.proto).
uint64_t LeastWindow(const SessionLimits& limits);

// Part of the window that one command holds.
struct HeldCost {
  uint64_t total = 0;          // charged, and not released
  uint64_t payload = 0;        // of that, for payload
  uint64_t payload_bytes = 0;  // received and not written

  void AddPayload(uint64_t cost, uint64_t bytes);
  // Bytes of the payload are not held any more. Returns the part of the cost that was theirs.
  uint64_t RemovePayload(uint64_t bytes);
};

// Thread-safe.
class ReceiveWindow {
 public:
  // `limits` outlives the window. `emptied` is called, with the window locked, when nothing is held any more after so
  // much was that its memory is worth returning to the system.
  ReceiveWindow(
      const SessionLimits& limits, std::shared_ptr<WindowPool> pool,
      std::function<void()> emptied = [] {});
  ReceiveWindow(const ReceiveWindow&) = delete;
  ReceiveWindow& operator=(const ReceiveWindow&) = delete;
  ~ReceiveWindow() { Close(); }

  // A message of this cost has come. RESOURCE_EXHAUSTED: it is more than the client may send.
  Status Charge(uint64_t cost) ABSL_LOCKS_EXCLUDED(mu_);
  // So much of what was charged is not held any more.
  void Release(uint64_t cost) ABSL_LOCKS_EXCLUDED(mu_);
  // The window after a step: as the functions of these names return it.
  struct Reading {
    uint64_t granted = 0;
    uint64_t size = 0;
    bool reduced = false;
  };
  // Releases as much, then grants what has been released, except for as much as `unsent_output` takes: bytes that wait
  // for the client to read.
  Reading Advance(uint64_t unsent_output, uint64_t release = 0) ABSL_LOCKS_EXCLUDED(mu_);
  // Returns everything to the pool: nothing is charged from here on.
  void Close() ABSL_LOCKS_EXCLUDED(mu_);

  // In total, since the session began.
  uint64_t granted() const ABSL_LOCKS_EXCLUDED(mu_);
  uint64_t held() const ABSL_LOCKS_EXCLUDED(mu_);
  // Held, or granted and not sent.
  uint64_t size() const ABSL_LOCKS_EXCLUDED(mu_);
  // Advance found less in the pool than it wanted: try again later.
  bool reduced() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void ReleaseLocked(uint64_t cost) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const SessionLimits& limits_;
  const std::shared_ptr<WindowPool> pool_;
  const std::function<void()> emptied_;
  mutable Mutex mu_;
  uint64_t released_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t charged_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t granted_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t peak_held_ ABSL_GUARDED_BY(mu_) = 0;  // since nothing was held
  bool reduced_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace ttfd
