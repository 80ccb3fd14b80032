// Session and user that are charged for the card's work, and the session's part of a contended card.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ttfd {

class Session;

// A factor of a session's share of the card.
enum class Priority : uint8_t { kLow = 1, kNormal, kHigh };  // the numbers of the API
inline const char* PriorityName(Priority priority) {
  constexpr const char* kNames[] = {"low", "normal", "high"};
  return kNames[static_cast<size_t>(priority) - 1];
}

// Constant, and outlives the queues of the session.
struct SessionShare {
  Session* owner = nullptr;
  uint64_t session = 0;
  uint32_t uid = 0;  // the session's user
  uint32_t weight = 1;
  Priority priority = Priority::kNormal;
  uint64_t lease = 0;  // under which the session works; 0: none
};

}  // namespace ttfd
