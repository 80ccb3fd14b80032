// The parts of a slice that need its queue and its operation.
#include "daemon/session/slice.h"

#include <algorithm>

#include "daemon/session/outbox.h"
#include "daemon/session/session_queue.h"

namespace ttfd {

ReadPart::ReadPart(Outbox* outbox, uint64_t its_offset, uint64_t size)
    : offset(its_offset), outbox_(outbox), size_(size) {
  if (outbox_ != nullptr) outbox_->BeginRead(size_);
}

ReadPart::~ReadPart() {
  if (outbox_ != nullptr) outbox_->EndRead(size_);
}

const SessionShare& Slice::share() const { return queue->share; }

uint64_t Slice::value() const { return operation->first_value; }

bool Slice::MayBeTaken(Duration longest_wait) const {
  return std::all_of(after.begin(), after.end(), [&](const QueueWait& wait) {
    return wait.queue->EndsWithin(wait.value, longest_wait, queue->card);
  });
}

}  // namespace ttfd
