// Which completion records are due, and where their data goes.
//
// The card answers in order, so a record is known by its turn; the `check` word it echoes proves
// it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <utility>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/command/command.h"
#include "runtime/command/transfer_encoder.h"
#include "runtime/queue/completion_queue.h"

namespace ttfd {

class ReadTracker {
 public:
  using Sink = std::function<void(uint64_t offset_in_read, ByteSpan data)>;

  void Clear();

  // The check word of the next record that is expected.
  uint32_t next_check() const { return next_check_; }
  // Events are due next, so many.
  void ExpectEvents(uint32_t events) { next_check_ += events; }
  // The pieces of one read are due next.
  void ExpectRead(Sink sink, std::span<const ReadPiece> pieces);

  bool waits() const { return !pieces_.empty(); }

  // The card wrote this record: INTERNAL if it is not the one that is due.
  Status CheckTurn(const CompletionQueue::Record& record);
  // REQUIRES CheckTurn. Hands the data to its sink.
  Status Deliver(const CompletionQueue::Record& record);

 private:
  struct Pending {
    Sink sink;
    size_t pieces = 0;  // not delivered yet
  };
  std::deque<Pending> sinks_;
  std::deque<ReadPiece> pieces_;
  uint32_t next_check_ = 0;
  uint32_t due_check_ = 0;
};

}  // namespace ttfd
