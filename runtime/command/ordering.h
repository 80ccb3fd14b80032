// What must be waited for before the next command may act: commands take effect as if each began
// when the one before had ended, and nothing waits that need not.
//
// Three parties run ahead of each other: the prefetcher reads memory early, the dispatcher writes
// early, workers run late. Worker counts are cumulative since boot; records carry their low bits.
#pragma once

#include <cstdint>

#include "runtime/base/status.h"
#include "runtime/command/record_sink.h"

namespace ttfd {

class Ordering {
 public:
  // A point in the command stream, to be told later that everything before it has happened.
  struct Mark {
    uint64_t effects = 0;
    uint64_t workers = 0;
  };

  // Before the dispatcher changes memory that a running kernel may use.
  Status BeforeWrite(RecordSink& sink);
  // Before the prefetcher reads memory: earlier writes have landed, earlier kernels have ended.
  Status BeforeRead(RecordSink& sink);
  // Before the host is told that everything so far is done.
  Status BeforeEvent(RecordSink& sink);
  // Before the dispatcher reuses what the launches up to worker count `workers` use.
  Status WaitForWorkers(RecordSink& sink, uint64_t workers);

  void Wrote() { ++effects_; }
  // A launch whose go reaches `receivers` workers was sent, behind a NOTIFY with a write barrier.
  void Launched(uint32_t receivers) {
    ++effects_;
    barriered_effects_ = effects_;
    launched_workers_ += receivers;
  }

  // What the go of the next launch waits for.
  uint64_t launched_workers() const { return launched_workers_; }
  // What the dispatcher has waited for already.
  uint64_t waited_workers() const { return waited_workers_; }

  Mark Now() const { return {effects_, launched_workers_}; }
  // The host saw an event behind `mark`: everything before it has happened.
  void Happened(const Mark& mark);

 private:
  // One WAIT, and the STALL that answers it if `stall`.
  Status Wait(RecordSink& sink, uint8_t flags, uint64_t workers, bool stall);

  uint64_t effects_ = 0;            // writes and launches so far
  uint64_t barriered_effects_ = 0;  // of which the dispatcher saw the writes acknowledged
  uint64_t stalled_effects_ = 0;    // of which the prefetcher waited for
  uint64_t launched_workers_ = 0;
  uint64_t waited_workers_ = 0;  // the dispatcher waited for
};

}  // namespace ttfd
