// Parameters that the host writes into a tile before it releases it, and the bank table. Written
// before any hart of the tile runs; constant while one does. Sizes and places are words here and not
// constants so that tests run the real firmware with tiny rings.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/hw/grid.h"

namespace ttfd::abi {

enum Role : uint32_t { kRoleWorker = 1, kRolePrefetch = 2, kRoleDispatch = 3 };

struct BootBlock {
  uint32_t magic;             // kMagic
  uint32_t protocol_version;  // the host's; firmware with another one refuses to start (HartState
                              // kRefused)
  uint32_t boot_nonce;        // echoed in HartStatus, so that a stale "ready" is not believed
  uint32_t role;              // Role

  uint32_t hardware_queue;  // 0 or 1 (dispatch tiles)
  uint32_t own_xy;          // NocXy, translated
  uint32_t prefetch_xy;
  uint32_t dispatch_xy;
  uint32_t pcie_xy;  // without the record flag (bit 24)

  // NoC addresses at the PCIe tile. The memory of a queue crosses no multiple of 4 GiB, so that firmware sets a high
  // word once.
  uint32_t issue_ring_low;
  uint32_t issue_ring_high;
  uint32_t issue_ring_bytes;     // multiple of 64
  uint32_t fetch_queue_address;  // prefetch tile: `fetch_queue_entries` 16-bit slots
  uint32_t fetch_queue_entries;
  uint32_t command_ring_address;  // prefetch tile (cmddat_q); at least twice the largest entry
  uint32_t command_ring_bytes;
  uint32_t scratch_address;        // prefetch tile: where relayed data passes through, 64 B aligned
  uint32_t scratch_bytes;          // multiple of 128, used as two halves
  uint32_t dispatch_ring_address;  // dispatch tile, 4 KiB pages
  uint32_t dispatch_ring_pages;    // at least 4
  uint32_t dispatch_s_ring_address;  // dispatch tile, 256 B pages
  uint32_t dispatch_s_ring_pages;
  uint32_t completion_ring_low;  // 4 KiB pages
  uint32_t completion_ring_high;
  uint32_t completion_ring_pages;
  uint32_t completion_pointer_low;  // where the dispatcher publishes CompletionPointer
  uint32_t completion_pointer_high;

  uint32_t worker_start_xy;  // the worker grid, one rectangle, translated
  uint32_t worker_end_xy;
  uint32_t worker_count;         // tiles in it = receivers of a go multicast
  uint32_t first_worker_stream;  // stream of sub-device 0 on the dispatch tile
  uint32_t ringbuffer_address;   // prefetch tile: PAGED_TO_RINGBUFFER reads into it; 64 B aligned
  uint32_t ringbuffer_bytes;     // multiple of 64
  uint32_t reserved[31];
};
static_assert(sizeof(BootBlock) == 256, "lies between kBootBlockAddress and kHartStatusAddress");
static_assert(offsetof(BootBlock, worker_start_xy) == 108, "no padding");

inline constexpr uint32_t kMaxL1Banks = hw::kTensixColumns * hw::kTensixRows;

// Where page p of an interleaved buffer lies: bank p % banks, at base + (p / banks) * page size.
struct BankTable {
  uint32_t dram_banks;
  uint32_t l1_banks;
  uint16_t dram_xy[2][hw::kDramBanks];  // [noc]: the port each NoC should use
  uint16_t l1_xy[kMaxL1Banks];          // worker tiles, row by row
  uint32_t reserved;
};
static_assert(sizeof(BankTable) == 324, "naturally aligned");

}  // namespace ttfd::abi
