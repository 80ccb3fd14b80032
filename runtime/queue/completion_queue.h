// The host's side of the completion ring: records the dispatcher wrote, in order, each from a page
// on. What a record held, a client's data among it, is cleared when the host is done with it, a little at a time,
// before the card is told that its place is free; or, under load, once the card has used that again.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/abi/dispatch_commands.h"
#include "runtime/abi/host_queue.h"
#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/device/device.h"

namespace ttfd {

class CompletionQueue {
 public:
  // A record where it lies in the ring; `second` is what wrapped to its start.
  struct Record {
    abi::WriteLinearHHost command;
    ByteSpan first;
    ByteSpan second;
    uint32_t pages = 0;
  };

  // `pointer` and `ring` (whole pages) are host memory the card writes; `dispatch_tile` is a window
  // to the dispatch tile. All outlive the queue.
  CompletionQueue(ByteSpan pointer, MutableByteSpan ring, Window& dispatch_tile);

  // The next record, if the card has published one. INTERNAL if what lies there cannot be one.
  StatusOr<std::optional<Record>> Next();
  // Done with the record Next returned.
  void Pop(const Record& record);
  // Clears so many bytes of what was read and not acknowledged.
  void Clear(uint32_t most_bytes);
  // Clears all that was read. REQUIRES that nothing is under way that the card would write here.
  void ClearAll();

  // Writes to the card which pages are free, once a quarter of the ring is unacknowledged; `all`: even
  // if less. Reads nothing of the card.
  Status Acknowledge(bool all);
  // For a card that has stopped: acknowledges all pages, and returns whether there were any. Reads first what was
  // written last. DEADLINE_EXCEEDED, and nothing is written: the card has another number; it may wait for pages that
  // are free, and this is the evidence.
  StatusOr<bool> AcknowledgeRest();

  // The card's pointer as it is now.
  abi::CompletionPointer pointer() const;
  uint32_t unacknowledged() const { return read_ - acknowledged_; }
  uint32_t acknowledged() const { return acknowledged_; }

 private:
  uint32_t pages() const;
  void ClearPage(uint32_t page);

  const ByteSpan pointer_;
  const MutableByteSpan ring_;
  Window& window_;
  uint32_t read_ = 0;          // pages, free-running
  uint32_t acknowledged_ = 0;  // of which the card knows
  uint32_t cleared_ = 0;
  std::vector<uint16_t> dirty_;  // of each page: so many bytes at its beginning may not be zero
  size_t dirty_pages_ = 0;
};

}  // namespace ttfd
