// Begins operations that are next in their queues: checks what they name, finds memory, has the host do its part. Makes
// the slices of those that have begun, one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "daemon/session/deferred_frees.h"
#include "daemon/session/environment.h"
#include "daemon/session/handle_table.h"
#include "daemon/session/operation.h"
#include "daemon/session/outbox.h"
#include "daemon/session/session_queues.h"
#include "daemon/session/slice_maker.h"
#include "daemon/session/timeouts.h"

namespace ttfd {

struct HostJob {
  std::shared_ptr<Operation> operation;
  std::function<void()> work;
};

// Device thread.
class Issuer {
 public:
  enum class Step { kDone, kBlocked, kRefused };

  // All references outlive the issuer.
  Issuer(SessionEnvironment& environment, Outbox& outbox, const Timeouts& timeouts,
         HandleTable& handles, const DeferredFrees& frees, const SessionQueues& queues,
         const SessionShare& share)
      : environment_(environment),
        timeouts_(timeouts),
        handles_(handles),
        frees_(frees),
        queues_(queues),
        share_(share),
        slices_(environment, outbox, timeouts, handles.use()) {}

  // Its predecessors in the queue have begun; with `at_head` they have even ended. kRefused: `error` says why.
  Step Begin(Operation& op, bool at_head, ErrorReply* error);
  // Makes the next slice of the queue, if it has none and there is one, and passes over operations whose slices the
  // card has all.
  void MakeNext(SessionQueue& queue);
  // All bytes of the kernel are there: has them loaded.
  void LoadOnHost(Operation& op, LoadKernelOperation& load);

  // A slice of the operation is on the card; it has ended there, or is requeued; host work has ended.
  void Submitted(Operation& op);
  void Ended(Operation& op, const Slice& slice);
  void LeftCard(Operation& op);
  void HostWorkEnded(Operation& op);

  // For the host thread: the session empties them.
  std::vector<HostJob>& host_jobs() { return host_jobs_; }
  // Slices on the card, and host jobs, that have not ended.
  bool outstanding() const { return outstanding_ > 0; }
  uint64_t lease() const { return share_.lease; }

 private:
  Step BeginOne(BarrierOperation&, Operation&, bool, ErrorReply*) { return Step::kDone; }
  Step BeginOne(FreeOperation&, Operation&, bool, ErrorReply*) { return Step::kDone; }
  Step BeginOne(WriteOperation& write, Operation&, bool, ErrorReply* error);
  Step BeginOne(ReadOperation& read, Operation&, bool, ErrorReply* error);
  Step BeginOne(CopyOperation& copy, Operation&, bool, ErrorReply* error);
  Step BeginOne(FillOperation& fill, Operation&, bool, ErrorReply* error);
  Step BeginOne(AllocateOperation& allocate, Operation&, bool at_head, ErrorReply* error);
  Step BeginOne(LoadKernelOperation& load, Operation&, bool, ErrorReply* error);
  Step BeginOne(CreateProgramOperation& create, Operation& op, bool, ErrorReply* error);
  Step BeginOne(LaunchOperation& launch, Operation&, bool, ErrorReply* error);
  Step BeginOne(RecordTraceOperation& record, Operation& op, bool at_head, ErrorReply* error);
  Step BeginProgram(CreateProgramOperation& create, Operation& op, ErrorReply* error);
  Step BeginLayout(RecordTraceOperation& record, Operation& op, ErrorReply* error);
  Refusal TakeLayout(TraceObject& trace, TraceLayout& layout);
  Step BeginOne(ReplayTraceOperation& replay, Operation&, bool, ErrorReply* error);

  // The operation passes, or is the first of which a slice is made: what waits for other queues waits with it.
  void AddWaits(SessionQueue& queue, const Operation& op) const;

  // Adds a job to host_jobs().
  void DoOnHost(Operation& op, std::function<void()> work);
  Step FindMemory(Buffer& buffer, bool may_hold, bool at_head, const char* field,
                  ErrorReply* error);
  static bool Usable(const Object& object, ErrorReply* error);
  bool NeedsZeroing(const AllocateOperation& allocate) const;

  SessionEnvironment& environment_;
  const Timeouts& timeouts_;
  HandleTable& handles_;
  const DeferredFrees& frees_;
  const SessionQueues& queues_;
  const SessionShare& share_;
  SliceMaker slices_;
  std::vector<HostJob> host_jobs_;
  uint64_t outstanding_ = 0;
};

}  // namespace ttfd
