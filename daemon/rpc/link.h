// The numbered messages of one session, in both directions, over all of its connections: which were accepted from the
// client, which the client has not acknowledged, and when an ack is due (ttfd.proto, ClientMessage).
//
// Owned by the session's transport state, used by the connection that the session has at the time, with the lock of
// that state held (SessionLink), but for what says otherwise. Time is an argument.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

#include "daemon/api/session_port.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"

namespace ttfd {

struct LinkOptions {
  // Bound of the bytes of numbered messages sent ahead of the client's ack. The message that reaches it is still sent.
  uint64_t unacknowledged_bytes = uint64_t{4} << 20;
  // Accepted from the client since the last ack was sent: the next ack is due at once.
  uint64_t ack_bytes = uint64_t{2} << 20;
  // From the first message accepted since the last ack was sent until the next ack is due.
  Duration ack_delay = std::chrono::milliseconds(20);
};

class Link {
 public:
  enum class Accept { kNew, kDuplicate, kGap };

  // Bytes that a kept message counts besides its encoded ones, so that many small messages are bounded, too.
  static constexpr uint64_t kMessageOverheadBytes = 512;

  explicit Link(const LinkOptions& options) : options_(options) {}
  // Counts the kept bytes there from now on. Once, before anything is kept; without it nothing is counted.
  void Attach(std::shared_ptr<OutputBudget> budget) { budget_ = std::move(budget); }

  // ---- Reading role.

  // Classifies a message by its number, which is at least 1. Changes nothing. By the thread that reads, without a lock.
  Accept Classify(uint64_t sequence) const;
  // The message after the last accepted one, of `bytes` encoded bytes, has been accepted.
  void CountAccepted(uint64_t bytes, TimePoint now);
  // The client has received everything up to this sequence. INVALID_ARGUMENT: so much was never sent. An ack that is
  // smaller than one before changes nothing.
  Status Acknowledge(uint64_t ack);
  // The client continues on another connection and has received everything up to `peer_received`: Next returns what
  // follows, in order. INVALID_ARGUMENT: that was never sent, or is less than what was acknowledged before.
  Status Resume(uint64_t peer_received);
  // The last sequence accepted from the client. Any thread, without a lock.
  uint64_t received() const { return received_.load(std::memory_order_acquire); }

  // ---- Writing role.

  // Sequence that the next numbered message carries.
  uint64_t next_sequence() const;
  // The ack to put into the message that is about to be written: no other ack is due from here on.
  uint64_t TakeAck();
  // Adds the encoded message with next_sequence(), to be returned by Next and kept until it is acknowledged.
  void Keep(grpc::ByteBuffer message);
  // The next kept message that this connection has not written. False: there is none.
  bool Next(grpc::ByteBuffer* message);
  // No numbered message may be added until the client acknowledges: unacknowledged_bytes are kept, or less if all
  // sessions of the user keep too much (OutputBudget::Limit).
  bool full() const;
  // As OutputBudget::Limit.
  uint64_t OutputLimit(uint64_t most) const {
    return budget_ == nullptr ? most : budget_->Limit(most);
  }
  bool all_acknowledged() const;
  // The last sequence that the client acknowledged.
  uint64_t acknowledged() const;
  // When an ack must be sent by itself, at the latest. TimePoint::max(): none is due. Any thread, without a lock.
  TimePoint ack_due() const { return ack_due_; }

 private:
  Status Acknowledge(uint64_t ack, const char* field);
  static uint64_t BytesOf(const grpc::ByteBuffer& message) {
    return message.Length() + kMessageOverheadBytes;
  }

  void SetKeptBytes(uint64_t bytes);

  const LinkOptions options_;
  std::shared_ptr<OutputBudget> budget_;

  std::atomic<uint64_t> received_{0};
  // Accepted and not covered by an ack that was sent.
  uint64_t unsent_ack_bytes_ = 0;
  std::atomic<TimePoint> ack_due_{TimePoint::max()};
  uint64_t acknowledged_ = 0;
  // The last sequence written on the present connection.
  uint64_t written_ = 0;
  // The messages acknowledged_ + 1 and following.
  std::deque<grpc::ByteBuffer> kept_;
  uint64_t kept_bytes_ = 0;
};

}  // namespace ttfd
