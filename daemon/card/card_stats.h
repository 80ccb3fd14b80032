// Counts what the card has done since the daemon started.
#pragma once

#include <atomic>
#include <cstdint>

#include "daemon/api/device_state.h"
#include "daemon/session/slice.h"

namespace ttfd {

// Thread-safe.
class CardStats {
 public:
  // A slice has ended well.
  void Add(const Slice& slice) {
    if (slice.runs_kernels()) {
      launches_.fetch_add(slice.launches, std::memory_order_relaxed);
    } else {
      (slice.read ? bytes_read_ : bytes_written_).fetch_add(slice.bytes, std::memory_order_relaxed);
    }
  }
  void AddReset() { resets_.fetch_add(1, std::memory_order_relaxed); }

  DeviceStats Read() const {
    constexpr auto kRelaxed = std::memory_order_relaxed;
    return {launches_.load(kRelaxed), bytes_written_.load(kRelaxed), bytes_read_.load(kRelaxed),
            resets_.load(kRelaxed)};
  }

 private:
  std::atomic<uint64_t> launches_{0}, bytes_written_{0}, bytes_read_{0};
  std::atomic<uint32_t> resets_{0};
};

}  // namespace ttfd
