// A point in the life of the workers: how many answers launches asked for until then, by hardware queue
// and stream. Cumulative since the boot.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "runtime/abi/control_block.h"

namespace ttfd {

// One count for each stream of a hardware queue: the streams of its sub-devices.
using StreamCounts = std::array<uint64_t, abi::kMaxSubDevices>;

struct WorkerCounts {
  std::array<StreamCounts, abi::kMaxHardwareQueues> queue{};

  void Raise(uint32_t hardware_queue, uint32_t stream, uint64_t workers) {
    uint64_t& count = queue[hardware_queue][stream];
    count = std::max(count, workers);
  }
  void Raise(const WorkerCounts& other) {
    for (uint32_t q = 0; q < queue.size(); ++q) {
      for (uint32_t stream = 0; stream < queue[q].size(); ++stream) {
        Raise(q, stream, other.queue[q][stream]);
      }
    }
  }
  // Is nothing here beyond the other?
  bool Within(const WorkerCounts& other) const {
    for (uint32_t q = 0; q < queue.size(); ++q) {
      for (uint32_t stream = 0; stream < queue[q].size(); ++stream) {
        if (queue[q][stream] > other.queue[q][stream]) return false;
      }
    }
    return true;
  }
  bool operator==(const WorkerCounts&) const = default;
};

}  // namespace ttfd
