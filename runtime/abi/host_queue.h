// The pinned host memory of one hardware queue:
//
//   0x000 CompletionPointer        written by the dispatcher, after the pages it counts, on the same virtual channel
//   0x040 GoCounts                 written by dispatch_s
//   0x080 FetchPointer             written by the prefetcher
//   0x100 issue ring               records, written by the host
//   ....  completion ring          4 KiB pages, written by the dispatcher; follows the issue ring at the next 4 KiB
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/abi/control_block.h"

namespace ttfd::abi {

inline constexpr uint32_t kCompletionPointerOffset = 0x000;
inline constexpr uint32_t kGoCountsOffset = 0x040;
inline constexpr uint32_t kFetchPointerOffset = 0x080;
inline constexpr uint32_t kIssueRingOffset = 0x100;

struct CompletionPointer {
  uint32_t pages_written;  // free-running
  uint32_t progress;       // HartStatus.progress of the dispatcher
  uint32_t last_event;     // id of the last event record
  uint32_t reserved;
};
static_assert(sizeof(CompletionPointer) == 16, "one NoC write of 16 bytes");

// Go signals of each sub-device since the boot that all workers have answered. Every launch has one, and the next is
// sent when the one before is answered. Kept up to date for sub-devices with kPublishGos.
struct GoCounts {
  uint32_t answered[kMaxSubDevices];  // free-running
};
static_assert(sizeof(GoCounts) == 32 && kGoCountsOffset + sizeof(GoCounts) <= kFetchPointerOffset,
              "one NoC write of 32 bytes");

// ControlBlock.entries_fetched of the prefetch tile as of some time ago. Up to date whenever the prefetcher waits for a
// slot or executes an entry with the stall bit; otherwise at most kFetchedUnpublished behind.
struct FetchPointer {
  uint32_t entries_fetched;  // free-running
  uint32_t reserved[3];
};
inline constexpr uint32_t kFetchedUnpublished = 7;
static_assert(sizeof(FetchPointer) == sizeof(Counter) &&
                  kFetchPointerOffset + sizeof(FetchPointer) <= kIssueRingOffset,
              "one NoC write of 16 bytes");
static_assert((kFetchedUnpublished & (kFetchedUnpublished + 1)) == 0, "a mask of the count");

// Every completion record starts on a page: the echoed WRITE_LINEAR_H_HOST command, then its data.
struct EventRecord {
  uint8_t command[16];
  uint32_t event;
  uint32_t reserved[3];
};
static_assert(sizeof(EventRecord) == 32);

}  // namespace ttfd::abi
