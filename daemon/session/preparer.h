// Prepares operations that are next in their queues, so that they may begin: checks the objects that they name, finds
// memory, has the host thread build programs and traces.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "daemon/session/card_resources.h"
#include "daemon/session/deferred_frees.h"
#include "daemon/session/handle_table.h"
#include "daemon/session/operation.h"

namespace ttfd {

// Work of an operation for the host thread, or for the device thread between its rounds.
struct HostJob {
  std::shared_ptr<Operation> operation;
  std::function<void()> work;  // empty: links of the operation are to be connected
};

// Device thread.
class Preparer {
 public:
  // Both outlive it. `uid`: the session's user.
  Preparer(HandleTable& handles, const DeferredFrees& frees, uint32_t uid)
      : handles_(handles), frees_(frees), uid_(uid) {}

  // Its predecessors in the queue have begun; with `at_head` they, and what it waits for, have even ended. kRefused:
  // `error` says why.
  Readiness Prepare(Operation& op, bool at_head, ErrorReply* error);
  // All bytes of the kernel are there: has them loaded.
  void LoadOnHost(Operation& op, LoadKernelOperation& load);
  void HostWorkEnded(Operation& op);

  // Jobs that were added and have not been passed to the host thread: the session empties them.
  std::vector<HostJob>& host_jobs() { return host_jobs_; }
  // Jobs that have not ended.
  uint64_t jobs_under_way() const { return jobs_under_way_; }

 private:
  Readiness PrepareOne(BarrierOperation&, Operation&, bool, ErrorReply*) {
    return Readiness::kReady;
  }
  Readiness PrepareOne(FreeOperation&, Operation&, bool, ErrorReply*) { return Readiness::kReady; }
  Readiness PrepareOne(WriteOperation& write, Operation&, bool, ErrorReply* error);
  Readiness PrepareOne(ReadOperation& read, Operation&, bool, ErrorReply* error);
  Readiness PrepareOne(CopyOperation& copy, Operation&, bool, ErrorReply* error);
  Readiness PrepareOne(FillOperation& fill, Operation&, bool, ErrorReply* error);
  Readiness PrepareOne(AllocateOperation& allocate, Operation&, bool at_head, ErrorReply* error);
  Readiness PrepareOne(LoadKernelOperation& load, Operation& op, bool, ErrorReply* error);
  Readiness PrepareOne(CreateProgramOperation& create, Operation& op, bool, ErrorReply* error);
  Readiness PrepareOne(LaunchOperation& launch, Operation&, bool, ErrorReply* error);
  Readiness PrepareOne(RecordTraceOperation& record, Operation& op, bool at_head,
                       ErrorReply* error);
  Readiness PrepareOne(ReplayTraceOperation& replay, Operation&, bool, ErrorReply* error);
  Readiness PrepareOne(ConnectLinksOperation& connect, Operation& op, bool at_head,
                       ErrorReply* error);
  Readiness PrepareProgram(CreateProgramOperation& create, Operation& op, ErrorReply* error);
  Readiness PrepareLayout(RecordTraceOperation& record, Operation& op, ErrorReply* error);
  Refusal TakeLayout(TraceObject& trace, TraceLayout& layout);

  // Adds a job to host_jobs().
  void DoOnHost(Operation& op, std::function<void()> work);
  Readiness FindMemory(Buffer& buffer, bool may_hold, bool at_head, const char* field,
                       ErrorReply* error);
  static bool Usable(const Object& object, ErrorReply* error);

  HandleTable& handles_;
  const DeferredFrees& frees_;
  const uint32_t uid_;
  std::vector<HostJob> host_jobs_;
  uint64_t jobs_under_way_ = 0;
};

}  // namespace ttfd
