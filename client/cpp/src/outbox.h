// Messages that the session sends next: one in which commands of several queues gather into batches,
// with payload, opened queues and cancels; and one of cancels that passes it when the daemon's window
// has no space. Counts exactly what the message costs of the window.
//
// The message lives on a protobuf arena that is reused, so that a command costs no heap allocation.
// Not thread-safe: SessionCore's mutex guards it.
#pragma once

#include <google/protobuf/arena.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "client/cpp/src/message_limits.h"
#include "client/cpp/src/window.h"
#include "ttfd/session.h"
#include "ttfd/status.h"
#include "ttfd/v1/ttfd.pb.h"

namespace ttfd::client {

// Fields of a batch besides its commands. Anything set here begins a new batch.
struct BatchHeader {
  std::vector<Position> waits = {};
  std::optional<uint32_t> start_within_ms = {};
  std::optional<uint64_t> clears_error = {};

  bool plain() const { return waits.empty() && !start_within_ms && !clears_error; }
  MessageSize size() const;  // of a batch with this header, without its commands
};

class Outbox {
 public:
  Outbox();

  // From the Welcome. Before it only opened queues may be added.
  void SetLimits(const MessageLimits& limits) { limits_ = limits; }
  const MessageLimits& limits() const { return limits_; }
  Window& window() { return window_; }
  const Window& window() const { return window_; }

  // ---- Adding.
  // Whether a part of this size may be added now. An empty message has space for whatever passes
  // MessageLimits::Check; a message with a cancel has none, so that the cancel covers no later command.
  bool HasSpaceFor(const MessageSize& size) const;
  // Command `value` of `queue`, to be filled in. Valid until the next change.
  v1::Command* AddCommand(uint32_t queue, uint64_t value, const BatchHeader& header,
                          const MessageSize& size);
  static MessageSize DataSize(size_t payload);
  void AddData(Position command, uint64_t offset, std::span<const std::byte> payload);
  static MessageSize OpenQueueSize(const QueueOptions& options);
  void AddOpenQueue(uint32_t queue, const QueueOptions& options);
  // Commands from `from` to `last`, the last one enqueued.
  void AddCancel(Position from, uint64_t last);
  // No commands or data follow. Nothing may be added afterwards.
  void AddFinish();

  // ---- Sending.
  // Requests that all parts added so far are sent without waiting for more.
  void RequestSend() { send_requested_ = send_requested_ || !empty(); }
  // The message to be written next, if `stamped` with its sequence and ack it has space in the window;
  // else null. Cancels go first.
  template <typename Stamp>
  v1::ClientMessage* Next(Stamp&& stamp) {
    v1::ClientMessage* const next = urgent_.cancels_size() != 0 ? &urgent_ : message_;
    if (next == message_ && !send_requested_) {
      return nullptr;
    }
    stamp(next);
    return next == &urgent_ || window_.Allows(Cost()) ? next : nullptr;
  }
  // `sent`, from Next, has been encoded and is written: charges the window and begins another.
  void MarkSent(const v1::ClientMessage* sent);

  bool empty() const { return size_.bytes == 0; }
  const MessageSize& size() const { return size_; }
  uint64_t commands() const { return size_.commands; }
  // Exact, with the sequence and ack as they are.
  uint64_t Cost() const;
  const v1::ClientMessage& message() const { return *message_; }

 private:
  static constexpr size_t kFirstBlockBytes = 256 << 10;

  // Value of the first command of `queue` in the message; 0: none.
  uint64_t FirstValue(uint32_t queue) const;
  void Clear();

  const std::unique_ptr<char[]> first_block_;
  google::protobuf::Arena arena_;
  v1::ClientMessage* message_ = nullptr;
  v1::Batch* open_batch_ = nullptr;  // the last one, if the next command may still join it
  MessageSize size_;                 // of message_
  bool send_requested_ = false;
  v1::ClientMessage urgent_;  // at most one cancel a queue
  MessageLimits limits_;
  Window window_;
};

}  // namespace ttfd::client
