// The host's side of the issue ring.
#include "runtime/queue/issue_ring.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace ttfd {

IssueRing::IssueRing(MutableByteSpan memory, uint32_t slots, uint32_t max_entry_bytes)
    : memory_(memory), slots_(slots), max_entry_bytes_(max_entry_bytes), consumed_(slots) {}

bool IssueRing::CanExtend(uint32_t bytes) const {
  return open() && open_bytes_ + bytes <= max_entry_bytes_ &&
         position_ + open_bytes_ + bytes <= ring_bytes() && bytes <= free_bytes();
}

bool IssueRing::CanOpen(uint32_t bytes) const {
  assert(!open());
  return closed_ - freed_ < slots_ && Padding(position_, bytes) + bytes <= free_bytes();
}

bool IssueRing::Space::Take(uint32_t bytes, bool ends) {
  const uint32_t ring_bytes = ring_.ring_bytes();
  const bool extends = open_bytes_ > 0 && open_bytes_ + bytes <= ring_.max_entry_bytes_ &&
                       position_ + open_bytes_ + bytes <= ring_bytes &&
                       used_bytes_ + bytes <= ring_bytes;
  if (!extends) {
    Close();
    const uint32_t padding = ring_.Padding(position_, bytes);
    if (free_slots_ == 0 || used_bytes_ + padding + bytes > ring_bytes) return false;
    --free_slots_;
    position_ = abi::PlaceEntry(position_, bytes, ring_bytes);
    used_bytes_ += padding;
  }
  open_bytes_ += bytes;
  used_bytes_ += bytes;
  if (ends) Close();
  return true;
}

MutableByteSpan IssueRing::Append(uint32_t bytes) {
  assert(bytes % abi::kEntryAlignment == 0 && bytes > 0 && bytes <= max_entry_bytes_);
  const uint32_t skipped = position_;
  const bool opens = !open();
  if (opens) {
    // The entry may still grow, but where it begins is settled: an entry of this size would not fit
    // before the end, so a larger one would not either; and it is closed before it would.
    open_padding_ = Padding(position_, bytes);
    position_ = abi::PlaceEntry(position_, bytes, ring_bytes());
    used_bytes_ += open_padding_;
  }
  const MutableByteSpan added = memory_.subspan(position_ + open_bytes_, bytes);
  open_bytes_ += bytes;
  used_bytes_ += bytes;
  while (used_bytes_ + kept_bytes_ > ring_bytes()) DropOldest();
  if (opens && stale_bytes_ > 0) Clear(skipped, open_padding_);
  stale_bytes_ = std::min(stale_bytes_, ring_bytes() - used_bytes_ - kept_bytes_);
  return added;
}

IssueRing::Entry IssueRing::Close() {
  assert(open());
  while (closed_ - kept_ >= slots_) DropOldest();
  const Entry entry{closed_, memory_.subspan(position_, open_bytes_)};
  consumed_[closed_ % slots_] = open_padding_ + open_bytes_;
  position_ += open_bytes_;
  open_bytes_ = open_padding_ = 0;
  ++closed_;
  return entry;
}

// Nobody looks at it any more. REQUIRES one that is kept and freed.
void IssueRing::DropOldest() {
  assert(kept_ != freed_);
  const uint32_t bytes = consumed_[kept_ % slots_];
  oldest_ = (oldest_ + bytes) % ring_bytes();
  kept_bytes_ -= bytes;
  stale_bytes_ += bytes;
  ++kept_;
}

// Clears `bytes` bytes of the ring, which may end in between.
void IssueRing::Clear(uint32_t from, uint32_t bytes) {
  const uint32_t before_end = std::min(bytes, ring_bytes() - from);
  std::memset(memory_.data() + from, 0, before_end);
  std::memset(memory_.data(), 0, bytes - before_end);
}

std::vector<IssueRing::Entry> IssueRing::EntriesFrom(uint32_t from) const {
  std::vector<Entry> entries;
  uint32_t at = oldest_;
  for (uint32_t number = kept_; number != closed_; ++number) {
    const uint32_t consumed = consumed_[number % slots_];
    // Padding before an entry ends where the ring does; the entry then begins with the ring.
    const uint32_t to_end = ring_bytes() - at;
    const bool wraps = consumed > to_end;
    const uint32_t begin = wraps ? 0 : at;
    const uint32_t bytes = wraps ? consumed - to_end : consumed;
    if (static_cast<int32_t>(number - from) >= 0) {
      entries.push_back({number, memory_.subspan(begin, bytes)});
    }
    at = (begin + bytes) % ring_bytes();
  }
  return entries;
}

void IssueRing::FreeBelow(uint32_t number) {
  while (freed_ != closed_ && static_cast<int32_t>(number - freed_) > 0) {
    const uint32_t bytes = consumed_[freed_ % slots_];
    used_bytes_ -= bytes;
    kept_bytes_ += bytes;
    ++freed_;
  }
}

void IssueRing::ClearBelow(uint32_t number, uint32_t most_bytes) {
  FreeBelow(number);
  while (kept_ != freed_ && static_cast<int32_t>(number - kept_) > 0) DropOldest();
  const uint32_t bytes = std::min(stale_bytes_, most_bytes);
  if (bytes == 0) return;
  Clear((oldest_ + ring_bytes() - stale_bytes_) % ring_bytes(), bytes);
  stale_bytes_ -= bytes;
}

}  // namespace ttfd
