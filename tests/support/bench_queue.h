// One hardware queue of the firmware bench: its two tiles, its pinned host memory, and how far it has got.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/abi/boot_block.h"
#include "runtime/abi/host_queue.h"
#include "runtime/device/device.h"
#include "runtime/hw/grid.h"
#include "tests/support/record_builder.h"

namespace ttfd::testing {

struct BenchRings {
  uint32_t issue_ring_bytes = 64 * 1024;
  uint32_t fetch_queue_entries = 16;
  uint32_t command_ring_bytes = 32 * 1024;
  uint32_t scratch_bytes = 16 * 1024;
  uint32_t ringbuffer_bytes = 16 * 1024;
  uint32_t dispatch_ring_pages = 16;
  uint32_t dispatch_s_ring_pages = 8;
  uint32_t completion_ring_pages = 16;
};

class BenchQueue {
 public:
  // Pins host memory and fills in the queue's part of `block`. `device` outlives the queue.
  static StatusOr<std::unique_ptr<BenchQueue>> Create(Device& device, const BenchRings& rings,
                                                      uint32_t hardware_queue,
                                                      const abi::BootBlock& block);

  static constexpr hw::Coordinate PrefetchTile(uint32_t queue) { return {16, 2 + 2 * queue}; }
  static constexpr hw::Coordinate DispatchTile(uint32_t queue) { return {16, 3 + 2 * queue}; }
  hw::Coordinate prefetch_tile() const { return PrefetchTile(block_.hardware_queue); }
  hw::Coordinate dispatch_tile() const { return DispatchTile(block_.hardware_queue); }
  const abi::BootBlock& block() const { return block_; }

  // Whether there is a slot and ring space for an entry of `bytes` now.
  StatusOr<bool> HasRoom(uint32_t bytes);
  // Puts an entry into the issue ring and its fetch slot, waiting for slot and ring space.
  Status Send(ByteSpan entry, bool stall_after);
  // Reads the next completion page and gives it back. Nothing: the ring is empty.
  StatusOr<std::vector<std::byte>> TakeCompletionPage();
  abi::CompletionPointer completion_pointer();
  uint32_t completion_pages_taken() const { return completion_taken_; }
  uint32_t entries_sent() const { return entries_sent_; }

  HostMemory& host_memory() { return *host_; }
  // Where the host memory behind the completion ring begins: for tests' data.
  uint64_t host_data_offset() const { return host_data_offset_; }

 private:
  BenchQueue(Device& device, const BenchRings& rings, const abi::BootBlock& block)
      : device_(device), rings_(rings), block_(block) {}
  Status Open();
  Status AwaitSlot(uint32_t bytes);

  Device& device_;
  const BenchRings rings_;
  abi::BootBlock block_;
  std::unique_ptr<HostMemory> host_;
  std::unique_ptr<Window> prefetch_window_;
  std::unique_ptr<Window> dispatch_window_;
  uint64_t completion_offset_ = 0;
  uint64_t host_data_offset_ = 0;
  uint32_t issue_position_ = 0;
  uint32_t entries_sent_ = 0;
  std::vector<std::pair<uint32_t, uint32_t>> in_flight_;  // [begin, end) of entries not yet fetched
  uint32_t completion_taken_ = 0;
};

}  // namespace ttfd::testing
