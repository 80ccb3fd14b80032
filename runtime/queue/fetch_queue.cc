// Tells the prefetcher of entries.
#include "runtime/queue/fetch_queue.h"

#include <atomic>
#include <cstddef>

#include "runtime/abi/host_queue.h"
#include "runtime/abi/rings.h"
#include "runtime/queue/shared_word.h"

namespace ttfd {

Status FetchQueue::Push(uint32_t number, uint32_t bytes, bool stall) {
  const auto slot =
      static_cast<uint16_t>(bytes >> abi::kFetchSlotUnitShift | (stall ? abi::kFetchSlotStall : 0));
  // The card may read the entry as soon as it sees the slot: the entry's bytes go first.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return window_.Write(address_ + (number % slots_) * sizeof(slot), BytesOf(slot));
}

uint32_t FetchQueue::entries_fetched() const {
  return LoadShared(pointer_.data() + offsetof(abi::FetchPointer, entries_fetched));
}

}  // namespace ttfd
