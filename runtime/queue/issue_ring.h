// The host's side of the issue ring: entries of records that the prefetcher reads.
//
//      freed            position of the open entry
//        v                 v
//   |....#entry##entry#####[open......]..........|pad|
//                                            an entry never straddles the end: PlaceEntry
//
// Pure data structure: tells where bytes go and what is in use; the fetch queue tells the card. What an entry held, a
// client's data among it, stays while the card may still be at its records, so that a hang can be explained. Then it is
// stale: the next entries are written over it, or it is cleared, a little at a time. To clear all of it at once would
// cost uploads more than a tenth, since the ring is larger than the caches.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/abi/rings.h"
#include "runtime/base/bytes.h"

namespace ttfd {

class IssueRing {
 public:
  struct Entry {
    uint32_t number = 0;  // free-running
    ByteSpan bytes;
  };

  // `memory` is a multiple of 64, zero, and outlives the ring. At most `slots` entries are in flight.
  IssueRing(MutableByteSpan memory, uint32_t slots, uint32_t max_entry_bytes);

  bool open() const { return open_bytes_ > 0; }
  uint32_t open_bytes() const { return open_bytes_; }
  // Can the open entry grow by `bytes`?
  bool CanExtend(uint32_t bytes) const;
  // Can an entry of `bytes` be opened now? REQUIRES !open().
  bool CanOpen(uint32_t bytes) const;
  // Adds `bytes` (a multiple of 64) to the open entry, or opens one. REQUIRES CanExtend or CanOpen.
  MutableByteSpan Append(uint32_t bytes);
  // Ends the open entry, whose size is now known to both sides. REQUIRES open().
  Entry Close();

  // Whether entries would fit, before one of them is begun.
  class Space {
   public:
    // Space for `bytes` more: in the open entry, or in one opened behind it, as CanExtend and CanOpen have it. False:
    // there is none. `ends`: the entry is closed behind them.
    bool Take(uint32_t bytes, bool ends);
    // The open entry is closed.
    void Close() { position_ += std::exchange(open_bytes_, 0u); }

   private:
    friend class IssueRing;
    explicit Space(const IssueRing& ring)
        : ring_(ring),
          position_(ring.position_),
          open_bytes_(ring.open_bytes_),
          used_bytes_(ring.used_bytes_),
          free_slots_(ring.free_slots()) {}
    const IssueRing& ring_;
    uint32_t position_;
    uint32_t open_bytes_;
    uint32_t used_bytes_;
    uint32_t free_slots_;
  };
  Space space() const { return Space(*this); }

  // The card has taken every entry below `number` (free-running): their room is free. Lower numbers than before are
  // ignored.
  void FreeBelow(uint32_t number);
  // And is done with their records: they are stale. Clears so many bytes of what is.
  void ClearBelow(uint32_t number, uint32_t most_bytes);
  uint32_t stale_bytes() const { return stale_bytes_; }

  // The closed entries that nothing was written over, oldest first: none below `from` (free-running).
  std::vector<Entry> EntriesFrom(uint32_t from) const;

  uint32_t entries_closed() const { return closed_; }
  uint32_t entries_freed() const { return freed_; }
  uint32_t free_bytes() const { return ring_bytes() - used_bytes_; }
  uint32_t free_slots() const { return slots_ - (closed_ - freed_) - (open() ? 1 : 0); }
  uint32_t max_entry_bytes() const { return max_entry_bytes_; }
  uint32_t ring_bytes() const { return static_cast<uint32_t>(memory_.size()); }
  uint32_t slots() const { return slots_; }

 private:
  void DropOldest();
  void Clear(uint32_t from, uint32_t bytes);
  // Skipped before an entry of `bytes` that would begin at `position`.
  uint32_t Padding(uint32_t position, uint32_t bytes) const {
    return abi::PlaceEntry(position, bytes, ring_bytes()) == position ? 0 : ring_bytes() - position;
  }

  const MutableByteSpan memory_;
  const uint32_t slots_;
  const uint32_t max_entry_bytes_;
  uint32_t oldest_ = 0;      // where the first entry that is kept begins, or the padding before it
  uint32_t position_ = 0;    // where the last closed entry ended, or where the open one begins
  uint32_t open_bytes_ = 0;  // of the open entry
  uint32_t open_padding_ = 0;  // skipped before it
  uint32_t used_bytes_ = 0;    // with padding and the open entry
  uint32_t closed_ = 0;        // free-running
  uint32_t freed_ = 0;
  uint32_t kept_ = 0;         // the first entry that nothing was written over; not above freed_
  uint32_t kept_bytes_ = 0;   // from that one to freed_
  uint32_t stale_bytes_ = 0;  // right before oldest_
  std::vector<uint32_t> consumed_;  // [entry % slots]: its bytes with the padding before it
};

}  // namespace ttfd
