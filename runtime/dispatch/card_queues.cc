// The hardware queues of a card together.
#include "runtime/dispatch/card_queues.h"

#include <algorithm>

#include "runtime/command/queue_encoder.h"

namespace ttfd {
namespace {

Status AwaitOwn(CardQueue& queue, const StreamCounts& workers) {
  for (uint32_t stream = 0; stream < workers.size(); ++stream) {
    RETURN_IF_ERROR(queue.ordering.WaitForWorkers(*queue.link, stream, workers[stream]));
  }
  return OkStatus();
}

}  // namespace

void CardQueues::Forget() {
  for (CardQueue& queue : queues_) queue.Forget();
  joined_ = {};
}

Status CardQueues::Await(uint32_t queue, uint32_t other, const Ordering::Mark& mark) {
  CardQueue& self = queues_[queue];
  if (queue == other) {
    RETURN_IF_ERROR(AwaitOwn(self, mark.workers));
    self.ordering.Joined();
    return OkStatus();
  }
  CardQueue& source = queues_[other];
  Joined& joined = joined_[queue][other];
  if (joined.mark.Covers(mark) || source.ordering.Saw(mark)) return OkStatus();
  // An event of its own, in order behind what is there. It is told to the card at once: whoever waits for
  // room on `queue` must not wait for an entry that the host keeps.
  RETURN_IF_ERROR(source.ordering.BeforeTelling(*source.link, mark));
  RETURN_IF_ERROR(EncodeQueueEvent(++joined.events, other, queue, card_, *source.link));
  RETURN_IF_ERROR(source.link->Flush());
  RETURN_IF_ERROR(EncodeAwaitQueueEvent(joined.events, other, *self.link));
  self.ordering.Joined();
  joined.mark.Raise(mark);
  return OkStatus();
}

Status CardQueues::Await(uint32_t queue, const WorkerCounts& workers) {
  for (uint32_t other = 0; other < queues_.size(); ++other) {
    RETURN_IF_ERROR(other == queue ? AwaitOwn(queues_[queue], workers.queue[queue])
                                   : Await(queue, other, {0, workers.queue[other], 0}));
  }
  return OkStatus();
}

}  // namespace ttfd
