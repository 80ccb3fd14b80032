// Undoing what commands did when they arrived.
#include "daemon/session/rollback.h"

namespace ttfd {

void Rollback::Unmake(SessionQueue& queue, uint64_t handle, Object* object, QueuePosition cause) {
  object->state = Object::State::kFailed;
  object->cause = cause;
  // A later Free, which did not happen, gave it its place in the limits back.
  handles_.Discharge(object);
  handles_.Remove(handle, object);
  if (handles_.Bury(handle, object->creator, cause)) queue.failed_handles.push_back(handle);
}

// Reverses what the operation did when it arrived.
void Rollback::Undo(Operation& task, QueuePosition cause) {
  const auto unmake = [&](uint64_t handle, Object* object) {
    Unmake(*task.queue, handle, object, cause);
  };
  if (auto* allocate = std::get_if<AllocateTask>(&task.body)) {
    unmake(allocate->handle, allocate->buffer.get());
  } else if (auto* record = std::get_if<RecordTraceTask>(&task.body)) {
    if (record->last) unmake(record->trace->handle, record->trace.get());
  } else if (auto* replay = std::get_if<ReplayTraceTask>(&task.body)) {
    // If its patches reached the trace, later replays use what they name; if not, what they would have replaced.
    for (const ReplayTraceTask::Patched& patch : replay->patched) {
      if (!task.started()) break;
      auto& kept = replay->trace->buffers[{patch.launch, patch.kernel}];
      kept.insert(kept.end(), patch.buffers.begin(), patch.buffers.end());
    }
  } else if (auto* load = std::get_if<LoadKernelTask>(&task.body)) {
    unmake(load->handle, load->kernel.get());
  } else if (auto* create = std::get_if<CreateProgramTask>(&task.body)) {
    unmake(create->handle, create->program.get());
  } else if (auto* free = std::get_if<FreeTask>(&task.body)) {
    frees_.Undo(*free);
  }
}

}  // namespace ttfd
