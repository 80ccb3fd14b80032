// One page of a list that an admin call returns.
//
// A list is ordered by a key that is a string and never changes; a page token is the key of the last entry of the page
// before. So a token stays valid while entries come and go.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/status.h"

namespace ttfd {

struct PageRequest {
  static constexpr uint32_t kDefaultSize = 500;
  static constexpr uint32_t kMaxSize = 1000;
  static constexpr size_t kMaxTokenBytes = 512;

  uint32_t size = 0;  // 0: kDefaultSize
  std::string token;  // empty: the first page
};

// INVALID_ARGUMENT for a size or token that cannot be right.
inline Status CheckPage(const PageRequest& request) {
  if (request.size > PageRequest::kMaxSize) {
    return InvalidArgument("page_size {}; at most {} is allowed", request.size,
                           PageRequest::kMaxSize);
  }
  if (request.token.size() > PageRequest::kMaxTokenBytes) {
    return InvalidArgument("page_token has {} bytes; it is none that this daemon returned",
                           request.token.size());
  }
  return OkStatus();
}

// Numbers as keys that are ordered as they are.
inline std::string PageKey(uint64_t number) { return fmt::format("{:020}", number); }

// Calls `add(entry)` for each entry of the page and returns the token of the next one, empty after the last.
// `key(entry)` is unique.
template <typename Entry, typename Key, typename Add>
std::string TakePage(std::vector<Entry> entries, const PageRequest& request, Key&& key, Add&& add) {
  std::vector<std::pair<std::string, const Entry*>> ordered;
  for (const Entry& entry : entries) {
    std::string name = key(entry);
    if (name > request.token) ordered.emplace_back(std::move(name), &entry);
  }
  const size_t size = request.size == 0 ? PageRequest::kDefaultSize : request.size;
  const size_t taken = std::min(size, ordered.size());
  std::partial_sort(ordered.begin(), ordered.begin() + static_cast<ptrdiff_t>(taken),
                    ordered.end());
  for (size_t i = 0; i < taken; ++i) add(*ordered[i].second);
  return taken < ordered.size() ? ordered[taken - 1].first : std::string();
}

}  // namespace ttfd
