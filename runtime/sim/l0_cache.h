// The L0 data cache of a hart: four lines of 16 bytes, for loads from L1, not coherent with anybody.
//
// Lines go when the hart stores to them, with a fence, with an AMO, or when another line needs the room;
// nothing else drops them, so what is stale stays stale. (Silicon also drops all of them now and then,
// which only hides a missing fence.) Source: tt-isa-documentation BlackholeA0/TensixTile/BabyRISCV,
// README.md and MemoryOrdering.md.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/sim/rng.h"

namespace ttfd::sim {

class L0Cache {
 public:
  static constexpr uint32_t kLineBytes = 16;

  bool Has(uint32_t address) const {
    return std::any_of(entries_.begin(), entries_.end(), [address](const Entry& entry) {
      return entry.line == address / kLineBytes;
    });
  }

  // The line that `address` of L1 is in, as the hart sees it.
  const std::byte* Line(const std::byte* l1, uint32_t address, Rng& rng) {
    const uint32_t wanted = address / kLineBytes;
    Entry* victim = &entries_[rng.Below(kLines)];
    for (Entry& entry : entries_) {
      if (entry.line == wanted) return entry.bytes;
      if (entry.line == kNone) victim = &entry;
    }
    victim->line = wanted;
    std::memcpy(victim->bytes, l1 + wanted * kLineBytes, kLineBytes);
    return victim->bytes;
  }

  // The hart stores there: an aligned word or less.
  void Drop(uint32_t address) {
    for (Entry& entry : entries_) {
      if (entry.line == address / kLineBytes) entry.line = kNone;
    }
  }

  void Flush() {
    for (Entry& entry : entries_) entry.line = kNone;
  }

 private:
  static constexpr uint32_t kLines = 4;
  static constexpr uint32_t kNone = ~0u;

  struct Entry {
    uint32_t line = kNone;
    std::byte bytes[kLineBytes];
  };
  std::array<Entry, kLines> entries_;
};

}  // namespace ttfd::sim
