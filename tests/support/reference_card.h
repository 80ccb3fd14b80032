// What the records of a stream act on, without the machinery that carries them: memory, worker counters
// and the workers' answers to go signals.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/abi/control_block.h"
#include "runtime/hw/stream.h"
#include "tests/support/memory_image.h"

namespace ttfd::testing {

// What the firmware knows from boot block and bank table.
struct ReferenceLayout {
  std::vector<uint32_t> dram_xy;      // bank by bank, as NoC 0 reaches it
  std::vector<uint32_t> l1_xy;        // workers, row by row
  std::vector<uint32_t> dispatch_xy;  // by hardware queue
  uint32_t pcie_xy = 0;
  uint32_t first_worker_stream = 0;
  uint32_t ringbuffer_bytes = 0;
};

class ReferenceCard {
 public:
  ReferenceCard(const ReferenceLayout& layout, MemoryImage memory)
      : layout_(layout), memory_(std::move(memory)), streams_(layout.dispatch_xy.size()) {}

  const ReferenceLayout& layout() const { return layout_; }
  MemoryImage& memory() { return memory_; }

  // Counts writes of one byte, to find out which command did them.
  void Watch(uint32_t xy, uint64_t address) { watched_xy_ = xy, watched_address_ = address; }
  uint32_t watched_writes() const { return watched_writes_; }

  // Unicast, as a record names its target: a tile or, with kNocXyPcieFlag, the host.
  Status Write(uint32_t noc_xy, uint64_t address, ByteSpan bytes);
  // To every tile of a rectangle, which must have as many as the record says.
  Status Multicast(uint32_t rectangle, uint32_t receivers, uint64_t address, ByteSpan bytes);
  StatusOr<std::vector<std::byte>> ReadLinear(uint32_t noc_xy, uint64_t address, uint64_t length);
  // Pages of an interleaved buffer: `length` bytes from the beginning of `start_page`.
  StatusOr<std::vector<std::byte>> ReadPaged(bool is_dram, uint32_t start_page, uint32_t base,
                                             uint32_t page_bytes, uint64_t length);
  Status WritePaged(bool is_dram, uint32_t start_page, uint32_t base, uint32_t page_bytes,
                    ByteSpan bytes);

  // A go word arrives in word `index` of a worker: who listens to it answers, without a kernel to run.
  Status Go(uint32_t worker_xy, uint32_t index, uint32_t go);
  // Counter of a stream on a queue's dispatch tile.
  uint32_t stream(uint32_t queue, uint32_t stream) const { return streams_[queue][stream]; }
  void AddToStream(uint32_t queue, uint32_t stream, uint32_t value) {
    uint32_t& counter = streams_[queue][stream];
    counter = (counter + value) & hw::kStreamCounterMask;
  }
  void ClearStream(uint32_t queue, uint32_t stream) { streams_[queue][stream] = 0; }

 private:
  struct PagePlace {
    uint32_t xy;
    uint32_t address;
  };
  PagePlace PageAt(bool is_dram, uint32_t page, uint32_t base, uint32_t page_bytes) const;
  StatusOr<uint32_t> QueueAt(uint32_t dispatch_xy) const;

  const ReferenceLayout layout_;
  MemoryImage memory_;
  uint32_t watched_xy_ = 0;
  uint64_t watched_address_ = 0;
  uint32_t watched_writes_ = 0;
  std::vector<std::array<uint32_t, hw::kStreams>> streams_;
};

}  // namespace ttfd::testing
