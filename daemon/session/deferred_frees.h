// Freed objects of a session until everything that was sent before their Free has ended, on whatever queue: then their
// memory is free.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "daemon/session/handle_table.h"
#include "daemon/session/operation.h"
#include "daemon/session/session_queues.h"

namespace ttfd {

// Device thread.
class DeferredFrees {
 public:
  explicit DeferredFrees(HandleTable& handles) : handles_(handles) {}

  // A Free was decoded on this queue: what was sent before on the others ends first.
  void Add(FreeOperation* free, const SessionQueue& own, const SessionQueues& queues);
  // The Free has ended; it did not happen, and its handles name their objects again.
  void Ended(FreeOperation& free);
  void Undo(FreeOperation& free);
  // Deletes the objects that nothing before their Free can use any more. True: there were some.
  bool Release(const SessionQueues& queues);
  void Clear();

  // A Free that has not given its memory back yet: an allocation that does not fit now may fit then.
  bool pending() const { return unfinished_ > 0 || !waiting_.empty(); }

 private:
  struct Waiting {
    std::vector<std::shared_ptr<Object>> objects;
    std::vector<QueuePosition> until;
  };
  HandleTable& handles_;
  // By arrival of their Frees. A later one waits for at least as much of every queue, so the first that has to wait
  // ends the search.
  std::map<uint64_t, Waiting> waiting_;
  uint32_t unfinished_ = 0;  // Frees
  uint64_t received_ = 0;    // Frees
  size_t objects_ = 0;       // that wait
};

}  // namespace ttfd
