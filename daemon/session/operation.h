// One command of a session between its arrival and its end: decoded, waiting, on the card.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "daemon/api/errors.h"
#include "daemon/api/request.h"
#include "daemon/session/kernel_store.h"
#include "daemon/session/objects.h"
#include "daemon/session/receive_window.h"
#include "daemon/session/slice.h"
#include "daemon/session/trace_layout.h"

namespace ttfd {

// Commands whose handles are resolved. `handed` counts bytes of which slices were made.
struct BarrierOperation {};
struct AllocateOperation {
  uint64_t handle = 0;
  std::shared_ptr<Buffer> buffer;
  uint64_t handed = 0;
};
struct FreeOperation {
  std::vector<std::pair<uint64_t, std::shared_ptr<Object>>> freed;
  uint64_t arrival = 0;              // number of this Free in its session
  std::vector<QueuePosition> until;  // on other queues: what was sent before and had not ended
};
struct LoadKernelOperation {
  uint64_t handle = 0;
  std::shared_ptr<Kernel> kernel;
  std::string sha256;
  std::string name;
  uint64_t size = 0;
  enum class Stage : uint8_t {
    kCached,     // no bytes are sent: the store's copy is taken when the command is issued
    kReceiving,  // streamed; `bytes` holds what has come so far
    kLoading,    // all bytes are here, and are being loaded (host work)
    kLoaded,     // `loaded` holds the outcome
  };
  Stage stage = Stage::kCached;
  std::string bytes;
  std::shared_ptr<LoadedKernel> loaded;  // written by the host work
  UseHold kept;  // of kernel_bytes: `bytes` of a streamed one, then the image
};
struct CreateProgramOperation {
  uint64_t handle = 0;
  std::shared_ptr<ProgramObject> program;
  std::vector<std::shared_ptr<Kernel>> kernels;  // one a use, in order
  std::vector<std::shared_ptr<Buffer>> buffers;  // one a circular buffer, in order; null: none
  CreateProgramRequest request;
  // Null until its kernels and buffers are ready. Written by the host work.
  std::shared_ptr<StatusOr<std::shared_ptr<const Program>>> built;
  uint32_t id = 0;  // of the program
};
struct WriteOperation {
  std::shared_ptr<Buffer> buffer;
  uint64_t offset = 0;
  uint64_t size = 0;
  bool streamed = false;
  uint64_t received = 0;
  uint64_t handed = 0;
  std::vector<std::string> slices;  // received, not handed; each ends where a unit does
  std::string tail;                 // received, the beginning of a unit
};
struct ReadOperation {
  std::shared_ptr<Buffer> buffer;
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t handed = 0;
  uint64_t ended = 0;  // bytes of slices that have ended well
};
struct CopyOperation {
  std::shared_ptr<Buffer> from;
  uint64_t from_offset = 0;
  std::shared_ptr<Buffer> to;
  uint64_t to_offset = 0;
  uint64_t size = 0;
  uint64_t handed = 0;
};
struct FillOperation {
  std::shared_ptr<Buffer> buffer;
  uint64_t offset = 0;
  uint64_t size = 0;
  uint32_t word = 0;
  uint64_t handed = 0;
};
struct LaunchOperation {
  std::shared_ptr<ProgramObject> program;
  std::vector<ArgumentsRequest> arguments;
  // Buffers of all BufferArguments, in order, then those that circular buffers of the program lie on.
  std::vector<std::shared_ptr<Buffer>> buffers;
  Duration timeout{};
  bool handed = false;
  std::vector<KernelArguments> resolved;  // one a kernel, buffers' addresses filled in
};

struct RecordTraceOperation {
  std::shared_ptr<TraceObject> trace;
  bool last = false;  // the one that builds and records it; those before only gather
  std::shared_ptr<TraceLayout>
      layout;  // null until its programs and buffers are ready; written by the host work
  uint32_t handed_segments = 0;
};
struct ConnectLinksOperation {
  std::vector<LinkConnection> connections;
  // Null until the daemon has been given the links.
  std::shared_ptr<std::optional<Status>> connected;
};
struct ReplayTraceOperation {
  struct Patch {
    uint32_t launch = 0;
    ArgumentsRequest arguments;
    std::vector<std::shared_ptr<Buffer>> buffers;
  };
  struct Patched {
    uint32_t launch = 0;
    uint32_t kernel = 0;
    std::vector<std::shared_ptr<Buffer>> buffers;
  };
  // All patches are resolved: of what came, the buffers are kept.
  void DropPatches() {
    patched.reserve(patches.size());
    for (Patch& one : patches) {
      patched.push_back({one.launch, one.arguments.kernel, std::move(one.buffers)});
    }
    patches = {};
  }
  // Takes the patches of launches before `end` that were not taken.
  std::vector<TracePatch> TakePatches(uint32_t end) {
    const auto first = resolved.begin() + static_cast<ptrdiff_t>(handed_patches);
    const auto last = std::find_if(first, resolved.end(),
                                   [end](const TracePatch& one) { return one.launch >= end; });
    std::vector<TracePatch> taken(std::make_move_iterator(first), std::make_move_iterator(last));
    handed_patches += taken.size();
    return taken;
  }

