// The host's side of the issue ring.
#include "runtime/queue/issue_ring.h"

#include <algorithm>
#include <cassert>

namespace ttfd {

IssueRing::IssueRing(MutableByteSpan memory, uint32_t slots, uint32_t max_entry_bytes)
    : memory_(memory), slots_(slots), max_entry_bytes_(max_entry_bytes), consumed_(slots) {}

void IssueRing::Clear() {
  position_ = open_bytes_ = open_padding_ = used_bytes_ = closed_ = freed_ = 0;
}

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

void IssueRing::FreeBelow(uint32_t number) {
  while (freed_ != closed_ && static_cast<int32_t>(number - freed_) > 0) {
    used_bytes_ -= consumed_[freed_ % slots_];
    ++freed_;
  }
}

}  // namespace ttfd
