// The order in which a hart's stores become visible.
#include "runtime/sim/store_queue.h"

#include <algorithm>

#include "runtime/hw/noc.h"
#include "runtime/hw/stream.h"
#include "runtime/hw/tensix.h"

namespace ttfd::sim {
namespace {

bool Overlap(const PendingStore& store, uint32_t address, uint32_t bytes) {
  return store.address < uint64_t{address} + bytes &&
         address < uint64_t{store.address} + store.bytes;
}

// How long a store waits in the hart's queue, and its region for it: mostly not long.
uint64_t UnsentClocks(Rng& rng) { return rng.Below(rng.OneIn(4) ? 24 : 4); }
uint64_t RegionClocks(Rng& rng) { return 1 + rng.Below(rng.OneIn(3) ? 100 : 8); }

}  // namespace

uint32_t RegionOf(uint32_t address) {
  if (address < hw::kL1Bytes) return kL1Region;
  if (address >= hw::kStreamAddress && address < hw::kStreamEnd) return hw::kStreamAddress;
  if (address >= hw::kNiuAddress && address < hw::kNiuAddress + 2 * hw::kNiuStride) {
    return address & ~(hw::kNiuStride - 1);
  }
  return address >= hw::kTensixConfig ? hw::kTensixConfig : address & ~0xFFFu;
}

bool StoreQueue::Push(const PendingStore& store, uint64_t now, Rng& rng) {
  const uint32_t region = RegionOf(store.address);
  uint64_t sent = now;
  uint64_t due = now;
  for (size_t i = 0; i < size_; ++i) {
    sent = std::max(sent, stores_[i].sent);
    if (RegionOf(stores_[i].address) == region) due = std::max(due, stores_[i].due);
  }
  if (size_ != 0) {
    const PendingStore& last = stores_[size_ - 1];
    if (region == kL1Region && last.address == store.address && last.bytes == store.bytes &&
        last.value == store.value) {
      return false;
    }
  }
  PendingStore& added = stores_[size_++];
  added = store;
  added.sent = sent + UnsentClocks(rng);
  added.due = std::max(due, added.sent) + RegionClocks(rng);
  added.number = ++last_number_;
  if (size_ > kUnsent)
    stores_[size_ - kUnsent - 1].sent = std::min(stores_[size_ - kUnsent - 1].sent, now);
  Changed();
  return true;
}

void StoreQueue::SendOverlapping(uint32_t address, uint32_t bytes, uint64_t now) {
  size_t end = 0;
  for (size_t i = 0; i < size_; ++i) {
    if (Overlap(stores_[i], address, bytes)) end = i + 1;
  }
  for (size_t i = 0; i < end; ++i) stores_[i].sent = std::min(stores_[i].sent, now);
}

void StoreQueue::SendAll(uint64_t now) {
  for (size_t i = 0; i < size_; ++i) stores_[i].sent = std::min(stores_[i].sent, now);
}

uint64_t StoreQueue::LastSent(uint32_t region, uint64_t now) const {
  uint64_t number = 0;
  for (size_t i = 0; i < size_; ++i) {
    if (stores_[i].sent <= now && RegionOf(stores_[i].address) == region)
      number = stores_[i].number;
  }
  return number;
}

bool StoreQueue::Overlaps(uint32_t address, uint32_t bytes) const {
  return std::any_of(stores_.begin(), stores_.begin() + static_cast<ptrdiff_t>(size_),
                     [&](const PendingStore& store) { return Overlap(store, address, bytes); });
}

uint32_t StoreQueue::Forward(uint32_t address, uint32_t bytes, uint32_t value) const {
  for (size_t i = 0; i < size_; ++i) {
    const PendingStore& store = stores_[i];
    for (uint32_t b = 0; b < bytes; ++b) {
      const uint32_t in_store = address + b - store.address;
      if (in_store >= store.bytes) continue;
      const uint32_t byte = store.value >> 8 * in_store & 0xFF;
      value = (value & ~(0xFFu << 8 * b)) | byte << 8 * b;
    }
  }
  return value;
}

bool StoreQueue::TakeDue(uint64_t now, PendingStore* store) {
  if (due_ > now) return false;
  size_t first = 0;
  for (size_t i = 1; i < size_; ++i) {
    if (stores_[i].due < stores_[first].due) first = i;
  }
  Take(first, store);
  return true;
}

bool StoreQueue::TakeUpTo(uint32_t region, uint64_t number, PendingStore* store) {
  for (size_t i = 0; i < size_ && stores_[i].number <= number; ++i) {
    if (RegionOf(stores_[i].address) != region) continue;
    Take(i, store);
    return true;
  }
  return false;
}

bool StoreQueue::TakeOldest(PendingStore* store) {
  if (size_ == 0) return false;
  Take(0, store);
  return true;
}

void StoreQueue::Clear() {
  size_ = 0;
  Changed();
}

void StoreQueue::Take(size_t at, PendingStore* store) {
  *store = stores_[at];
  std::move(stores_.begin() + static_cast<ptrdiff_t>(at) + 1,
            stores_.begin() + static_cast<ptrdiff_t>(size_),
            stores_.begin() + static_cast<ptrdiff_t>(at));
  --size_;
  Changed();
}

void StoreQueue::Changed() {
  due_ = ~uint64_t{0};
  for (size_t i = 0; i < size_; ++i) due_ = std::min(due_, stores_[i].due);
}

}  // namespace ttfd::sim
