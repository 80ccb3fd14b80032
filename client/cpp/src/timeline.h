// Timeline: a client's state of one queue: values given out, values that have ended, the errors since
// the queue was last opened, and where reads are to go.
//
// Not thread-safe: SessionCore's mutex guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>

#include "client/cpp/src/outbox.h"
#include "ttfd/status.h"

namespace ttfd::client {

class Timeline {
 public:
  uint64_t submitted() const { return submitted_; }
  uint64_t completed() const { return completed_; }
  uint64_t NextValue() { return ++submitted_; }

  // Fields of the next command's batch; taken when that command is added.
  BatchHeader& next_header() { return next_header_; }

  // A CommandError of a range of values. Value 0: the queue could not be opened.
  void AddError(uint64_t first_value, uint64_t last_value, Status status);
  // Everything up to `value` has ended. True if that is new.
  bool Advance(uint64_t value);

  // How the command at `value`, which has ended, ended: its own error, else the queue's first one if
  // that came before it. Of a queue that could not be opened: why.
  Status Outcome(uint64_t value) const;
  // The error that has failed the queue, or OK.
  Status FirstError() const;
  // The next batch opens the queue again. A queue that could not be opened stays failed.
  void ClearError();
  // As ClearError, if the command at `value` is the one that failed the queue.
  void ClearErrorOf(uint64_t value);
  bool open_failed() const { return !open_error_.ok(); }
  // The queue is being opened again; its values continue.
  void Reopen();
  // Whether `value` ended ABORTED, because of another command's error.
  bool Aborted(uint64_t value) const;

  // `into` receives the bytes of the Read at `value`.
  void ExpectRead(uint64_t value, std::span<std::byte> into);
  // The caller has stopped waiting: bytes that still arrive are dropped.
  void AbandonRead(uint64_t value);
  // False: not the bytes that follow. `done` and `size` are set for progress callbacks.
  bool AcceptData(uint64_t value, uint64_t offset, std::span<const std::byte> payload,
                  uint64_t* done, uint64_t* size);

 private:
  // Ranges kept; older ones are dropped, but for the first, which explains the others.
  static constexpr size_t kMaxErrors = 256;

  struct ErrorRange {
    uint64_t first_value;
    uint64_t last_value;
    Status status;
  };
  struct PendingRead {
    std::span<std::byte> into;
    uint64_t received = 0;
    bool abandoned = false;
  };

  // Error of `value`; null: none.
  const ErrorRange* Find(uint64_t value) const;
  // Error that has failed the queue; null: it is open.
  const ErrorRange* FindFirst() const;

  uint64_t submitted_ = 0;
  uint64_t completed_ = 0;
  uint64_t cleared_through_ = 0;  // errors of values up to here do not count
  BatchHeader next_header_;
  Status open_error_;
  std::deque<ErrorRange> errors_;  // in the order of arrival
  std::map<uint64_t, PendingRead> reads_;
};

}  // namespace ttfd::client
