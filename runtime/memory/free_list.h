// The free ranges of one address space, best fit, merged when neighbours become free.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace ttfd {

// Not thread-safe. Sizes and addresses keep whatever alignment the caller uses throughout.
class FreeList {
 public:
  FreeList(uint64_t begin, uint64_t bytes);

  // The smallest free range that holds `bytes` (the lowest of equals), taken from its start; none
  // if there is none. REQUIRES bytes > 0.
  std::optional<uint64_t> Take(uint64_t bytes);
  // REQUIRES: a range that Take returned and that was not given back since.
  void Give(uint64_t begin, uint64_t bytes);

  uint64_t free_bytes() const { return free_bytes_; }
  uint64_t largest() const { return by_size_.empty() ? 0 : by_size_.rbegin()->first; }

 private:
  void Insert(uint64_t begin, uint64_t bytes);
  void Erase(std::map<uint64_t, uint64_t>::iterator range);

  std::map<uint64_t, uint64_t> by_begin_;            // begin -> bytes
  std::set<std::pair<uint64_t, uint64_t>> by_size_;  // (bytes, begin)
  uint64_t free_bytes_ = 0;
};

}  // namespace ttfd
