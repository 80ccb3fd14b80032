// Sequence numbers, acknowledgements and the messages that are kept for a resume.
#include "daemon/rpc/link.h"

#include <algorithm>
#include <utility>

#include "daemon/api/errors.h"

namespace ttfd {

// ---- Reading role.

Link::Accept Link::Classify(uint64_t sequence) const {
  const uint64_t received = this->received();
  if (sequence <= received) return Accept::kDuplicate;
  return sequence == received + 1 ? Accept::kNew : Accept::kGap;
}

void Link::CountAccepted(uint64_t bytes, TimePoint now) {
  received_.store(received() + 1, std::memory_order_release);
  unsent_ack_bytes_ += bytes;
  const bool due = unsent_ack_bytes_ >= options_.ack_bytes;
  ack_due_ = std::min(ack_due(), due ? now : now + options_.ack_delay);
}

Status Link::Acknowledge(uint64_t ack, const char* field) {
  const uint64_t sent = acknowledged_ + kept_.size();
  if (ack > sent) {
    return ToStatus(InvalidError(field, "message {} is acknowledged; {} were sent", ack, sent));
  }
  uint64_t bytes = kept_bytes_;
  while (acknowledged_ < ack) {
    ++acknowledged_;
    bytes -= BytesOf(kept_.front());
    kept_.pop_front();
  }
  SetKeptBytes(bytes);
  written_ = std::max(written_, acknowledged_);
  return OkStatus();
}

void Link::SetKeptBytes(uint64_t bytes) {
  kept_bytes_ = bytes;
  if (budget_ != nullptr) budget_->Set(bytes);
}

Status Link::Acknowledge(uint64_t ack) { return Acknowledge(ack, "ack"); }

Status Link::Resume(uint64_t peer_received) {
  constexpr const char* kField = "hello.resume.received";
  if (peer_received < acknowledged_) {
    return ToStatus(InvalidError(kField,
                                 "message {} is the last received, but {} was acknowledged before; "
                                 "what was acknowledged cannot be sent again",
                                 peer_received, acknowledged_));
  }
  RETURN_IF_ERROR(Acknowledge(peer_received, kField));
  written_ = acknowledged_;
  return OkStatus();
}

// ---- Writing role.

uint64_t Link::next_sequence() const { return acknowledged_ + kept_.size() + 1; }

uint64_t Link::TakeAck() {
  unsent_ack_bytes_ = 0;
  ack_due_ = TimePoint::max();
  return received();
}

void Link::Keep(grpc::ByteBuffer message) {
  SetKeptBytes(kept_bytes_ + BytesOf(message));
  kept_.push_back(std::move(message));
}

bool Link::Next(grpc::ByteBuffer* message) {
  if (written_ == acknowledged_ + kept_.size()) return false;
  *message = kept_[written_ - acknowledged_];  // shares the bytes
  ++written_;
  return true;
}

bool Link::full() const { return kept_bytes_ >= OutputLimit(options_.unacknowledged_bytes); }

bool Link::all_acknowledged() const { return kept_.empty(); }

uint64_t Link::acknowledged() const { return acknowledged_; }

}  // namespace ttfd
