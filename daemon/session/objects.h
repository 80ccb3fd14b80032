// What handles stand for. A handle is usable from the command after the one that creates it, long
// before that has run: an object is born pending, becomes ready, or never comes to be.
//
// Guarded by the lock of the session that owns them, though commands in flight share ownership.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/session/device_memory.h"
#include "daemon/session/request.h"
#include "runtime/command/program.h"
#include "runtime/command/region.h"
#include "runtime/command/tile_set.h"

namespace ttfd {

enum class ObjectKind { kNothing, kBuffer, kKernel, kProgram };

const char* NameOf(ObjectKind kind);

struct Object {
  enum class State { kPending, kReady, kFailed };

  Object(ObjectKind its_kind, QueuePosition its_creator) : kind(its_kind), creator(its_creator) {}
  virtual ~Object() = default;

  const ObjectKind kind;
  const QueuePosition creator;
  State state = State::kPending;
  QueuePosition cause;  // why it failed
};

// What a handle names whose command failed.
struct Tombstone final : Object {
  Tombstone(QueuePosition its_creator, QueuePosition its_cause)
      : Object(ObjectKind::kNothing, its_creator) {
    state = State::kFailed;
    cause = its_cause;
  }
};

// Bytes of device memory that something really holds, counted until it is gone. `counter` outlives it.
class MemoryHold {
 public:
  MemoryHold() = default;
  MemoryHold(uint64_t* counter, uint64_t bytes) : counter_(counter), bytes_(bytes) {
    *counter_ += bytes_;
  }
  MemoryHold(MemoryHold&& other) noexcept
      : counter_(std::exchange(other.counter_, nullptr)), bytes_(other.bytes_) {}
  MemoryHold& operator=(MemoryHold&& other) noexcept {
    if (this != &other) {
      if (counter_ != nullptr) *counter_ -= bytes_;
      counter_ = std::exchange(other.counter_, nullptr);
      bytes_ = other.bytes_;
    }
    return *this;
  }
  ~MemoryHold() {
    if (counter_ != nullptr) *counter_ -= bytes_;
  }

 private:
  uint64_t* counter_ = nullptr;
  uint64_t bytes_ = 0;
};

struct Buffer final : Object {
  explicit Buffer(QueuePosition its_creator) : Object(ObjectKind::kBuffer, its_creator) {}

  Region region() const {
    return {memory, single_bank, allocation.address(), page_bytes, (size_bytes + 63) & ~63ull};
  }

  MemoryKind memory = MemoryKind::kDram;
  int32_t single_bank = -1;
  uint32_t page_bytes = 0;
  uint64_t size_bytes = 0;        // as the client asked
  uint64_t whole_bytes = 0;       // of all its pages: what is zeroed
  uint64_t quota_bytes = 0;       // what it counts against the session's limits
  uint64_t charged_bytes = 0;     // of that, now
  uint64_t discharged_bytes = 0;  // of a Free that may still not happen
  DeviceAllocation allocation;
  MemoryHold hold;
};

struct Kernel final : Object {
  explicit Kernel(QueuePosition its_creator) : Object(ObjectKind::kKernel, its_creator) {}
  std::shared_ptr<const KernelImage> image;
};

struct ProgramObject final : Object {
  explicit ProgramObject(QueuePosition its_creator) : Object(ObjectKind::kProgram, its_creator) {}
  std::shared_ptr<const Program> program;
  TileSet tiles;                                     // that run a kernel of it
  std::shared_ptr<const std::vector<uint32_t>> ids;  // its id alone: what a work says it runs
};

}  // namespace ttfd