  std::shared_ptr<TraceObject> trace;
  std::vector<Patch> patches;    // until they are resolved
  std::vector<Patched> patched;  // from then on
  uint32_t handed_segments = 0;
  uint32_t ended_segments = 0;
  std::vector<TracePatch> resolved;      // by launch
  size_t handed_patches = 0;             // of these
  std::shared_ptr<const uint32_t> turn;  // TraceObject::turn
};

using OperationBody =
    std::variant<BarrierOperation, LaunchOperation, WriteOperation, ReadOperation, FillOperation,
                 CopyOperation, AllocateOperation, FreeOperation, LoadKernelOperation,
                 CreateProgramOperation, RecordTraceOperation, ReplayTraceOperation,
                 ConnectLinksOperation>;

struct SessionQueue;

// Whether an operation may begin. kRefused: never.
enum class Readiness : uint8_t { kReady, kBlocked, kRefused };

struct Operation : std::enable_shared_from_this<Operation> {
  SessionQueue* queue = nullptr;
  uint64_t first_value = 0;
  uint64_t last_value = 0;  // more than first_value in a run of barriers only
  OperationBody body;
  std::vector<QueuePosition> waits;  // on other queues; once begun, those that had not ended then
  size_t asked_waits = 0;  // the first so many are its client's; others come from what it names
  TimePoint start_by;
  TimePoint arrived;

  enum class Stage : uint8_t {
    kQueued,
    kOnHost,   // the same while its host work is done
    kBegun,    // what it names exists: the card may be given its slices
    kStarted,  // the card has one of them; it will run to its end
    kDropped,  // nothing is reported of it any more
  };
  Stage stage = Stage::kQueued;
  bool counted = false;                          // a slice of it has been made
  uint32_t outstanding = 0;                      // its slices on the card, and host work
  std::atomic<bool> host_work_cancelled{false};  // read by the host thread
  // It may be begun, or will be once its host work has ended.
  bool queued() const { return stage == Stage::kQueued || stage == Stage::kOnHost; }
  // The client has not sent all of its payload.
  bool LacksData() const {
    if (const auto* write = std::get_if<WriteOperation>(&body))
      return write->received < write->size;
    const auto* load = std::get_if<LoadKernelOperation>(&body);
    return load != nullptr && load->stage == LoadKernelOperation::Stage::kReceiving;
  }
  bool started() const { return stage == Stage::kStarted; }
  bool dropped() const { return stage == Stage::kDropped; }
  // It has ended: what it names may be freed, though its slices keep the operation.
  void Release() { body = BarrierOperation{}; }
  void Drop() {
    host_work_cancelled.store(true, std::memory_order_relaxed);
    stage = Stage::kDropped;
  }
  // Segments of its replay have ended.
  bool has_run_in_part() const {
    const auto* replay = std::get_if<ReplayTraceOperation>(&body);
    return replay != nullptr && replay->ended_segments > 0;
  }
  // The state of the command once a slice of it, of so many bytes, has failed in this state. A launch is one slice; all
  // others of a read must have ended.
  ExecutionState StateAfter(ExecutionState of_slice, uint64_t bytes) const {
    const auto* read = std::get_if<ReadOperation>(&body);
    const bool last = std::holds_alternative<LaunchOperation>(body) ||
                      (read != nullptr && read->size - read->ended == bytes);
    return last && of_slice == ExecutionState::kCompleted ? of_slice : ExecutionState::kUnknown;
  }

  std::unique_ptr<ErrorReply> error;  // set: it ends with this when it is next
  uint64_t error_through = 0;         // the error is also that of the commands up to here (Cancel)

  HeldCost held;
};

}  // namespace ttfd
