// Tells the prefetcher of entries: a ring of 16-bit slots in its L1, written over PCIe.
#pragma once

#include <cstdint>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/device/device.h"

namespace ttfd {

class FetchQueue {
 public:
  // `prefetch_tile` is a strict window (the slot must not overtake the entry). `pointer` is host memory that the
  // prefetcher writes, an abi::FetchPointer. Both outlive the queue.
  FetchQueue(Window& prefetch_tile, ByteSpan pointer, uint32_t slots_address, uint32_t slots)
      : window_(prefetch_tile), pointer_(pointer), address_(slots_address), slots_(slots) {}

  // Announces entry `number` (free-running) of `bytes` bytes, all of them written. REQUIRES: its
  // slot was taken by the card. `stall`: nothing further is fetched until it is executed.
  Status Push(uint32_t number, uint32_t bytes, bool stall = false);

  // How many entries the prefetcher has published as taken, free-running. Reads nothing of the card.
  uint32_t entries_fetched() const;

 private:
  Window& window_;
  const ByteSpan pointer_;
  const uint32_t address_;
  const uint32_t slots_;
};

}  // namespace ttfd
