// The next slice of an operation: a part of a transfer, a launch, a segment of a trace.
#pragma once

#include <cstdint>

#include "daemon/session/environment.h"
#include "daemon/session/operation.h"
#include "daemon/session/outbox.h"
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

  // Fills in what the slice does, and its timeout if it runs kernels. False: there is none now (its data has not come,
  // its client has to take output first), or all are made.
  bool Next(Operation& task, Slice* slice);
  static bool AllMade(const Operation& task);

 private:
  bool NextOne(BarrierTask&, Operation&, Slice*) { return false; }
  bool NextOne(FreeTask&, Operation&, Slice*) { return false; }
  bool NextOne(LoadKernelTask&, Operation&, Slice*) { return false; }
  bool NextOne(CreateProgramTask&, Operation&, Slice*) { return false; }
  bool NextOne(WriteTask& write, Operation&, Slice* slice);
  bool NextOne(ReadTask& read, Operation&, Slice* slice);
  bool NextOne(CopyTask& copy, Operation&, Slice* slice);
  bool NextOne(FillTask& fill, Operation&, Slice* slice);
  bool NextOne(AllocateTask& allocate, Operation&, Slice* slice);
  bool NextOne(LaunchTask& launch, Operation&, Slice* slice);
  bool NextOne(RecordTraceTask& record, Operation&, Slice* slice);
  bool NextOne(ReplayTraceTask& replay, Operation&, Slice* slice);

  // The timeout that was requested, but at most that of the session's kernels.
  Duration Patience(Duration asked) const;
  uint64_t SliceBytes(const Buffer& buffer, uint64_t left) const;
  static uint64_t UnitSliceBytes(const Buffer& buffer, uint64_t offset, uint64_t left,
                                 uint64_t limit);

  SessionEnvironment& environment_;
  Outbox& outbox_;
  const Timeouts& timeouts_;
  const SessionUse& use_;
};

}  // namespace ttfd
