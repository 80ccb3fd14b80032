// The handles of one session.
#include "daemon/session/handle_table.h"

#include <utility>

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

Refusal HandleTable::CheckNew(uint64_t handle, const char* field) const {
  if (handle == 0 || handle > kMaxApiNumber) {
    return InvalidError(field, "handle {}; handles are 1 to 2^53 - 1", handle);
  }
  const auto found = objects_.find(handle);
  if (found != objects_.end() && found->second->kind != ObjectKind::kNothing) {
    return MakeError(StatusCode::kAlreadyExists, reason::kInvalid, field,
                     "handle {} is {} already; free it first or choose another", handle,
                     NameOf(found->second->kind));
  }
  const size_t used = objects_.size() + dying_;
  if (found == objects_.end() && used >= limits_.handles) {
    return LimitError(field, "handles", limits_.handles, used, "no more handles");
  }
  return std::nullopt;
}

void HandleTable::Remove(uint64_t handle, const Object* object) {
  const auto found = objects_.find(handle);
  if (found != objects_.end() && found->second.get() == object) objects_.erase(found);
}

bool HandleTable::Bury(uint64_t handle, QueuePosition creator, QueuePosition cause) {
  if (handle == 0 || handle > kMaxApiNumber || objects_.size() >= limits_.handles) return false;
  return objects_.emplace(handle, std::make_shared<Tombstone>(creator, cause)).second;
}

void HandleTable::Exhume(uint64_t handle) {
  const auto found = objects_.find(handle);
  if (found != objects_.end() && found->second->kind == ObjectKind::kNothing) objects_.erase(found);
}

void HandleTable::GiveBack(uint64_t handle, std::shared_ptr<Object> object) {
  const auto [entry, added] = objects_.emplace(handle, object);
  if (!added) return;
  const auto recharge = [this](Buffer& buffer) {
    buffer.charged_bytes = buffer.discharged_bytes;
    (buffer.memory == MemoryKind::kDram ? dram_bytes_ : l1_bytes_) += buffer.charged_bytes;
  };
  if (object->kind == ObjectKind::kBuffer) recharge(static_cast<Buffer&>(*object));
  if (object->kind != ObjectKind::kTrace) return;
  auto& trace = static_cast<TraceObject&>(*object);
  recharge(trace.memory);
  trace.counts = true;
  trace_bytes_ += trace.charged_bytes;
}

std::shared_ptr<Object> HandleTable::Find(uint64_t handle) const {
  const auto found = objects_.find(handle);
  return found == objects_.end() ? nullptr : found->second;
}

Refusal HandleTable::CheckKind(uint64_t handle, const Object* object, ObjectKind kind,
                               const char* field) const {
  if (object == nullptr) return UnknownHandleError(field, handle);
  if (object->state == Object::State::kFailed) return CausedByError(object->cause);
  if (object->kind != kind) {
    return InvalidError(field, "handle {} is {}; {} is needed here", handle, NameOf(object->kind),
                        NameOf(kind));
  }
  return std::nullopt;
}

Refusal HandleTable::Charge(Buffer* buffer, uint64_t bytes, const char* field) {
  const bool dram = buffer->memory == MemoryKind::kDram;
  uint64_t& used = dram ? dram_bytes_ : l1_bytes_;
  const uint64_t limit = dram ? limits_.dram_bytes : limits_.l1_bytes;
  if (bytes > limit || used > limit - bytes) {
    return LimitError(
        field, dram ? "dram_bytes" : "l1_bytes", limit, used,
        fmt::format("a buffer that takes {} bytes{}", bytes, dram ? "" : " in each worker"));
  }
  used += bytes;
  buffer->quota_bytes = buffer->charged_bytes = bytes;
  return std::nullopt;
}

void HandleTable::Discharge(Buffer* buffer) {
  buffer->discharged_bytes = std::exchange(buffer->charged_bytes, 0);
  (buffer->memory == MemoryKind::kDram ? dram_bytes_ : l1_bytes_) -= buffer->discharged_bytes;
}

Refusal HandleTable::ChargeTrace(TraceObject* trace, uint64_t bytes, const char* field) {
  const uint64_t others = trace_bytes_ - (trace->counts ? trace->charged_bytes : 0);
  if (bytes > limits_.trace_bytes || others > limits_.trace_bytes - bytes) {
    return LimitError(field, "trace_bytes", limits_.trace_bytes, others,
                      fmt::format("a trace that takes {} bytes", bytes));
  }
  if (trace->counts) trace_bytes_ = others + bytes;
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
  trace_bytes_ -= trace.charged_bytes;
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
  dram_bytes_ = l1_bytes_ = trace_bytes_ = 0;
}

}  // namespace ttfd
