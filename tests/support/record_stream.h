// A stream of records for a card with one or two hardware queues, and where its memory lies.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/abi/l1_map.h"
#include "tests/support/memory_image.h"

namespace ttfd::testing {

struct StreamEntry {
  uint32_t queue = 0;
  std::vector<std::byte> bytes;
  bool stall_after = false;
};

struct RecordStream {
  MemoryImage memory;  // before the first command
  std::vector<StreamEntry> entries;
};

// Memory is divided into slices, each of which belongs to one queue at a time. A slice of DRAM is the
// same range of every bank, one of L1 the same range of every worker.
//
//   DRAM bank | slices 0..3 | read only: for the ring buffer | two traces of each queue |
//   host      | read only: for relays | written by queue 0 | written by queue 1 |
inline constexpr uint32_t kStreamDramBase = 0x100000;
inline constexpr uint32_t kDramSliceBytes = 4 * 1024;
inline constexpr uint32_t kDramSlices = 4;
inline constexpr uint32_t kRingSourceBase = kStreamDramBase + kDramSlices * kDramSliceBytes;
inline constexpr uint32_t kRingSourceBytes = 4 * 1024;
inline constexpr uint32_t kTraceBase = kRingSourceBase + kRingSourceBytes;
inline constexpr uint32_t kTraceBytes = 4 * 1024;  // of a bank
inline constexpr uint32_t kTracesOfQueue = 2;
inline constexpr uint32_t kStreamDramBytes =
    kDramSlices * kDramSliceBytes + kRingSourceBytes + 2 * kTracesOfQueue * kTraceBytes;
inline constexpr uint32_t kL1SliceBytes = 20 * 1024;  // more than the NoC's largest packet
inline constexpr uint32_t kL1Slices = 3;
inline constexpr uint32_t kHostSourceBytes = 64 * 1024;
inline constexpr uint32_t kHostSliceBytes = 20 * 1024;

}  // namespace ttfd::testing
