// The connection to a booted card: windows, pinned memory and the rings in it. Puts records into the
// open entry and announces entries.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>

#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/boot/boot_plan.h"
#include "runtime/command/record_batch.h"
#include "runtime/command/record_file.h"
#include "runtime/device/device.h"
#include "runtime/queue/completion_queue.h"
#include "runtime/queue/fetch_queue.h"
#include "runtime/queue/go_counts.h"
#include "runtime/queue/host_bridge.h"
#include "runtime/queue/issue_ring.h"

namespace ttfd {

class CardLink {
 public:
  struct Settings {
    RingSizes rings;
    uint32_t hardware_queue = 0;
    TimePoint capture_start;  // what times in the capture count from
  };

  // Opens windows to the dispatch tiles of a booted card. `host_memory` holds the queue and, like
  // `clock` and `capture` (may be null), outlives the link.
  static StatusOr<std::unique_ptr<CardLink>> Open(Device& device, Clock& clock,
                                                  const BootPlan& plan, HostMemory& host_memory,
                                                  const Settings& settings,
                                                  RecordFileWriter* capture);

  // Do the records of these batches fit now, and behind them so many events, the first in the last entry if it may be?
  bool Fits(std::initializer_list<const RecordBatch*> batches, uint32_t events) const;
  // Would they fit rings that hold nothing else? RESOURCE_EXHAUSTED if not.
  Status CheckSize(std::initializer_list<const RecordBatch*> batches, uint32_t events) const;
  // Puts them into the ring. REQUIRES Fits.
  Status Commit(const RecordBatch& batch);
  // Announces the open entry, if there is one.
  Status Flush() { return Announce(false); }
  // Has what the card has published in host memory, which takes something where the card does not reach that.
  Status Fetch() { return bridge_.has_value() ? bridge_->Fetch() : OkStatus(); }
  // Frees the entries that the prefetcher has published as taken.
  void FreeFetched() { ring_.FreeBelow(fetch_.entries_fetched()); }

  IssueRing& ring() { return ring_; }
  CompletionQueue& completions() { return completions_; }
  GoCounts& go_counts() { return go_counts_; }
  Window& prefetch_tile() { return *prefetch_; }
  Window& dispatch_tile() { return *dispatch_; }
  // Number of the entry behind the last record appended.
  uint32_t entries_appended() const { return ring_.entries_closed() + (ring_.open() ? 1 : 0); }

 private:
  CardLink(Clock& clock, const BootPlan& plan, HostMemory& host_memory, const Settings& settings,
           RecordFileWriter* capture, std::unique_ptr<Window> prefetch,
           std::unique_ptr<Window> dispatch);
  Status Announce(bool stall);

  Clock& clock_;
  const uint32_t hardware_queue_;
  RecordFileWriter* const capture_;
  const TimePoint start_;
  const std::unique_ptr<Window> prefetch_;
  const std::unique_ptr<Window> dispatch_;
  std::optional<HostBridge> bridge_;  // none: the card reaches host memory
  IssueRing ring_;
  FetchQueue fetch_;
  CompletionQueue completions_;
  GoCounts go_counts_;
};

}  // namespace ttfd
