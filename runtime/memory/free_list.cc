// The free ranges of one address space.
#include "runtime/memory/free_list.h"

#include <cassert>
#include <iterator>

namespace ttfd {

FreeList::FreeList(uint64_t begin, uint64_t bytes) {
  if (bytes > 0) Insert(begin, bytes);
}

void FreeList::Insert(uint64_t begin, uint64_t bytes) {
  by_begin_.emplace(begin, bytes);
  by_size_.emplace(bytes, begin);
  free_bytes_ += bytes;
}

void FreeList::Erase(std::map<uint64_t, uint64_t>::iterator range) {
  by_size_.erase({range->second, range->first});
  free_bytes_ -= range->second;
  by_begin_.erase(range);
}

std::optional<uint64_t> FreeList::Take(uint64_t bytes) {
  assert(bytes > 0);
  const auto fit = by_size_.lower_bound({bytes, 0});
  if (fit == by_size_.end()) return std::nullopt;
  const auto [size, begin] = *fit;
  Erase(by_begin_.find(begin));
  if (size > bytes) Insert(begin + bytes, size - bytes);
  return begin;
}

void FreeList::Give(uint64_t begin, uint64_t bytes) {
  auto after = by_begin_.lower_bound(begin);
  assert(after == by_begin_.end() || begin + bytes <= after->first);
  if (after != by_begin_.end() && after->first == begin + bytes) {
    bytes += after->second;
    Erase(after++);
  }
  if (after != by_begin_.begin()) {
    const auto before = std::prev(after);
    assert(before->first + before->second <= begin);
    if (before->first + before->second == begin) {
      begin = before->first;
      bytes += before->second;
      Erase(before);
    }
  }
  Insert(begin, bytes);
}

}  // namespace ttfd
