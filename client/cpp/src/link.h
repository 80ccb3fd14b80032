// Link: the numbering of a session's messages. It outlives the connections of the session, so that
// every message is received once: a sent message is kept until the daemon has acknowledged it, and
// resent after a resume; a received one is accepted once, in order, and acknowledged.
//
// Not thread-safe: SessionCore's mutex guards it. Performs no I/O; the caller's clock is an argument.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "client/cpp/src/stream.h"
#include "ttfd/v1/ttfd.pb.h"

namespace ttfd::client {

class Link {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  enum class Accept {
    kNew,        // the next message: its contents count
    kDuplicate,  // accepted before, or nothing but an ack
    kGap,        // not the next sequence: the daemon has lost a message
    kBadAck,     // acknowledges what was not sent
  };
  // Longest delay of an ack while the library is being moved.
  static constexpr std::chrono::milliseconds kAckDelay{20};
  // Sent and not acknowledged, besides what the window bounds: cancels and opened queues are outside it.
  static constexpr size_t kMaxKeptBytes = 64 << 20;

  // Limits.unacknowledged_bytes: the daemon stops sending when this much is not acknowledged.
  void SetUnacknowledgedLimit(uint64_t bytes) { ack_after_bytes_ = bytes / kAckShare; }

  // ---- Sending.
  // Gives `message` the next sequence and the current ack. Nothing changes before Commit.
  void Stamp(v1::ClientMessage* message) const;
  // `message`, stamped, is about to be written. Its encoded bytes are kept.
  Stream::Encoded Commit(const v1::ClientMessage& message);
  // A message that is only an ack.
  Stream::Encoded CommitAck();
  // After Resume: the oldest kept message that is to be written again, else null.
  const Stream::Encoded* NextResend();
  bool resending() const { return resend_ != kept_.size(); }
  bool CanKeep() const { return kept_bytes_ < kMaxKeptBytes; }

  // ---- Receiving.
  Accept Receive(const v1::ServerMessage& message, size_t encoded_bytes, Instant now);
  bool HasPendingAck() const { return acknowledged_ != received_; }
  bool AckDue(Instant now) const { return now >= ack_deadline(); }
  // When a pending ack is to be sent at the latest; Instant::max(): none is pending.
  Instant ack_deadline() const;

  // ---- Resuming. The daemon has accepted everything up to `peer_received`; what follows is resent.
  // False: that is impossible, the daemon's session is not this one.
  bool Resume(uint64_t peer_received);

  uint64_t sent() const { return sent_; }          // last sequence written
  uint64_t received() const { return received_; }  // last sequence accepted
  uint64_t peer_received() const { return peer_received_; }

 private:
  static constexpr uint64_t kAckShare = 4;

  struct Kept {
    uint64_t sequence;
    Stream::Encoded bytes;
  };

  void DropAcknowledged(uint64_t ack);
  void AckSent();

  uint64_t sent_ = 0;
  uint64_t peer_received_ = 0;  // acknowledged by the daemon
  std::deque<Kept> kept_;       // sequences peer_received_ + 1 to sent_
  size_t kept_bytes_ = 0;
  size_t resend_ = 0;  // index of the next message to be resent; kept_.size(): none

  uint64_t received_ = 0;
  uint64_t acknowledged_ = 0;  // last ack sent
  uint64_t unacknowledged_bytes_ = 0;
  uint64_t ack_after_bytes_ = UINT64_MAX;
  Instant first_unacknowledged_at_;
};

}  // namespace ttfd::client
