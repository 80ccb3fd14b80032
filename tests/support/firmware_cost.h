// What a command costs in instructions, counted on the model: equal in every run.
//
// Each stage is counted by itself, with its input complete before it starts and nothing to wait for: the
// dispatcher is held back by a WAIT while the prefetcher works, and released when everything has arrived;
// dispatch_s runs when the dispatcher has done. What a batch costs less what a smaller one costs leaves the
// commands alone, without what starting and coming to rest cost.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "runtime/base/status.h"
#include "tests/support/firmware_bench.h"

namespace ttfd::testing {

struct CommandCost {
  uint64_t prefetch = 0;
  uint64_t dispatch = 0;
  uint64_t dispatch_s = 0;
  uint64_t worker = 0;  // BRISC of one worker

  uint64_t busiest() const;   // of the dispatch harts
  uint64_t pipeline() const;  // all dispatch harts together
};

// One inline WRITE_LINEAR of `bytes` in an entry of its own.
StatusOr<CommandCost> InlineWriteCost(uint32_t bytes);
// One page of 2 KiB of a long WRITE_PAGED.
StatusOr<CommandCost> PagedWriteCost();
// An empty launch on all 120 workers whose kernel is resident, in an entry of its own: SET_WRITE_OFFSET,
// WRITE_PACKED, NOTIFY, SEND_GO.
StatusOr<CommandCost> CachedLaunchCost();
// The same without SET_WRITE_OFFSET, in a trace.
StatusOr<CommandCost> TracedLaunchCost();
// A record for the host.
StatusOr<CommandCost> BareEventCost();
// WAIT for workers and writes, the id written to both queues' dispatch tiles, a record for the host.
StatusOr<CommandCost> FullEventCost();

}  // namespace ttfd::testing
