// Undoing what commands did when they arrived.
#include "daemon/session/rollback.h"

namespace ttfd {

void Rollback::RemoveObject(SessionQueue& queue, uint64_t handle, Object* object,
                            QueuePosition cause) {
  object->state = Object::State::kFailed;
  object->cause = cause;
  // A later Free, which did not happen, gave it its place in the limits back.
  handles_.Discharge(object);
  handles_.Remove(handle, object);
  if (handles_.MarkFailed(handle, object->creator, cause)) queue.errors.AddFailedHandle(handle);
}

// Reverses what the operation did when it arrived.
void Rollback::Undo(Operation& op, QueuePosition cause) {
  const auto remove = [&](uint64_t handle, Object* object) {
    RemoveObject(*op.queue, handle, object, cause);
  };
  if (auto* allocate = std::get_if<AllocateOperation>(&op.body)) {
    remove(allocate->handle, allocate->buffer.get());
  } else if (auto* record = std::get_if<RecordTraceOperation>(&op.body)) {
    if (record->last) remove(record->trace->handle, record->trace.get());
  } else if (auto* replay = std::get_if<ReplayTraceOperation>(&op.body)) {
    // If its patches reached the trace, later replays use what they name; if not, what they would have replaced.
    for (const ReplayTraceOperation::Patched& patch : replay->patched) {
      if (!op.started()) break;
      auto& kept = replay->trace->buffers[{patch.launch, patch.kernel}];
      kept.insert(kept.end(), patch.buffers.begin(), patch.buffers.end());
    }
  } else if (auto* load = std::get_if<LoadKernelOperation>(&op.body)) {
    remove(load->handle, load->kernel.get());
  } else if (auto* create = std::get_if<CreateProgramOperation>(&op.body)) {
    remove(create->handle, create->program.get());
  } else if (auto* free = std::get_if<FreeOperation>(&op.body)) {
    frees_.Undo(*free);
  }
}

}  // namespace ttfd
