// The hardware queues of a card together: what one of them waits for that another does. The waiting is
// done by the dispatchers on the card, through events, not by the host.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/base/status.h"
#include "runtime/command/card_geometry.h"
#include "runtime/command/route.h"
#include "runtime/command/worker_counts.h"
#include "runtime/dispatch/card_queue.h"

namespace ttfd {

class CardQueues {
 public:
  // `card` outlives this.
  explicit CardQueues(const CardGeometry& card) : card_(card) {}

  CardQueue& operator[](uint32_t number) { return queues_[number]; }
  const CardQueue& operator[](uint32_t number) const { return queues_[number]; }
  auto begin() { return queues_.begin(); }
  auto end() { return queues_.end(); }
  auto begin() const { return queues_.begin(); }
  auto end() const { return queues_.end(); }

  // As before a boot.
  void Forget();

  // What is encoded on `queue` from here on acts behind `mark` of queue `other`, or of its own.
  Status Await(uint32_t queue, uint32_t other, const Ordering::Mark& mark);
  // The same for launches of any queue.
  Status Await(uint32_t queue, const WorkerCounts& workers);

 private:
  const CardGeometry& card_;
  std::array<CardQueue, kHardwareQueues> queues_;
  // [queue][other]: what `queue` has waited for already, and how many events told it so.
  struct Joined {
    Ordering::Mark mark;
    uint32_t events = 0;
  };
  std::array<std::array<Joined, kHardwareQueues>, kHardwareQueues> joined_;
};

}  // namespace ttfd
