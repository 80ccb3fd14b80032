// The next slice of a task: a part of a transfer, a launch, a segment of a trace. Each is a work of its own.
#pragma once

#include <cstdint>

#include "daemon/session/environment.h"
#include "daemon/session/outbox.h"
#include "daemon/session/task.h"
#include "daemon/session/timeouts.h"
#include "daemon/session/usage.h"

namespace ttfd {

// Device thread.
class SliceMaker {
 public:
  // All outlive the maker.
  SliceMaker(SessionEnvironment& environment, Outbox& outbox, const Timeouts& timeouts,
             const SessionUse& use)
      : environment_(environment), outbox_(outbox), timeouts_(timeouts), use_(use) {}

  // Fills in what the slice does, and its timeout if it runs kernels. False: there is none now, or all are made.
  bool Next(Task& task, Work* work);
  static bool AllMade(const Task& task);

  void BeginRound() { read_blocked_ = false; }
  // Since BeginRound a read had no slice because its client has to take what there is first.
  bool read_blocked() const { return read_blocked_; }

 private:
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

  // The timeout that was requested, but at most that of the session's kernels.
  Duration Patience(Duration asked) const;
  uint64_t SliceBytes(const Buffer& buffer, uint64_t left) const;
  static uint64_t UnitSliceBytes(const Buffer& buffer, uint64_t offset, uint64_t left,
                                 uint64_t limit);

  SessionEnvironment& environment_;
  Outbox& outbox_;
  const Timeouts& timeouts_;
  const SessionUse& use_;
  bool read_blocked_ = false;
};

}  // namespace ttfd
