// The message that will be sent next.
#include "client/cpp/src/outbox.h"

namespace ttfd::client {
namespace {

constexpr size_t kBatchBytes = 32;     // tags and numbers of a batch
constexpr size_t kPositionBytes = 30;  // of a wait or a cancel
constexpr size_t kDataBytes = 40;      // of a Data message besides its payload

google::protobuf::ArenaOptions Options(char* block, size_t bytes) {
  google::protobuf::ArenaOptions options;
  options.initial_block = block;
  options.initial_block_size = bytes;
  return options;
}

void Set(Position position, v1::QueuePosition* proto) {
  proto->set_queue(position.queue);
  proto->set_value(position.value);
}

}  // namespace

Outbox::Outbox()
    : first_block_(std::make_unique_for_overwrite<char[]>(kFirstBlockBytes)),
      arena_(Options(first_block_.get(), kFirstBlockBytes)),
      message_(google::protobuf::Arena::CreateMessage<v1::ClientMessage>(&arena_)) {}

v1::Command* Outbox::AddCommand(uint32_t queue, uint64_t value, const BatchHeader& header,
                                uint32_t commands_per_batch, size_t bytes, size_t payload) {
  const bool joins = open_batch_ != nullptr && open_batch_->queue() == queue && header.plain() &&
                     static_cast<uint32_t>(open_batch_->commands_size()) < commands_per_batch;
  if (!joins) {
    open_batch_ = message_->add_batches();
    open_batch_->set_queue(queue);
    open_batch_->set_first_value(value);
    open_batch_->set_start_within_ms(header.start_within_ms);
    open_batch_->set_clears_error(header.clears_error);
    for (const Position& wait : header.waits) {
      Set(wait, open_batch_->add_waits());
    }
    bytes_ += kBatchBytes + kPositionBytes * header.waits.size();
  }
  bytes_ += bytes + payload;
  payload_bytes_ += payload;
  ++commands_;
  return open_batch_->add_commands();
}

void Outbox::AddData(Position command, uint64_t offset, std::span<const std::byte> payload) {
  v1::Data* data = message_->add_data();
  data->set_queue(command.queue);
  data->set_value(command.value);
  data->set_offset(offset);
  data->set_payload(payload.data(), payload.size());
  bytes_ += kDataBytes + payload.size();
  payload_bytes_ += payload.size();
}

void Outbox::AddCancel(Position from, uint64_t sent_value) {
  v1::Cancel* cancel = message_->add_cancels();
  cancel->set_queue(from.queue);
  cancel->set_from_value(from.value);
  cancel->set_sent_value(sent_value);
  bytes_ += kPositionBytes;
}

void Outbox::Clear() {
  arena_.Reset();
  message_ = google::protobuf::Arena::CreateMessage<v1::ClientMessage>(&arena_);
  open_batch_ = nullptr;
  bytes_ = 0;
  commands_ = 0;
  payload_bytes_ = 0;
}

}  // namespace ttfd::client
