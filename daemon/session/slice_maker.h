// The next slice of a queue: a part of a transfer, a launch, a segment of a trace.
#pragma once

#include <cstdint>

#include "daemon/session/operation.h"
#include "daemon/session/outbox.h"
#include "daemon/session/session_queues.h"
#include "daemon/session/timeouts.h"
#include "daemon/session/usage.h"

namespace ttfd {

// Device thread.
class SliceMaker {
 public:
  // All outlive the maker.
  SliceMaker(const SessionLimits& limits, Outbox& outbox, const Timeouts& timeouts,
             const SessionUse& use, const SessionQueues& queues)
      : limits_(limits), outbox_(outbox), timeouts_(timeouts), use_(use), queues_(queues) {}

  // Makes the next slice of the queue, if it has none and there is one, and passes over operations whose slices the
  // card has all.
  void MakeNext(SessionQueue& queue);

 private:
  // Fills in what the slice does, and its timeout if it runs kernels. False: there is none now (its data has not come,
  // its client has to take output first), or all are made.
  bool Next(Operation& op, Slice* slice);
  static bool AllMade(const Operation& op);
  // The operation passes, or is the first of which a slice is made: what waits for other queues waits with it.
  void AddWaits(SessionQueue& queue, const Operation& op) const;

  bool NextOne(BarrierOperation&, Operation&, Slice*) { return false; }
  bool NextOne(ConnectLinksOperation&, Operation&, Slice*) { return false; }
  bool NextOne(FreeOperation&, Operation&, Slice*) { return false; }
  bool NextOne(LoadKernelOperation&, Operation&, Slice*) { return false; }
  bool NextOne(CreateProgramOperation&, Operation&, Slice*) { return false; }
  bool NextOne(WriteOperation& write, Operation&, Slice* slice);
  bool NextOne(ReadOperation& read, Operation&, Slice* slice);
  bool NextOne(CopyOperation& copy, Operation&, Slice* slice);
  bool NextOne(FillOperation& fill, Operation&, Slice* slice);
  bool NextOne(AllocateOperation& allocate, Operation&, Slice* slice);
  bool NextOne(LaunchOperation& launch, Operation&, Slice* slice);
  bool NextOne(RecordTraceOperation& record, Operation&, Slice* slice);
  bool NextOne(ReplayTraceOperation& replay, Operation&, Slice* slice);

  // The timeout that was requested, but at most that of the session's kernels.
  Duration TimeoutOf(Duration asked) const;
  uint64_t SliceBytes(const Buffer& buffer, uint64_t left) const;
  static uint64_t UnitSliceBytes(const Buffer& buffer, uint64_t offset, uint64_t left,
                                 uint64_t limit);

  const SessionLimits& limits_;
  Outbox& outbox_;
  const Timeouts& timeouts_;
  const SessionUse& use_;
  const SessionQueues& queues_;
};

}  // namespace ttfd
