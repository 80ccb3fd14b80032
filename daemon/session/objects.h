// Objects that handles stand for. A handle is usable from the command after the one that creates it, long
// before that has run: an object is born pending, becomes ready, or never comes to be.
//
// Guarded by the lock of the session that owns them, though commands in flight share ownership.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/api/request.h"
#include "daemon/session/device_memory.h"
#include "daemon/session/usage.h"
#include "runtime/base/clock.h"
#include "runtime/command/program.h"
#include "runtime/command/region.h"
#include "runtime/command/route.h"
#include "runtime/command/tile_set.h"
#include "runtime/command/trace.h"

namespace ttfd {

struct CardResources;

enum class ObjectKind { kNothing, kBuffer, kKernel, kProgram, kTrace };

const char* NameOf(ObjectKind kind);

struct Object {
  enum class State { kPending, kReady, kFailed };

  Object(ObjectKind its_kind, QueuePosition its_creator) : kind(its_kind), creator(its_creator) {}
  virtual ~Object() = default;

  const ObjectKind kind;
  const QueuePosition creator;
  CardResources* card = nullptr;  // whose memory or grid it is made for; null: of no card
  State state = State::kPending;
  QueuePosition cause;  // why it failed
  UseHold count;        // one of its kind
};

// Object named by a handle whose command failed.
struct FailedObject final : Object {
  FailedObject(QueuePosition its_creator, QueuePosition its_cause)
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

  // Allocates its bytes in each bank of its card, for its owner. As BankAllocator::Allocate.
  Status Allocate();
  // Sets what it takes from its layout; `banks`: of its kind of memory.
  void Measure(uint32_t banks);
  Region region() const {
    return {memory, single_bank, allocation.address(), page_bytes, size_bytes, cores};
  }
  // Bytes that each worker holds of a buffer in L1, if it holds a part; and the workers that do.
  uint64_t PartBytes(uint32_t workers) const {
    return SlotsPerBank(region(), workers) * StrideOf(memory, page_bytes);
  }
  TileSet PartWorkers(uint32_t workers) const;
  // All that it takes in its banks, padding too: what is zeroed.
  Region whole() const {
    return {memory,      single_bank, allocation.address(), static_cast<uint32_t>(bank_bytes),
            whole_bytes, whole_cores};
  }

  MemoryKind memory = MemoryKind::kDram;
  MemoryOwner owner;
  int32_t single_bank = -1;
  uint32_t page_bytes = 0;
  uint64_t size_bytes = 0;                        // as the client asked
  std::shared_ptr<const CoreLayout> cores;        // null: all banks, or the single one
  std::shared_ptr<const CoreLayout> whole_cores;  // the same workers, a page each
  uint64_t bank_bytes = 0;                        // taken in each bank; multiple of 64
  uint64_t whole_bytes = 0;                       // of all banks it lies in
  uint64_t quota_bytes = 0;                       // what it counts against the session's limits
  uint64_t charged_bytes = 0;                     // of that, now
  uint64_t discharged_bytes = 0;                  // of a Free that may still not happen
  DeviceAllocation allocation;
  MemoryHold hold;
};

struct Kernel final : Object {
  explicit Kernel(QueuePosition its_creator) : Object(ObjectKind::kKernel, its_creator) {}
  std::shared_ptr<const KernelImage> image;
  std::shared_ptr<const UseHold>
      kept;  // the image's bytes: of the kernel, and of programs that use it
};

struct ProgramObject final : Object {
  explicit ProgramObject(QueuePosition its_creator) : Object(ObjectKind::kProgram, its_creator) {}
  std::shared_ptr<const Program> program;
  // Buffers that its circular buffers lie on, by handle. It does not keep them; its launches do.
  std::map<uint64_t, std::weak_ptr<Buffer>> places;
  TileSet tiles;                                     // that run a kernel of it
  Duration launch_time{};                            // moving average; zero: none has ended
  std::shared_ptr<const std::vector<uint32_t>> ids;  // its id alone: what a work says it runs
  std::vector<std::shared_ptr<const UseHold>> kept;  // of its kernels
};

// Contents of a launch of a trace until the trace is built. `buffers`: as in LaunchOperation.
struct TracedLaunch {
  std::shared_ptr<ProgramObject> program;
  std::vector<ArgumentsRequest> arguments;
  std::vector<std::shared_ptr<Buffer>> buffers;
};

inline constexpr uint32_t kNoKernelIndex = UINT32_MAX;
// Buffers that the arguments of a trace's launches name, by launch and kernel, and that their circular buffers lie on,
// by launch and kNoKernelIndex.
using TraceBuffers = std::map<std::pair<uint32_t, uint32_t>, std::vector<std::shared_ptr<Buffer>>>;

// Its creator is the first of the commands that record it, which come one behind the other.
struct TraceObject final : Object {
  TraceObject(QueuePosition its_creator, uint64_t its_handle, CardResources* its_card,
              const Route& its_route)
      : Object(ObjectKind::kTrace, its_creator),
        handle(its_handle),
        route(its_route),
        memory(its_creator) {
    card = memory.card = its_card;
  }

  const uint64_t handle;
  const Route route;
  QueuePosition finished_by;           // the last of those commands; value 0: more are to come
  std::vector<TracedLaunch> launches;  // gathered, until it is built
  // Against the session's limit: what was gathered, then what was built. Not counted once it is freed, but the Free
  // may still not happen.
  uint64_t charged_bytes = 0;
  bool counts = true;
  Duration timeout{};     // of the most patient launch; zero: the session's
  bool impatient = true;  // every launch so far has a timeout of its own

  std::shared_ptr<Trace> trace;                                   // null: not built yet
  Buffer memory;                                                  // of the records on the card
  MemoryHold hold;                                                // the records, host and card
  std::vector<std::shared_ptr<ProgramObject>> programs;           // one a launch
  std::vector<std::shared_ptr<const std::vector<uint32_t>>> ids;  // of the programs, by segment
  // The queue whose replays have been issued and not ended; null: none. Replays of other queues wait, so that patches
  // take effect in the order of the replays.
  std::weak_ptr<const uint32_t> turn;
  TraceBuffers buffers;  // they hold their memory while a replay can reach it
};

}  // namespace ttfd
