// The connection to a booted card: windows, pinned memory and the rings in it. Puts records into the
// open entry, announces entries, and waits for room where they are more than the ring takes.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>

#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/boot/boot_plan.h"
#include "runtime/command/record_batch.h"
#include "runtime/command/record_file.h"
#include "runtime/device/device.h"
#include "runtime/queue/completion_queue.h"
#include "runtime/queue/fetch_queue.h"
#include "runtime/queue/issue_ring.h"

namespace ttfd {

class CardLink {
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

  // Do the records of these batches fit now, and behind them so many events, the first in the last entry if it may be?
  bool Fits(std::initializer_list<const RecordBatch*> batches, uint32_t events) const;
  // Puts them into the ring. If they do not fit, waits for the card to take entries and lets it run.
  Status Commit(const RecordBatch& batch);
  // Announces the open entry, if there is one.
  Status Flush() { return Announce(false); }
  // Of a wait for room, without any progress; `kernel`: while kernels run.
  void SetTimeouts(Duration operation, Duration kernel) {
    timeout_ = operation;
    kernel_timeout_ = kernel;
  }
  // Asks the card how far it has read.
  Status ReadFetched();
  // The card has taken all there is.
  bool empty() const { return ring_.entries_freed() == ring_.entries_closed() && !ring_.open(); }

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
