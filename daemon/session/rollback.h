// Commands that do not run because their queue has failed: what they did when they arrived did not happen. What they
// would have made names its cause; what they would have freed is there again.
#pragma once

#include <cstdint>

#include "daemon/session/deferred_frees.h"
#include "daemon/session/handle_table.h"
#include "daemon/session/session_queue.h"

namespace ttfd {

// Device thread.
class Rollback {
 public:
  // Both outlive it.
  Rollback(HandleTable& handles, DeferredFrees& frees) : handles_(handles), frees_(frees) {}

  // The newest command of a queue first, so that a handle freed and created again is removed before it is restored.
  void Undo(Operation& op, QueuePosition cause);
  // The object is not made.
  void RemoveObject(SessionQueue& queue, uint64_t handle, Object* object, QueuePosition cause);

 private:
  HandleTable& handles_;
  DeferredFrees& frees_;
};

}  // namespace ttfd
