// Parts of all commands: the buffers and the other queues that they depend on.
#include "daemon/session/decode_commands.h"

#include <algorithm>

namespace ttfd {

// One wait a queue: a value stands for all before it.
void DecodeContext::DependOn(QueuePosition creator) const {
  if (creator.queue == op.queue->id) return;  // ran before, by the order of the queue
  const auto own = op.waits.begin() + static_cast<ptrdiff_t>(op.asked_waits);
  const auto known = std::find_if(own, op.waits.end(), [creator](const QueuePosition& wait) {
    return wait.queue == creator.queue;
  });
  if (known == op.waits.end()) {
    op.waits.push_back(creator);
  } else {
    known->value = std::max(known->value, creator.value);
  }
}

Refusal DecodeContext::GetBuffer(uint64_t handle, const char* field,
                                 std::shared_ptr<Buffer>* buffer) const {
  if (Refusal refusal = handles.Get(handle, ObjectKind::kBuffer, card, field, buffer))
    return refusal;
  DependOn(**buffer);
  return std::nullopt;
}

}  // namespace ttfd
