// Waits before the next command of a hardware queue may act: commands take effect as if each began when
// the one before had ended, and nothing waits that need not.
//
// Three parties run ahead of each other: the prefetcher reads memory early, the dispatcher writes
// early, workers run late. Launches are counted by stream, one for each sub-device; worker counts are
// cumulative since boot, records carry how many came since the stream was last cleared.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/base/status.h"
#include "runtime/command/record_batch.h"
#include "runtime/command/worker_counts.h"
#include "runtime/hw/stream.h"

namespace ttfd {

class Ordering {
 public:
  // Bit s: the kernels counted on stream s.
  using StreamMask = uint32_t;
  static constexpr StreamMask kAllStreams = (1u << abi::kMaxSubDevices) - 1;

  // A point in the command stream, to be told later that everything before it has happened.
  struct Mark {
    uint64_t writes = 0;
    StreamCounts workers{};
    uint64_t commands = 0;  // of any kind: a read has no other effect, but others may wait for it
    bool Covers(const Mark& other) const;
    void Raise(const Mark& other);
  };

  // Before the dispatcher changes memory that a running kernel may use.
  void BeforeWrite(RecordBatch& batch, StreamMask kernels);
  // Before the prefetcher reads memory: earlier writes have landed, earlier kernels have ended.
  void BeforeRead(RecordBatch& batch, StreamMask kernels);
  // Before somebody is told that everything up to `mark` is done.
  void BeforeTelling(RecordBatch& batch, const Mark& mark);
  // Before the dispatcher reuses what the launches up to count `workers` of a stream use.
  void WaitForWorkers(RecordBatch& batch, uint32_t stream, uint64_t workers);
  // Waits for all launches of a stream and clears its counter: a trace counts from zero.
  void Restart(RecordBatch& batch, uint32_t stream);

  void Wrote() { ++writes_; }
  // A command is encoded as a whole.
  void Encoded() { ++commands_; }
  // The dispatcher has waited for effects that are not this queue's, or not those of the streams a later
  // read asks for: the prefetcher must not read ahead of that.
  void Joined() { ++writes_; }
  // Launches, each with a go signal, that `receivers` workers answer in all were sent, behind a NOTIFY with a write
  // barrier.
  void Launched(uint32_t stream, uint64_t receivers, uint64_t gos = 1) {
    barriered_writes_ = writes_;
    launched_[stream] += receivers;
    gos_[stream] += gos;
  }
  // Go signals of each stream so far.
  const StreamCounts& gos() const { return gos_; }

  // Worker count that the go of the next launch on the stream waits for.
  uint64_t launched_workers(uint32_t stream) const { return launched_[stream]; }
  const StreamCounts& launched_workers() const { return launched_; }
  // Worker count that the dispatcher has waited for already.
  uint64_t waited_workers(uint32_t stream) const { return waited_[stream]; }
  // A count as records carry it.
  uint32_t OnWire(uint32_t stream, uint64_t workers) const {
    return static_cast<uint32_t>(workers - base_[stream]);
  }
  // Worker completions since the last Restart that the host has not seen: how far the stream's counter may be from the
  // counts it is compared with.
  uint64_t outstanding(uint32_t stream) const {
    return launched_[stream] - std::max(seen_.workers[stream], base_[stream]);
  }
  // Do the counters of all streams stay comparable with `workers` more completions on any of them?
  bool HasCompletionsFor(uint64_t workers) const;
  // Workers launched on the stream when it was last to be cleared; 0: never, or before the first launch.
  uint64_t base(uint32_t stream) const { return base_[stream]; }
  // Launched workers that the host has seen end.
  uint64_t seen_workers(uint32_t stream) const { return seen_.workers[stream]; }
  // Has the prefetcher waited for the first `writes` writes?
  bool PrefetcherSaw(uint64_t writes) const { return stalled_writes_ >= writes; }

  Mark Now() const { return {writes_, launched_, commands_}; }
  // Does the host know that everything before `mark` has happened?
  bool Saw(const Mark& mark) const { return seen_.Covers(mark); }
  // The host saw an event behind `mark`: everything before it has happened.
  void Happened(const Mark& mark);

 private:
  // One WAIT, and the STALL that answers it if `flags` notifies the prefetcher.
  void Wait(RecordBatch& batch, uint8_t flags, uint32_t stream, uint64_t workers);
  // A WAIT for each stream of `kernels` that is not waited for up to `workers`; the last of them also
  // does `flags`, and one is sent for the flags alone if there is none.
  void WaitForStreams(RecordBatch& batch, StreamMask kernels, const StreamCounts& workers,
                      uint8_t flags);

  uint64_t commands_ = 0;          // so far
  uint64_t writes_ = 0;            // so far
  uint64_t barriered_writes_ = 0;  // of which the dispatcher saw the acknowledgements
  uint64_t stalled_writes_ = 0;    // of which the prefetcher waited for
  StreamCounts launched_{};
  StreamCounts waited_{};   // the dispatcher waited for
  StreamCounts stalled_{};  // the prefetcher waited for
  StreamCounts base_{};     // launched at the last Restart
  StreamCounts gos_{};      // sent
  Mark seen_;               // has happened, as the host knows
};

}  // namespace ttfd
