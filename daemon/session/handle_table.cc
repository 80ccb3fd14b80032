// The handles of one session.
#include "daemon/session/handle_table.h"

#include <utility>

#include "daemon/session/card_resources.h"

namespace ttfd {

const char* NameOf(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kBuffer:
      return "a buffer";
    case ObjectKind::kKernel:
      return "a kernel";
    case ObjectKind::kProgram:
      return "a program";
    case ObjectKind::kTrace:
      return "a trace";
    case ObjectKind::kNothing:
      break;
  }
  return "nothing";
}

namespace {

std::optional<Resource> CountOf(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kBuffer:
      return Resource::kBuffers;
    case ObjectKind::kKernel:
      return Resource::kKernels;
    case ObjectKind::kProgram:
      return Resource::kPrograms;
    case ObjectKind::kTrace:  // counted in bytes
    case ObjectKind::kNothing:
      break;
  }
  return std::nullopt;
}

}  // namespace

Refusal HandleTable::CheckNew(uint64_t handle, ObjectKind kind, const char* field) const {
  if (handle == 0 || handle > kMaxApiNumber) {
    return InvalidError(field, "handle {}; handles are 1 to 2^53 - 1", handle);
  }
  const auto found = objects_.find(handle);
  if (found != objects_.end() && found->second->kind != ObjectKind::kNothing) {
    return MakeError(StatusCode::kAlreadyExists, reason::kInvalid, field,
                     "handle {} is {} already; free it first or choose another", handle,
                     NameOf(found->second->kind));
  }
  if (found == objects_.end()) {
    if (Refusal refusal = use_.Check(Resource::kHandles, 1, field, "no more handles"))
      return refusal;
  }
  const std::optional<Resource> count = CountOf(kind);
  return count ? use_.Check(*count, 1, field, fmt::format("{} too many", NameOf(kind)))
               : std::nullopt;
}

void HandleTable::Add(uint64_t handle, std::shared_ptr<Object> object) {
  if (const std::optional<Resource> count = CountOf(object->kind)) {
    use_.Add(*count, 1);
    object->count = UseHold(&use_, *count, 1);
  }
  objects_[handle] = std::move(object);
  CountHandles();
}

void HandleTable::Remove(uint64_t handle, const Object* object) {
  const auto found = objects_.find(handle);
  if (found != objects_.end() && found->second.get() == object) objects_.erase(found);
  CountHandles();
}

bool HandleTable::MarkFailed(uint64_t handle, QueuePosition creator, QueuePosition cause) {
  if (handle == 0 || handle > kMaxApiNumber) return false;
  if (objects_.size() >= limits_.handles || use_.Check(Resource::kHandles, 1, "", "")) return false;
  const bool added =
      objects_.emplace(handle, std::make_shared<FailedObject>(creator, cause)).second;
  CountHandles();
  return added;
}

void HandleTable::RemoveFailed(uint64_t handle) {
  const auto found = objects_.find(handle);
  if (found != objects_.end() && found->second->kind == ObjectKind::kNothing) objects_.erase(found);
  CountHandles();
}

void HandleTable::Restore(uint64_t handle, std::shared_ptr<Object> object) {
  const auto [entry, added] = objects_.emplace(handle, object);
  if (!added) return;
  CountHandles();
  const auto recharge = [this](Buffer& buffer) {
    buffer.charged_bytes = buffer.discharged_bytes;
    use_.Add(MemoryOf(buffer), buffer.charged_bytes);
  };
  if (object->kind == ObjectKind::kBuffer) recharge(static_cast<Buffer&>(*object));
  if (object->kind != ObjectKind::kTrace) return;
  auto& trace = static_cast<TraceObject&>(*object);
  recharge(trace.memory);
  trace.counts = true;
  use_.Add(Resource::kTraceBytes, trace.charged_bytes);
}

std::shared_ptr<Object> HandleTable::Find(uint64_t handle) const {
  const auto found = objects_.find(handle);
  return found == objects_.end() ? nullptr : found->second;
}

Refusal HandleTable::Check(uint64_t handle, const Object* object, ObjectKind kind,
                           const CardResources& card, const char* field) const {
  if (object == nullptr) return UnknownHandleError(field, handle);
  if (object->state == Object::State::kFailed) return CausedByError(object->cause);
  if (object->kind != kind) {
    return InvalidError(field, "handle {} is {}; {} is needed here", handle, NameOf(object->kind),
                        NameOf(kind));
  }
  if (object->card != nullptr && object->card != &card) {
    return InvalidError(field, "handle {} is of device {}; the queue is on device {}", handle,
                        object->card->device, card.device);
  }
  return std::nullopt;
}

Refusal HandleTable::Charge(Buffer* buffer, uint64_t bytes, const char* field) {
  const bool dram = buffer->memory == MemoryKind::kDram;
  if (Refusal refusal = use_.Take(
          MemoryOf(*buffer), bytes, field,
          fmt::format("a buffer that takes {} bytes{}", bytes, dram ? "" : " in each worker"))) {
    return refusal;
  }
  buffer->quota_bytes = buffer->charged_bytes = bytes;
  return std::nullopt;
}

void HandleTable::Discharge(Buffer* buffer) {
  buffer->discharged_bytes = std::exchange(buffer->charged_bytes, 0);
  use_.Remove(MemoryOf(*buffer), buffer->discharged_bytes);
}

Refusal HandleTable::ChargeTrace(TraceObject* trace, uint64_t bytes, const char* field) {
  const std::string what = fmt::format("a trace that takes {} bytes", bytes);
  if (trace->counts) {
    use_.Remove(Resource::kTraceBytes, trace->charged_bytes);
    if (Refusal refusal = use_.Take(Resource::kTraceBytes, bytes, field, what)) {
      use_.Add(Resource::kTraceBytes, trace->charged_bytes);
      return refusal;
    }
  } else if (Refusal refusal = use_.Check(Resource::kTraceBytes, bytes, field, what)) {
    return refusal;
  }
  trace->charged_bytes = bytes;
  return std::nullopt;
}

void HandleTable::Hold(TraceObject* trace) {
  Hold(&trace->memory);
  trace->hold = MemoryHold(&held_trace_bytes_, trace->charged_bytes);
}

void HandleTable::Discharge(Object* object) {
  if (object->kind == ObjectKind::kBuffer) Discharge(static_cast<Buffer*>(object));
  if (object->kind != ObjectKind::kTrace) return;
  auto& trace = static_cast<TraceObject&>(*object);
  if (!std::exchange(trace.counts, false)) return;
  Discharge(&trace.memory);
  use_.Remove(Resource::kTraceBytes, trace.charged_bytes);
}

bool HandleTable::MayHold(const Buffer& buffer) const {
  return buffer.memory == MemoryKind::kDram
             ? held_dram_bytes_ + buffer.quota_bytes <= limits_.dram_bytes
             : held_l1_bytes_ + buffer.quota_bytes <= limits_.l1_bytes;
}

void HandleTable::Hold(Buffer* buffer) {
  buffer->hold =
      MemoryHold(buffer->memory == MemoryKind::kDram ? &held_dram_bytes_ : &held_l1_bytes_,
                 buffer->quota_bytes);
}

void HandleTable::Clear() {
  objects_.clear();
  CountHandles();
  for (const Resource bytes : {Resource::kDramBytes, Resource::kL1Bytes, Resource::kTraceBytes}) {
    use_.Set(bytes, 0);
  }
}

}  // namespace ttfd
