// Stores of one hart that memory does not show yet.
//
// A store waits in the hart's own queue of four, in program order, until it is sent; from then on it
// travels to its memory region. Each region - L1, each NIU, the streams, the debug registers, the Tensix
// configuration - carries out what reaches it in order, but takes its own time, so stores to different
// regions may change places. A load passes stores that are not sent yet, unless it reads what one of them
// writes: then they are sent, and the load, if it is to the same region, is answered behind them. Source:
// tt-isa-documentation BlackholeA0/TensixTile/BabyRISCV/MemoryOrdering.md, "Mechanical description".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/sim/rng.h"

namespace ttfd::sim {

struct PendingStore {
  uint32_t address = 0;
  uint32_t bytes = 0;
  uint32_t value = 0;
  uint32_t pc = 0;      // of the instruction
  uint64_t sent = 0;    // clocks: from when on loads do not pass it,
  uint64_t due = 0;     // and when its region carries it out
  uint64_t number = 0;  // counts the hart's stores
};

// Two addresses are in one region if this is equal. L1 is region 0; local RAM is in none.
uint32_t RegionOf(uint32_t address);
inline constexpr uint32_t kL1Region = 0;

class StoreQueue {
 public:
  // Four wait to be sent; how many are under way the documents do not say.
  static constexpr size_t kUnsent = 4;
  static constexpr size_t kCapacity = kUnsent + 8;

  bool empty() const { return size_ == 0; }
  bool full() const { return size_ == kCapacity; }
  // When something is carried out next.
  uint64_t due() const { return due_; }

  // There is room. False: it repeats the last store, to L1, and is one with it.
  bool Push(const PendingStore& store, uint64_t now, Rng& rng);

  // Stores are sent in order: up to the last one that overlaps these bytes, or all.
  void SendOverlapping(uint32_t address, uint32_t bytes, uint64_t now);
  void SendAll(uint64_t now);

  // The number of the last store to the region that is sent; 0: none.
  uint64_t LastSent(uint32_t region, uint64_t now) const;
  bool Overlaps(uint32_t address, uint32_t bytes) const;
  // Lays the bytes of overlapping stores over `value`, what memory holds at [address, address + bytes).
  uint32_t Forward(uint32_t address, uint32_t bytes, uint32_t value) const;

  // Each takes out one store that is to be carried out next. False: there is none.
  bool TakeDue(uint64_t now, PendingStore* store);
  bool TakeUpTo(uint32_t region, uint64_t number, PendingStore* store);
  bool TakeOldest(PendingStore* store);

  void Clear();

 private:
  void Take(size_t at, PendingStore* store);
  void Changed();

  std::array<PendingStore, kCapacity> stores_;  // in program order
  size_t size_ = 0;
  uint64_t due_ = ~uint64_t{0};
  uint64_t last_number_ = 0;
};

}  // namespace ttfd::sim
