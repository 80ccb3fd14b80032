// Tells the prefetcher of entries: a ring of 16-bit slots in its L1, written over PCIe.
#pragma once

#include <cstdint>

#include "runtime/base/status.h"
#include "runtime/device/device.h"

namespace ttfd {

class FetchQueue {
 public:
  // `prefetch_tile` is a strict window (the slot must not overtake the entry) and outlives the
  // queue.
  FetchQueue(Window& prefetch_tile, uint32_t slots_address, uint32_t slots)
      : window_(prefetch_tile), address_(slots_address), slots_(slots) {}

  // Announces entry `number` (free-running) of `bytes` bytes, all of them written. REQUIRES: its
  // slot was taken by the card. `stall`: nothing further is fetched until it is executed.
  Status Push(uint32_t number, uint32_t bytes, bool stall = false);

  // How many entries the card has taken, free-running. A PCIe read: for a host that believes the
  // queue full, never to poll.
  StatusOr<uint32_t> ReadEntriesFetched();

 private:
  Window& window_;
  const uint32_t address_;
  const uint32_t slots_;
};

}  // namespace ttfd
