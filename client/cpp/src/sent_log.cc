// The messages that the daemon may not have received.
#include "client/cpp/src/sent_log.h"

#include <algorithm>
#include <utility>

namespace ttfd::client {
namespace {

void Raise(std::vector<Position>* positions, uint32_t queue, uint64_t value) {
  for (Position& position : *positions) {
    if (position.queue == queue) {
      position.value = std::max(position.value, value);
      return;
    }
  }
  positions->push_back({queue, value});
}

}  // namespace

void SentLog::Add(Stream::Encoded bytes, const v1::ClientMessage& message, uint64_t payload_bytes,
                  uint64_t payload_end) {
  Entry entry{std::move(bytes), {}, {}, payload_bytes, payload_end};
  for (const v1::Batch& batch : message.batches()) {
    Raise(&entry.commands, batch.queue(),
          batch.first_value() + static_cast<uint64_t>(batch.commands_size()) - 1);
  }
  for (const v1::Cancel& cancel : message.cancels()) {
    Raise(&entry.commands, cancel.queue(), cancel.sent_value());
  }
  for (const v1::Data& data : message.data()) {
    Raise(&entry.payload, data.queue(), data.value());
  }
  if (entry.commands.empty() && entry.payload.empty()) {
    return;
  }
  const bool all_repeated = next_ == entries_.size();
  entries_.push_back(std::move(entry));
  next_ += all_repeated ? 1 : 0;
}

void SentLog::Rewind() {
  next_ = 0;
  for (Entry& entry : entries_) {
    entry.payload_end = UINT64_MAX;
  }
}

const Stream::Encoded* SentLog::Next(uint64_t* payload_sent) {
  if (next_ == entries_.size()) {
    return nullptr;
  }
  Entry& entry = entries_[next_++];
  *payload_sent += entry.payload_bytes;
  entry.payload_end = *payload_sent;
  return &entry.bytes;
}

void SentLog::Forget(const Ended& ended, uint64_t payload_received) {
  const auto done = [&](const Entry& entry) {
    return std::all_of(entry.commands.begin(), entry.commands.end(), ended) &&
           (entry.payload_end <= payload_received ||
            std::all_of(entry.payload.begin(), entry.payload.end(), ended));
  };
  while (!entries_.empty() && done(entries_.front())) {
    entries_.pop_front();
    next_ -= next_ > 0 ? 1 : 0;
  }
  if (entries_.size() < sweep_at_ || next_ != entries_.size()) {
    return;
  }
  std::erase_if(entries_, done);
  next_ = entries_.size();
  sweep_at_ = std::max(kFewEntries, 2 * entries_.size());
}

}  // namespace ttfd::client
