// Session and user that are charged for the card's work, and the session's part of a contended card.
#pragma once

#include <cstdint>

#include "daemon/api/priority.h"

namespace ttfd {

class Session;

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
