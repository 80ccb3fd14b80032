// Timeouts that an administrator may change at run time: the daemon's, and those that a session has of its own.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "daemon/api/reply.h"
#include "runtime/base/clock.h"

namespace ttfd {

// Thread-safe.
class Timeouts {
 public:
  // The daemon's.
  explicit Timeouts(const TimeoutsReply& initial) { Set(initial); }
  // A session's: timeouts that are not set are those of `daemon`, which outlives this.
  explicit Timeouts(const Timeouts* daemon) : daemon_(daemon) {}

  // A zero leaves a timeout as it is.
  void Set(const TimeoutsReply& changes) {
    const std::array<uint32_t, kCount> ms = {changes.operation_ms, changes.kernel_ms,
                                             changes.start_ms, changes.stalled_client_ms};
    for (size_t i = 0; i < kCount; ++i) {
      if (ms[i] != 0) own_ms_[i].store(ms[i], std::memory_order_relaxed);
    }
  }
  // Timeouts in force.
  TimeoutsReply Get() const { return {Of(kOperation), Of(kKernel), Of(kStart), Of(kStalled)}; }

  // Zero: the session has none of its own.
  Duration own_operation() const { return Milliseconds(Own(kOperation)); }
  Duration operation() const { return Milliseconds(Of(kOperation)); }
  Duration kernel() const { return Milliseconds(Of(kKernel)); }
  Duration start() const { return Milliseconds(Of(kStart)); }
  Duration stalled_client() const { return Milliseconds(Of(kStalled)); }

 private:
  enum Index : size_t { kOperation, kKernel, kStart, kStalled, kCount };

  static Duration Milliseconds(uint32_t ms) { return std::chrono::milliseconds(ms); }
  uint32_t Own(Index index) const { return own_ms_[index].load(std::memory_order_relaxed); }
  uint32_t Of(Index index) const {
    const uint32_t own = Own(index);
    return own != 0 || daemon_ == nullptr ? own : daemon_->Own(index);
  }

  const Timeouts* const daemon_ = nullptr;
  std::array<std::atomic<uint32_t>, kCount> own_ms_{};
};

}  // namespace ttfd
