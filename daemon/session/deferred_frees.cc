// Frees in the order of their arrival.
#include "daemon/session/deferred_frees.h"

#include <algorithm>
#include <utility>

namespace ttfd {

void DeferredFrees::Add(FreeOperation* free, const SessionQueue& own, const SessionQueues& queues) {
  ++unfinished_;
  free->arrival = ++received_;
  for (const auto& [id, queue] : queues.all()) {
    if (&queue != &own && !queue.Ended(queue.sent)) free->until.push_back({id, queue.sent});
  }
}

void DeferredFrees::Ended(FreeOperation& free) {
  Waiting waiting;
  waiting.until = std::move(free.until);
  for (auto& [handle, object] : free.freed) waiting.objects.push_back(std::move(object));
  objects_ += waiting.objects.size();
  waiting_.emplace(free.arrival, std::move(waiting));
  handles_.set_deferred(objects_);
  --unfinished_;
}

void DeferredFrees::Undo(FreeOperation& free) {
  for (auto& [handle, object] : free.freed) handles_.Restore(handle, std::move(object));
  free.freed.clear();
  --unfinished_;
}

bool DeferredFrees::Release(const SessionQueues& queues) {
  bool released = false;
  while (!waiting_.empty()) {
    const Waiting& first = waiting_.begin()->second;
    const bool ended =
        std::all_of(first.until.begin(), first.until.end(),
                    [&](const QueuePosition& position) { return queues.Ended(position); });
    if (!ended) break;
    objects_ -= first.objects.size();
    waiting_.erase(waiting_.begin());
    released = true;
  }
  if (released) handles_.set_deferred(objects_);
  return released;
}

void DeferredFrees::Clear() {
  waiting_.clear();
  objects_ = 0;
  handles_.set_deferred(0);
}

}  // namespace ttfd
