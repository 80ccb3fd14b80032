// The hardware queues of a card together.
#include "runtime/card/card_queues.h"

#include <algorithm>

#include "runtime/command/queue_encoder.h"

namespace ttfd {

namespace {

// Events behind a command: one of what was submitted before, one of the command itself.
constexpr uint32_t kEventsBehind = 2;

void PlanAwaitOwn(CardQueue& queue, RecordBatch& batch, const StreamCounts& workers) {
  for (uint32_t stream = 0; stream < workers.size(); ++stream) {
    if (workers[stream] <= queue.ordering->waited_workers(stream)) continue;
    queue.ordering.Change().WaitForWorkers(batch, stream, workers[stream]);
  }
}

}  // namespace

void CardQueues::Forget() {
  for (CardQueue& queue : queues_) queue.Forget();
  joined_.Drop();
  joined_.now() = {};
}

void CardQueues::PlanAwait(uint32_t queue, RecordBatch& batch, uint32_t other,
                           const Ordering::Mark& mark) {
  CardQueue& self = queues_[queue];
  if (queue == other) {
    PlanAwaitOwn(self, batch, mark.workers);
    self.ordering.Change().Joined();
    return;
  }
  CardQueue& source = queues_[other];
  if ((*joined_)[queue][other].mark.Covers(mark) || source.ordering->Saw(mark)) return;
  Joined& joined = joined_.Change()[queue][other];
  // An event of its own, in order behind what is there.
  source.ordering.Change().BeforeTelling(source.plan.batch, mark);
  EncodeQueueEvent(++joined.events, other, queue, card_, source.plan.batch);
  EncodeAwaitQueueEvent(joined.events, other, batch);
  self.ordering.Change().Joined();
  joined.mark.Raise(mark);
}

void CardQueues::PlanAwait(uint32_t queue, RecordBatch& batch, const WorkerCounts& workers) {
  for (uint32_t other = 0; other < queues_.size(); ++other) {
    if (other == queue) {
      PlanAwaitOwn(queues_[queue], batch, workers.queue[queue]);
    } else {
      PlanAwait(queue, batch, other, {0, workers.queue[other], 0});
    }
  }
}

Status CardQueues::CheckSize(uint32_t queue) const {
  return queues_[queue].CheckSize(kEventsBehind);
}

StatusOr<bool> CardQueues::Fit(uint32_t queue) {
  for (uint32_t number = 0; number < queues_.size(); ++number) {
    CardQueue& other = queues_[number];
    if (number == queue || other.plan.batch.empty()) continue;
    ASSIGN_OR_RETURN(const bool fits, other.Fits(kEventsBehind));
    if (!fits) return false;
  }
  return queues_[queue].Fits(kEventsBehind);
}

// The events of other queues are announced at once: `queue` must not wait for an entry that the host still holds.
StatusOr<CardQueue::Begin> CardQueues::Commit(uint32_t queue) {
  joined_.Commit();
  for (uint32_t number = 0; number < queues_.size(); ++number) {
    CardQueue& other = queues_[number];
    if (number == queue || other.plan.batch.empty()) continue;
    RETURN_IF_ERROR(other.Commit().status());
    RETURN_IF_ERROR(other.link->Flush());
  }
  return queues_[queue].Commit();
}

void CardQueues::Drop() {
  joined_.Drop();
  for (CardQueue& queue : queues_) queue.Drop();
}

}  // namespace ttfd
