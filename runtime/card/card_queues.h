// The hardware queues of a card together: what one of them waits for that another does. The waiting is
// done by the dispatchers on the card, through events, not by the host.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/base/status.h"
#include "runtime/card/card_queue.h"
#include "runtime/command/card_geometry.h"
#include "runtime/command/route.h"
#include "runtime/command/worker_counts.h"

namespace ttfd {

class CardQueues {
 public:
  // `card` outlives this.
  explicit CardQueues(const CardGeometry& card)
      : card_(card),
        queues_{CardQueue(card.max_record_bytes()), CardQueue(card.max_record_bytes())} {}

  CardQueue& operator[](uint32_t number) { return queues_[number]; }
  const CardQueue& operator[](uint32_t number) const { return queues_[number]; }
  auto begin() { return queues_.begin(); }
  auto end() { return queues_.end(); }
  auto begin() const { return queues_.begin(); }
  auto end() const { return queues_.end(); }

  // As before a boot.
  void Forget();

  // Plans on `batch` of `queue`: what follows there acts behind `mark` of queue `other`, or of its own.
  void PlanAwait(uint32_t queue, RecordBatch& batch, uint32_t other, const Ordering::Mark& mark);
  // The same for launches of any queue.
  void PlanAwait(uint32_t queue, RecordBatch& batch, const WorkerCounts& workers);

  // Is what is planned small enough for the rings? RESOURCE_EXHAUSTED if not.
  Status CheckSize(uint32_t queue) const;
  // Does it fit them now, on every queue it concerns, with an event behind it?
  StatusOr<bool> Fit(uint32_t queue);
  // Puts it on the rings: the other queues first, whose events `queue` waits for. Where on `queue` what comes behind
  // the waits begins.
  StatusOr<CardQueue::Begin> Commit(uint32_t queue);
  void Drop();

 private:
  const CardGeometry& card_;
  std::array<CardQueue, kHardwareQueues> queues_;
  // [queue][other]: what `queue` has waited for already, and how many events told it so.
  struct Joined {
    Ordering::Mark mark;
    uint32_t events = 0;
  };
  Staged<std::array<std::array<Joined, kHardwareQueues>, kHardwareQueues>> joined_;
};

}  // namespace ttfd
