// Which tile plays which part and where the rings lie: decided from what the card tells of itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/abi/boot_block.h"
#include "runtime/base/status.h"
#include "runtime/device/device.h"
#include "runtime/hw/grid.h"

namespace ttfd {

// Sizes of the rings of one hardware queue.
struct RingSizes {
  uint32_t issue_ring_bytes = 0;
  uint32_t completion_ring_pages = 0;
  uint32_t fetch_queue_entries = 0;
  uint32_t command_ring_bytes = 0;
  uint32_t scratch_bytes = 0;
  uint32_t ringbuffer_bytes = 0;
  uint32_t dispatch_ring_pages = 0;
  uint32_t dispatch_s_ring_pages = 0;
};

struct BootPlan {
  std::vector<uint32_t> worker_columns;  // translated x
  hw::Coordinate worker_start;
  hw::Coordinate worker_end;
  hw::Coordinate prefetch_tile;
  hw::Coordinate dispatch_tile;
  uint32_t max_entry_bytes = 0;
  uint32_t host_queue_address =
      0;                   // of the queue in the L1 of the prefetch tile; 0: in host memory
  abi::BootBlock block{};  // without role and own_xy
  abi::BankTable banks{};

  uint32_t worker_count() const { return block.worker_count; }
  hw::Coordinate WorkerTile(uint32_t worker) const {
    const auto columns = static_cast<uint32_t>(worker_columns.size());
    return {worker_columns[worker % columns], hw::kTensixFirstRow + worker / columns};
  }
};

// Names of the tiles of a hardware queue in messages: "prefetch", "CQ1 prefetch".
std::string PrefetchTileName(uint32_t hardware_queue);
std::string DispatchTileName(uint32_t hardware_queue);

// Bytes of host memory a queue needs, and where its completion ring begins in them.
uint64_t CompletionRingOffset(const RingSizes& sizes);
uint64_t HostQueueBytes(const RingSizes& sizes);

// Workers are all Tensix columns but the last translated one; that one is the pool of dispatch
// tiles, two to a hardware queue, prefetcher above dispatcher. INVALID_ARGUMENT where the sizes are
// not usable, FAILED_PRECONDITION where the card is not. `host_memory`: NoC address of the queue's
// host memory, which crosses no multiple of 4 GiB; none: the card reaches no host memory, and its
// dispatch harts use L1 of the prefetch tile in its place (HostBridge).
StatusOr<BootPlan> PlanBoot(const DeviceInfo& info, const RingSizes& sizes, uint32_t hardware_queue,
                            std::optional<uint64_t> host_memory);

}  // namespace ttfd
