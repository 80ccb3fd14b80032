// Turns tasks whose turn has come into works for the device thread, or does them at once where the
// device is not needed.
//
// Transfers become slices, each a work of its own, handed over only as far as the windows allow:
// what a client asks for never grows what the daemon holds.
#pragma once

#include <cstdint>
#include <vector>

#include "daemon/session/command_queue.h"
#include "daemon/session/environment.h"
#include "daemon/session/handle_table.h"
#include "daemon/session/outbox.h"
#include "daemon/session/task.h"

namespace ttfd {

// Not thread-safe: guarded by its session's lock.
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
  Issuer(SessionEnvironment& environment, Outbox& outbox, HandleTable& handles, Flow flow)
      : environment_(environment), outbox_(outbox), handles_(handles), flow_(flow) {}

  // Its predecessors in the queue have been issued; with `at_head` they have even ended. kRefused: `error` says why.
  Step Begin(Task& task, bool at_head, ErrorReply* error);
  // Hands over as much as fits. kDone: all of it.
  Step More(Task& task, std::vector<Work>* works);

  // The works of a task ended: windows open again.
  void Ended(Task& task, const Work& work);

  void set_frees_pending(bool pending) { frees_pending_ = pending; }
  // Zero: the daemon's.
  void set_kernel_timeout(Duration timeout) { kernel_timeout_ = timeout; }
  void set_operation_timeout(Duration timeout) { operation_timeout_ = timeout; }
  // Of all queues together.
  void BeginRound() { read_blocked_ = false; }
  // In this round a read waits for its client to take what there is.
  bool read_blocked() const { return read_blocked_; }

 private:
  Step BeginOne(BarrierTask&, Task&, bool, ErrorReply*) { return Step::kDone; }
  Step BeginOne(FreeTask&, Task&, bool, ErrorReply*) { return Step::kDone; }
  Step BeginOne(WriteTask& write, Task&, bool, ErrorReply* error);
  Step BeginOne(ReadTask& read, Task&, bool, ErrorReply* error);
  Step BeginOne(CopyTask& copy, Task&, bool, ErrorReply* error);
  Step BeginOne(FillTask& fill, Task&, bool, ErrorReply* error);
  Step BeginOne(AllocateTask& allocate, Task&, bool at_head, ErrorReply* error);
  Step BeginOne(LoadKernelTask& load, Task&, bool, ErrorReply* error);
  Step BeginOne(CreateProgramTask& create, Task&, bool, ErrorReply* error);
  Step BeginOne(LaunchTask& launch, Task&, bool, ErrorReply* error);
  Step BeginOne(RecordTraceTask& record, Task&, bool at_head, ErrorReply* error);
  Step BeginOne(ReplayTraceTask& replay, Task&, bool, ErrorReply* error);

  bool NextOne(BarrierTask&, Task&, Work*) { return false; }
  bool NextOne(FreeTask&, Task&, Work*) { return false; }
  bool NextOne(LoadKernelTask&, Task&, Work*) { return false; }
  bool NextOne(CreateProgramTask&, Task&, Work*) { return false; }
  bool NextOne(WriteTask& write, Task&, Work* work);
  bool NextOne(ReadTask& read, Task&, Work* work);
  bool NextOne(CopyTask& copy, Task&, Work* work);
  bool NextOne(FillTask& fill, Task&, Work* work);
  bool NextOne(AllocateTask& allocate, Task&, Work* work);
  bool NextOne(LaunchTask& launch, Task&, Work* work);
  bool NextOne(RecordTraceTask& record, Task&, Work* work);
  bool NextOne(ReplayTraceTask& replay, Task&, Work* work);

  Step FindMemory(Buffer& buffer, bool may_hold, bool at_head, const char* field,
                  ErrorReply* error);
  Duration Patience(Duration asked) const;

  static bool AllHanded(const Task& task);
  static bool Usable(const Object& object, ErrorReply* error);
  bool NeedsZeroing(const AllocateTask& allocate) const;
  uint64_t SliceBytes(const Buffer& buffer, uint64_t left) const;
  static uint64_t UnitSliceBytes(const Buffer& buffer, uint64_t offset, uint64_t left,
                                 uint64_t limit);

  SessionEnvironment& environment_;
  Outbox& outbox_;
  HandleTable& handles_;
  const Flow flow_;
  Duration kernel_timeout_{};
  Duration operation_timeout_{};
  bool frees_pending_ = false;
  bool read_blocked_ = false;
};

}  // namespace ttfd
