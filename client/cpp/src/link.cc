// The numbering of a session's messages.
#include "client/cpp/src/link.h"

#include <algorithm>
#include <utility>

namespace ttfd::client {

void Link::Stamp(v1::ClientMessage* message) const {
  message->set_sequence(sent_ + 1);
  message->set_ack(received_);
}

Stream::Encoded Link::Commit(const v1::ClientMessage& message) {
  ++sent_;
  AckSent();
  const bool was_resending = resending();
  kept_.push_back({sent_, Stream::Encode(message)});
  kept_bytes_ += kept_.back().bytes.bytes;
  resend_ += was_resending ? 0 : 1;
  return kept_.back().bytes;
}

Stream::Encoded Link::CommitAck() {
  v1::ClientMessage message;
  message.set_ack(received_);
  AckSent();
  return Stream::Encode(message);
}

void Link::AckSent() {
  acknowledged_ = received_;
  unacknowledged_bytes_ = 0;
}

const Stream::Encoded* Link::NextResend() {
  return resending() ? &kept_[resend_++].bytes : nullptr;
}

Link::Accept Link::Receive(const v1::ServerMessage& message, size_t encoded_bytes, Instant now) {
  if (message.ack() > sent_) {
    return Accept::kBadAck;
  }
  DropAcknowledged(message.ack());
  const uint64_t sequence = message.sequence();
  if (sequence <= received_) {  // 0: an ack alone
    return Accept::kDuplicate;
  }
  if (sequence != received_ + 1) {
    return Accept::kGap;
  }
  if (!HasPendingAck()) {
    first_unacknowledged_at_ = now;
  }
  received_ = sequence;
  unacknowledged_bytes_ += encoded_bytes;
  return Accept::kNew;
}

Link::Instant Link::ack_deadline() const {
  if (!HasPendingAck()) {
    return Instant::max();
  }
  return unacknowledged_bytes_ >= ack_after_bytes_ ? first_unacknowledged_at_
                                                   : first_unacknowledged_at_ + kAckDelay;
}

void Link::DropAcknowledged(uint64_t ack) {
  while (!kept_.empty() && kept_.front().sequence <= ack) {
    kept_bytes_ -= kept_.front().bytes.bytes;
    kept_.pop_front();
    resend_ -= resend_ > 0 ? 1 : 0;
  }
  peer_received_ = std::max(peer_received_, ack);
}

bool Link::Resume(uint64_t peer_received) {
  if (peer_received < peer_received_ || peer_received > sent_) {
    return false;
  }
  DropAcknowledged(peer_received);
  resend_ = 0;
  // Hello.resume has carried the ack.
  AckSent();
  return true;
}

}  // namespace ttfd::client
