// The handles of one session, and what it holds of its limits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "daemon/api/errors.h"
#include "daemon/session/objects.h"

namespace ttfd {

// Handles, values and sizes fit a JavaScript number (types.proto).
inline constexpr uint64_t kMaxApiNumber = (uint64_t{1} << 53) - 1;

// Device thread.
class HandleTable {
 public:
  // Both outlive the table, `use` also every object.
  HandleTable(const SessionLimits& limits, SessionUse& use, uint64_t session)
      : limits_(limits), use_(use), session_(session) {}

  MemoryOwner OwnerOf(uint64_t handle) const { return {session_, handle}; }
  // May a command create this handle, for an object of this kind?
  Refusal CheckNew(uint64_t handle, ObjectKind kind, const char* field) const;
  void Add(uint64_t handle, std::shared_ptr<Object> object);
  // The object must be what the handle names, or the call does nothing.
  void Remove(uint64_t handle, const Object* object);
  // The handle's command failed. A handle that names something already keeps it.
  bool MarkFailed(uint64_t handle, QueuePosition creator, QueuePosition cause);
  void RemoveFailed(uint64_t handle);  // removes a FailedObject, nothing else

  // A Free did not happen. A handle that was taken again meanwhile stays as it is.
  void Restore(uint64_t handle, std::shared_ptr<Object> object);

  // Null: unknown. The object may be a FailedObject.
  std::shared_ptr<Object> Find(uint64_t handle) const;
  // The object of this kind, or why a command on this card cannot have it.
  template <typename T>
  Refusal Get(uint64_t handle, ObjectKind kind, const CardResources& card, const char* field,
              std::shared_ptr<T>* object) const;

  // Counts a buffer against the session's limits; Discharge takes it back.
  Refusal Charge(Buffer* buffer, uint64_t bytes, const char* field);
  void Discharge(Buffer* buffer);

  // The same for what a trace takes; one that is charged again changes what it takes.
  Refusal ChargeTrace(TraceObject* trace, uint64_t bytes, const char* field);
  // Discharges what the object counts, of whatever kind.
  void Discharge(Object* object);

  // A freed buffer holds its memory until commands sent before the Free have ended. What is held
  // counts against the same limits: a charged buffer may have to wait for others to let go.
  bool MayHold(const Buffer& buffer) const;
  void Hold(Buffer* buffer);
  bool MayHold(const TraceObject& trace) const {
    return held_trace_bytes_ + trace.charged_bytes <= limits_.trace_bytes && MayHold(trace.memory);
  }
  void Hold(TraceObject* trace);
  // Objects freed that still wait so count as handles.
  void set_deferred(size_t objects) {
    deferred_ = objects;
    CountHandles();
  }

  void Clear();
  size_t size() const { return objects_.size(); }
  SessionUse& use() { return use_; }
  // Held now.
  uint64_t dram_bytes() const { return held_dram_bytes_; }
  uint64_t l1_bytes() const { return held_l1_bytes_; }

 private:
  Refusal Check(uint64_t handle, const Object* object, ObjectKind kind, const CardResources& card,
                const char* field) const;

  void CountHandles() { use_.Set(Resource::kHandles, objects_.size() + deferred_); }
  static Resource MemoryOf(const Buffer& buffer) {
    return buffer.memory == MemoryKind::kDram ? Resource::kDramBytes : Resource::kL1Bytes;
  }

  const SessionLimits& limits_;
  SessionUse& use_;
  const uint64_t session_;
  // Before the objects, which count down when they go.
  uint64_t held_dram_bytes_ = 0;
  uint64_t held_l1_bytes_ = 0;
  uint64_t held_trace_bytes_ = 0;
  std::unordered_map<uint64_t, std::shared_ptr<Object>> objects_;
  size_t deferred_ = 0;
};

template <typename T>
Refusal HandleTable::Get(uint64_t handle, ObjectKind kind, const CardResources& card,
                         const char* field, std::shared_ptr<T>* object) const {
  std::shared_ptr<Object> found = Find(handle);
  if (Refusal refusal = Check(handle, found.get(), kind, card, field)) return refusal;
  *object = std::static_pointer_cast<T>(std::move(found));
  return std::nullopt;
}

}  // namespace ttfd
