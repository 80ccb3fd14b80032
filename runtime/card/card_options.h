// Sizes and timeouts of a FirmwareCard.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "runtime/base/clock.h"
#include "runtime/boot/boot_plan.h"

namespace ttfd {

struct CardOptions {
  uint32_t issue_ring_bytes = 4 << 20;
  uint32_t completion_ring_pages = 1024;
  uint32_t fetch_queue_entries = 1534;
  uint32_t command_ring_bytes = 256 * 1024;
  uint32_t scratch_bytes = 128 * 1024;
  uint32_t ringbuffer_bytes = 512 * 1024;
  uint32_t dispatch_ring_pages = 128;
  uint32_t dispatch_s_ring_pages = 128;
  Duration boot_timeout = std::chrono::seconds(10);  // each wait of the boot
  uint64_t advance_clocks = 20'000;                  // device time per Poll, in clocks
  std::string record_path;  // capture of the record stream (ttfd --record); empty = none
};

RingSizes RingsOf(const CardOptions& options);

// The options with rings that are small enough for a card that does not reach host memory: at most 336 KiB of entries
// and 64 completion pages. Others stay as they are.
CardOptions OptionsFor(const Device& device, CardOptions options);

// PlanBoot for a queue of the device, with host memory at that NoC address where the card reaches it.
StatusOr<BootPlan> PlanQueue(const Device& device, const CardOptions& options, uint32_t queue,
                             uint64_t host_memory);

// Device time between two polls of the completion ring: a completion is seen soon while other tiles are busy.
inline constexpr uint64_t kSliceClocks = 2'000;
// The first time. Less where the poll itself takes the card's time; each of a wait is twice the one before, up to
// kSliceClocks.
uint64_t FirstSliceClocks(const Device& device);

// Host memory that a boot allocates of the device, in bytes: whole pages for each hardware queue.
uint64_t HostBytes(const CardOptions& options);

}  // namespace ttfd
