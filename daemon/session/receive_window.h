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

// Without a lock: each number is written by one side. Charge is called by one thread at a time, so is Advance; the
// rest by any.
class ReceiveWindow {
 public:
  // `limits` outlives the window. `emptied` is called when nothing is held any more after so much was that its memory
  // is worth returning to the system; it must not call the window.
  ReceiveWindow(
      const SessionLimits& limits, std::shared_ptr<WindowPool> pool,
      std::function<void()> emptied = [] {});
  ReceiveWindow(const ReceiveWindow&) = delete;
  ReceiveWindow& operator=(const ReceiveWindow&) = delete;
  ~ReceiveWindow() { Close(); }

  // A message of this cost has come. RESOURCE_EXHAUSTED: it is more than the client may send.
  Status Charge(uint64_t cost);
  // So much of what was charged is not held any more.
  void Release(uint64_t cost);
  // The window after a step: as the functions of these names return it.
  struct Reading {
    uint64_t granted = 0;
    uint64_t size = 0;
    bool reduced = false;
  };
  // Grants what has been released, except for as much as `unsent_output` takes: bytes that wait for the client to read.
  Reading Advance(uint64_t unsent_output);
  // Returns everything to the pool. Nothing is charged meanwhile, nor from here on.
  void Close();

  // In total, since the session began.
  uint64_t granted() const { return granted_; }
  uint64_t held() const;
  // Held, or granted and not sent.
  uint64_t size() const;
  // Advance found less in the pool than it wanted: try again later.
  bool reduced() const { return reduced_; }

 private:
  const SessionLimits& limits_;
  const std::shared_ptr<WindowPool> pool_;
  const std::function<void()> emptied_;
  // 0 <= released_ <= charged_ <= granted_. They only grow.
  std::atomic<uint64_t> released_{0};
  std::atomic<uint64_t> charged_{0};
  std::atomic<uint64_t> granted_{0};
  std::atomic<uint64_t> peak_held_{0};  // since nothing was held
  std::atomic<bool> reduced_{false};
};

}  // namespace ttfd
