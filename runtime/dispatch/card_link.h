// The connection to a booted card: windows, pinned memory and the rings in it. Puts records into the
// open entry, announces entries, and waits for room when a ring is full.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/boot/boot_plan.h"
#include "runtime/command/record_file.h"
#include "runtime/command/record_sink.h"
#include "runtime/device/device.h"
#include "runtime/queue/completion_queue.h"
#include "runtime/queue/fetch_queue.h"
#include "runtime/queue/issue_ring.h"

namespace ttfd {

class CardLink final : public RecordSink {
 public:
  // Lets the card run a little and takes what it completed. `look`: asks the card itself how it is.
  enum class Pumped {
    kQuiet,  // nothing was seen to move
    kMoved,
    kKernels,  // nothing but kernels of workers
    kDead,     // nothing can move any more
  };
  using Pump = std::function<StatusOr<Pumped>(bool look)>;

  struct Settings {
    RingSizes rings;
    uint32_t hardware_queue = 0;
    TimePoint capture_start;  // what times in the capture count from
  };

  // Opens windows to the dispatch tiles of a booted card. `host_memory` holds the queue and, like
  // `clock` and `capture` (may be null), outlives the link.
  static StatusOr<std::unique_ptr<CardLink>> Open(Device& device, Clock& clock,
                                                  const BootPlan& plan, HostMemory& host_memory,
                                                  const Settings& settings, Pump pump,
                                                  RecordFileWriter* capture);

  // RecordSink.
  StatusOr<MutableByteSpan> Append(uint32_t bytes) override;
  uint32_t max_record_bytes() const override { return ring_.max_entry_bytes(); }

  // Announces the open entry, if there is one.
  Status Flush() { return Announce(false); }
  // The same; the card fetches nothing further until it is executed.
  Status FlushStalled() { return Announce(true); }
  // Of a wait for room, without any progress; `kernel`: while kernels run.
  void SetTimeouts(Duration operation, Duration kernel) {
    timeout_ = operation;
    kernel_timeout_ = kernel;
  }
  // Room for `bytes`, wherever they wrap; asks the card when the host believes that there is none. `alone`: nothing of
  // the hardware queue is left on the card. What never fits as a whole has room then, and goes in piece by piece: who
  // waits for room behind a kernel waits for its end.
  StatusOr<bool> HasRoom(uint64_t bytes, bool alone);
  // Asks the card how far it has read.
  Status ReadFetched();

  IssueRing& ring() { return ring_; }
  CompletionQueue& completions() { return completions_; }
  Window& prefetch_tile() { return *prefetch_; }
  Window& dispatch_tile() { return *dispatch_; }
  // Number of the entry behind the last record appended.
  uint32_t entries_appended() const { return ring_.entries_closed() + (ring_.open() ? 1 : 0); }

 private:
  CardLink(Clock& clock, const BootPlan& plan, HostMemory& host_memory, const Settings& settings,
           Pump pump, RecordFileWriter* capture, std::unique_ptr<Window> prefetch,
           std::unique_ptr<Window> dispatch);
  Status Announce(bool stall);
  Status AwaitRoom(uint32_t bytes);
  bool Fits(uint64_t bytes, bool alone) const;

  Clock& clock_;
  Duration timeout_{};
  Duration kernel_timeout_{};
  const uint32_t hardware_queue_;
  const Pump pump_;
  RecordFileWriter* const capture_;
  const TimePoint start_;
  const std::unique_ptr<Window> prefetch_;
  const std::unique_ptr<Window> dispatch_;
  IssueRing ring_;
  FetchQueue fetch_;
  CompletionQueue completions_;
};

}  // namespace ttfd
