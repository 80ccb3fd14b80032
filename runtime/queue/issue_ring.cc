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
  return closed_ - freed_ < slots_ && Padding(bytes) + bytes <= free_bytes();
}

MutableByteSpan IssueRing::Append(uint32_t bytes) {
  assert(bytes % abi::kEntryAlignment == 0 && bytes > 0 && bytes <= max_entry_bytes_);
  if (!open()) {
    // The entry may still grow, but where it begins is settled: an entry of this size would not fit
    // before the end, so a larger one would not either; and it is closed before it would.
    open_padding_ = Padding(bytes);
    position_ = abi::PlaceEntry(position_, bytes, ring_bytes());
    used_bytes_ += open_padding_;
  }
  const MutableByteSpan added = memory_.subspan(position_ + open_bytes_, bytes);
  open_bytes_ += bytes;
  used_bytes_ += bytes;
  return added;
}

IssueRing::Entry IssueRing::Close() {
  assert(open());
  const Entry entry{closed_, memory_.subspan(position_, open_bytes_)};
  consumed_[closed_ % slots_] = open_padding_ + open_bytes_;
  position_ += open_bytes_;
  open_bytes_ = open_padding_ = 0;
  ++closed_;
  return entry;
}

void IssueRing::Wipe(uint32_t bytes) {
  const uint32_t before_end = std::min(bytes, ring_bytes() - oldest_);
  std::memset(memory_.data() + oldest_, 0, before_end);
  std::memset(memory_.data(), 0, bytes - before_end);
  oldest_ = (oldest_ + bytes) % ring_bytes();
}

void IssueRing::FreeBelow(uint32_t number) {
  while (freed_ != closed_ && static_cast<int32_t>(number - freed_) > 0) {
    const uint32_t bytes = consumed_[freed_ % slots_];
    used_bytes_ -= bytes;
    Wipe(bytes);
    ++freed_;
  }
}

}  // namespace ttfd
