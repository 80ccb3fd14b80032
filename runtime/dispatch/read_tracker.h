// Which completion records are due, and where their data goes.
//
// The card answers in order, so a record is known by its turn; the `check` word it echoes proves
// it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
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

  // The check word of the next record, an event.
  uint32_t ExpectEvent() { return next_check_++; }
  // The pieces of one read are expected between these; its sink is kept until the last has come,
  // which may be before the next one is expected.
  void BeginRead(Sink sink) { sinks_.push_back({std::move(sink), 0, true}); }
  uint32_t ExpectPiece(const ReadPiece& piece);
  void EndRead();

  bool waits() const { return !pieces_.empty(); }

  // The card wrote this record: INTERNAL if it is not the one that is due.
  Status CheckTurn(const CompletionQueue::Record& record);
  // REQUIRES CheckTurn. Hands the data to its sink.
  Status Deliver(const CompletionQueue::Record& record);

 private:
  struct Pending {
    Sink sink;
    uint32_t pieces = 0;  // not delivered yet
    bool open = false;    // more may be expected
  };
  std::deque<Pending> sinks_;
  std::deque<ReadPiece> pieces_;
  uint32_t next_check_ = 0;
  uint32_t due_check_ = 0;
};

}  // namespace ttfd
