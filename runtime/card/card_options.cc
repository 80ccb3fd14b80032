#include "runtime/card/card_options.h"

#include <algorithm>

#include "runtime/base/bits.h"
#include "runtime/command/route.h"

namespace ttfd {

RingSizes RingsOf(const CardOptions& options) {
  RingSizes sizes;
  sizes.issue_ring_bytes = options.issue_ring_bytes;
  sizes.completion_ring_pages = options.completion_ring_pages;
  sizes.fetch_queue_entries = options.fetch_queue_entries;
  sizes.command_ring_bytes = options.command_ring_bytes;
  sizes.scratch_bytes = options.scratch_bytes;
  sizes.ringbuffer_bytes = options.ringbuffer_bytes;
  sizes.dispatch_ring_pages = options.dispatch_ring_pages;
  sizes.dispatch_s_ring_pages = options.dispatch_s_ring_pages;
  return sizes;
}

CardOptions OptionsFor(const Device& device, CardOptions options) {
  constexpr uint32_t kIssueRingBytes = 336 * 1024;
  constexpr uint32_t kCompletionPages = 64;
  if (device.reaches_host_memory()) return options;
  options.issue_ring_bytes = std::min(options.issue_ring_bytes, kIssueRingBytes);
  options.completion_ring_pages = std::min(options.completion_ring_pages, kCompletionPages);
  return options;
}

StatusOr<BootPlan> PlanQueue(const Device& device, const CardOptions& options, uint32_t queue,
                             uint64_t host_memory) {
  return PlanBoot(device.info(), RingsOf(options), queue,
                  device.reaches_host_memory() ? std::optional(host_memory) : std::nullopt);
}

uint64_t FirstSliceClocks(const Device& device) {
  constexpr uint64_t kFirst = 100;
  return device.reaches_host_memory() ? kSliceClocks : kFirst;
}

uint64_t HostBytes(const CardOptions& options) {
  constexpr uint64_t kPage = 4096;
  return kHardwareQueues * AlignUp(HostQueueBytes(RingsOf(options)), kPage);
}

}  // namespace ttfd
