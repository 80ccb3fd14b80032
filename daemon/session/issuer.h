// Turns tasks whose turn has come into works for the device thread, or does them at once where the
// device is not needed.
//
// They are handed over only as far as the windows allow: requests of a client never grow what the daemon holds.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "daemon/session/command_queue.h"
#include "daemon/session/deferred_frees.h"
#include "daemon/session/environment.h"
#include "daemon/session/handle_table.h"
#include "daemon/session/outbox.h"
#include "daemon/session/slice_maker.h"
#include "daemon/session/task.h"
#include "daemon/session/timeouts.h"

namespace ttfd {

// Host work of a task, which lives until it has ended.
struct HostJob {
  Task* task = nullptr;
  std::function<void()> work;
};

// Device thread.
class Issuer {
 public:
  enum class Step { kDone, kBlocked, kRefused };

  // What is the session's own of a work. All references outlive the issuer.
  struct Flow {
    uint64_t id = 0;
    uint32_t uid = 0;
    uint32_t weight = 1;
    Priority priority = Priority::kNormal;
    uint64_t lease = 0;  // it works under; 0: none
  };
  Issuer(SessionEnvironment& environment, Outbox& outbox, const Timeouts& timeouts,
         HandleTable& handles, const DeferredFrees& frees, Flow flow)
      : environment_(environment),
        outbox_(outbox),
        timeouts_(timeouts),
        handles_(handles),
        frees_(frees),
        flow_(flow),
        slices_(environment, outbox, timeouts, handles.use()) {}

  // Its predecessors in the queue have been issued; with `at_head` they have even ended. kRefused: `error` says why.
  Step Begin(Task& task, bool at_head, ErrorReply* error);
  // Adds as much as fits to works(). kDone: all of it.
  Step More(Task& task);
  // All bytes of the kernel are there: has them loaded.
  void LoadOnHost(Task& task, LoadKernelTask& load);

  // A work of the task has ended: windows open again. Its host work has.
  void Ended(Task& task, const Work& work);
  void HostWorkEnded(Task& task);

  // For the device thread, and for host threads: the session empties them.
  std::vector<Work>& works() { return works_; }
  std::vector<HostJob>& host_jobs() { return host_jobs_; }
  // Works and host jobs that have not ended.
  bool outstanding() const { return outstanding_ > 0; }

  // Of all queues together.
  void BeginRound() { slices_.BeginRound(); }
  // In this round a read waits for its client to take what there is.
  bool read_blocked() const { return slices_.read_blocked(); }
  uint64_t lease() const { return flow_.lease; }

 private:
  Step BeginOne(BarrierTask&, Task&, bool, ErrorReply*) { return Step::kDone; }
  Step BeginOne(FreeTask&, Task&, bool, ErrorReply*) { return Step::kDone; }
  Step BeginOne(WriteTask& write, Task&, bool, ErrorReply* error);
  Step BeginOne(ReadTask& read, Task&, bool, ErrorReply* error);
  Step BeginOne(CopyTask& copy, Task&, bool, ErrorReply* error);
  Step BeginOne(FillTask& fill, Task&, bool, ErrorReply* error);
  Step BeginOne(AllocateTask& allocate, Task&, bool at_head, ErrorReply* error);
  Step BeginOne(LoadKernelTask& load, Task&, bool, ErrorReply* error);
  Step BeginOne(CreateProgramTask& create, Task& task, bool, ErrorReply* error);
  Step BeginOne(LaunchTask& launch, Task&, bool, ErrorReply* error);
  Step BeginOne(RecordTraceTask& record, Task& task, bool at_head, ErrorReply* error);
  Step BeginProgram(CreateProgramTask& create, Task& task, ErrorReply* error);
  Step BeginLayout(RecordTraceTask& record, Task& task, ErrorReply* error);
  Refusal TakeLayout(TraceObject& trace, TraceLayout& layout);
  Step BeginOne(ReplayTraceTask& replay, Task&, bool, ErrorReply* error);

  // Adds a job to host_jobs().
  void DoOnHost(Task& task, std::function<void()> work);
  Step FindMemory(Buffer& buffer, bool may_hold, bool at_head, const char* field,
                  ErrorReply* error);
  static bool Usable(const Object& object, ErrorReply* error);
  bool NeedsZeroing(const AllocateTask& allocate) const;

  SessionEnvironment& environment_;
  Outbox& outbox_;
  const Timeouts& timeouts_;
  HandleTable& handles_;
  const DeferredFrees& frees_;
  const Flow flow_;
  SliceMaker slices_;
  std::vector<Work> works_;
  std::vector<HostJob> host_jobs_;
  uint64_t outstanding_ = 0;
};

}  // namespace ttfd
