// A word in host memory that the card writes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ttfd {

// Loads a word; all that the card wrote before it can be read afterwards. REQUIRES `from` on 4 bytes.
inline uint32_t LoadShared(const std::byte* from) {
  return __atomic_load_n(reinterpret_cast<const uint32_t*>(from), __ATOMIC_ACQUIRE);
}

}  // namespace ttfd
