// Tells the prefetcher of entries.
#include "runtime/queue/fetch_queue.h"

#include <atomic>
#include <cstddef>

#include "runtime/abi/control_block.h"
#include "runtime/abi/l1_map.h"
#include "runtime/abi/rings.h"

namespace ttfd {

Status FetchQueue::Push(uint32_t number, uint32_t bytes, bool stall) {
  const auto slot =
      static_cast<uint16_t>(bytes >> abi::kFetchSlotUnitShift | (stall ? abi::kFetchSlotStall : 0));
  // The card may read the entry as soon as it sees the slot: the entry's bytes go first.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return window_.Write(address_ + (number % slots_) * sizeof(slot), BytesOf(slot));
}

StatusOr<uint32_t> FetchQueue::ReadEntriesFetched() {
  return ReadWord(window_,
                  abi::kControlBlockAddress + offsetof(abi::ControlBlock, entries_fetched));
}

}  // namespace ttfd
