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

// Host memory that a boot allocates of the device, in bytes: whole pages for each hardware queue.
uint64_t HostBytes(const CardOptions& options);

}  // namespace ttfd
