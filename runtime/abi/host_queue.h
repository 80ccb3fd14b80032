// The pinned host memory of one hardware queue:
//
//   0x000 CompletionPointer        written by the dispatcher, after the pages it counts, on the
//   same NoC virtual channel 0x100 issue ring               records, written by the host
//   ....  completion ring          4 KiB pages, written by the dispatcher; follows the issue ring
//   at the next 4 KiB
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace ttfd::abi {

inline constexpr uint32_t kCompletionPointerOffset = 0x000;
inline constexpr uint32_t kIssueRingOffset = 0x100;

struct CompletionPointer {
  uint32_t pages_written;  // free-running
  uint32_t progress;       // HartStatus.progress of the dispatcher
  uint32_t last_event;     // id of the last event record
  uint32_t reserved;
};
static_assert(sizeof(CompletionPointer) == 16, "one NoC write of 16 bytes");

// Every completion record starts on a page: the echoed WRITE_LINEAR_H_HOST command, then its data.
struct EventRecord {
  uint8_t command[16];
  uint32_t event;
  uint32_t reserved[3];
};
static_assert(sizeof(EventRecord) == 32);

}  // namespace ttfd::abi
