// Priorities of sessions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ttfd {

// A factor of a session's share of the card.
enum class Priority : uint8_t { kLow = 1, kNormal, kHigh };  // the numbers of the API
inline const char* PriorityName(Priority priority) {
  constexpr const char* kNames[] = {"low", "normal", "high"};
  return kNames[static_cast<size_t>(priority) - 1];
}

}  // namespace ttfd
