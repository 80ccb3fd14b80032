// What a client knows of one queue: values handed out, values ended, the errors since the queue was
// last opened, and where reads are to go.
//
// Not thread-safe: SessionCore's mutex guards it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>

#include "client/cpp/src/outbox.h"
#include "ttfd/status.h"
#include "ttfd/v1/ttfd.pb.h"

namespace ttfd::client {

class Timeline {
 public:
  uint64_t submitted() const { return submitted_; }
  uint64_t completed() const { return completed_; }
  uint64_t NextValue() { return ++submitted_; }

  // What the next command's batch will say; taken when that command is added.
  BatchHeader& next_header() { return next_header_; }

  // The daemon reported an error of a range of values; after a resume maybe once more, and further.
  void AddError(uint64_t first_value, uint64_t last_value, Status status);
  // The daemon reported that everything up to `value` has ended. True if that is news.
  bool Advance(uint64_t value);

  // How the command at `value`, which has ended, ended: its own error, else the queue's first one
  // if that came before it.
  Status Outcome(uint64_t value) const;
  // The error that has failed the queue, or OK.
  Status FirstError() const;
  // The caller of the command at `value` has been told: if it is what failed the queue, open it.
  void ToldCaller(uint64_t value);
  // The next batch opens the queue again.
  void ClearError();
  // Whether `value` was given up because of another command's error.
  bool Aborted(uint64_t value) const;

  // `into` receives the bytes of the Read at `value`.
  void ExpectRead(uint64_t value, std::span<std::byte> into);
  // The caller has stopped waiting: bytes that still come are dropped.
  void ForgetRead(uint64_t value);
  // False: bytes outside of what was asked for. `done` and `size` are set for progress callbacks.
  bool AcceptData(uint64_t value, uint64_t offset, std::span<const std::byte> payload,
                  uint64_t* done, uint64_t* size);

  // ---- Receipts: what the daemon need not keep for a client that may come back.

  // Something was told that belongs to the command at `value`.
  void Owe(uint64_t value) { owed_ = std::max(owed_, value); }
  // Puts what has ended and parts of reads into `message`; `all`: also where the daemon keeps nothing but the count.
  void AddReceipts(uint32_t queue, bool all, v1::ClientMessage* message);
  bool OwesReceipt(bool all) const {
    return completed_ > receipted_ && (all || owed_ > receipted_);
  }
  // Everything, for a daemon that is to go on from there.
  void AddReceived(uint32_t queue, v1::Resume* resume);

 private:
  // More ranges than any client looks at; older ones give way.
  static constexpr size_t kMaxErrors = 256;

  struct ErrorRange {
    uint64_t first_value;
    uint64_t last_value;
    Status status;
  };
  struct PendingRead {
    std::span<std::byte> into;
    uint64_t received = 0;
    uint64_t receipted = 0;
    bool forgotten = false;
  };

  const ErrorRange* Find(uint64_t value) const;

  uint64_t submitted_ = 0;
  uint64_t completed_ = 0;
  uint64_t owed_ = 0;
  uint64_t receipted_ = 0;
  uint64_t opened_at_ = 0;  // errors of values up to here are history
  BatchHeader next_header_;
  std::deque<ErrorRange> errors_;  // in the order of arrival
  std::map<uint64_t, PendingRead> reads_;
};

}  // namespace ttfd::client
