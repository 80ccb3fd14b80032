// Messages that the session sends next.
#include "client/cpp/src/outbox.h"

#include <algorithm>

#include "client/cpp/src/command_size.h"
#include "client/cpp/src/convert.h"

namespace ttfd::client {
namespace {

constexpr MessageSize kMessage = {24, 0};    // sequence and ack
constexpr MessageSize kBatch = {48, 0};      // tags and numbers of a batch
constexpr MessageSize kPosition = {20, 0};   // of a wait or a cancel
constexpr MessageSize kData = {40, 0};       // besides its payload
constexpr MessageSize kOpenQueue = {24, 0};  // besides its workers
constexpr MessageSize kFinish = {2, 0};

google::protobuf::ArenaOptions Options(char* block, size_t bytes) {
  google::protobuf::ArenaOptions options;
  options.initial_block = block;
  options.initial_block_size = bytes;
  return options;
}

// True: one more entry. A queue has one, which covers all that were added.
bool MergeCancel(Position from, v1::ClientMessage* message) {
  for (v1::Cancel& cancel : *message->mutable_cancels()) {
    if (cancel.queue() == from.queue) {
      cancel.set_from_value(std::min(cancel.from_value(), from.value));
      return false;
    }
  }
  v1::Cancel* cancel = message->add_cancels();
  cancel->set_queue(from.queue);
  cancel->set_from_value(from.value);
  return true;
}

}  // namespace

MessageSize BatchHeader::size() const { return {kBatch.bytes + kPosition.bytes * waits.size(), 0}; }

Outbox::Outbox()
    : first_block_(std::make_unique_for_overwrite<char[]>(kFirstBlockBytes)),
      arena_(Options(first_block_.get(), kFirstBlockBytes)),
      message_(google::protobuf::Arena::CreateMessage<v1::ClientMessage>(&arena_)) {}

bool Outbox::HasSpaceFor(const MessageSize& size) const {
  if (empty()) {
    return true;
  }
  const MessageSize sum = size_ + size + kMessage;
  return message_->cancels_size() == 0 && !message_->has_finish() &&
         limits_.Cost(sum) <= limits_.GatherCost(window_.available());
}

v1::Command* Outbox::AddCommand(uint32_t queue, uint64_t value, const BatchHeader& header,
                                const MessageSize& size) {
  const bool joins = open_batch_ != nullptr && open_batch_->queue() == queue && header.plain() &&
                     static_cast<uint32_t>(open_batch_->commands_size()) < limits_.batch_commands;
  if (!joins) {
    open_batch_ = message_->add_batches();
    open_batch_->set_queue(queue);
    open_batch_->set_first_value(value);
    if (header.start_within_ms) {
      open_batch_->set_start_within_ms(*header.start_within_ms);
    }
    if (header.clears_error) {
      open_batch_->set_clears_error(*header.clears_error);
    }
    for (const Position& wait : header.waits) {
      ToProto(wait, open_batch_->add_waits());
    }
    size_ += header.size();
  }
  size_ += size;
  return open_batch_->add_commands();
}

MessageSize Outbox::DataSize(size_t payload) { return {kData.bytes + payload, 0}; }

void Outbox::AddData(Position command, uint64_t offset, std::span<const std::byte> payload) {
  v1::Data* data = message_->add_data();
  data->set_queue(command.queue);
  data->set_value(command.value);
  data->set_offset(offset);
  data->set_payload(payload.data(), payload.size());
  size_ += DataSize(payload.size());
}

MessageSize Outbox::OpenQueueSize(const QueueOptions& options) {
  const size_t workers = options.workers.size();
  return {kOpenQueue.bytes + kCoreRangeSize.bytes * workers, 0};
}

void Outbox::AddOpenQueue(uint32_t queue, const QueueOptions& options) {
  v1::OpenQueue* open = message_->add_open_queues();
  open->set_queue(queue);
  if (options.device) open->set_device(*options.device);
  open->set_kind(static_cast<v1::QueueKind>(options.kind));
  for (const CoreRange& range : options.workers) {
    ToProto(range, open->add_workers());
  }
  size_ += OpenQueueSize(options);
}

uint64_t Outbox::FirstValue(uint32_t queue) const {
  for (const v1::Batch& batch : message_->batches()) {
    if (batch.queue() == queue) {
      return batch.first_value();
    }
  }
  return 0;
}

void Outbox::AddCancel(Position from, uint64_t last) {
  const uint64_t first_here = FirstValue(from.queue);
  const uint64_t last_sent = first_here == 0 ? last : first_here - 1;
  if (from.value <= last_sent) {
    MergeCancel(from, &urgent_);
  }
  if (first_here != 0 && from.value <= last) {
    if (MergeCancel(from, message_)) {
      size_ += kPosition;
    }
    send_requested_ = true;
  }
}

void Outbox::AddFinish() {
  if (!message_->has_finish()) {
    message_->mutable_finish();
    size_ += kFinish;
  }
  send_requested_ = true;
}

uint64_t Outbox::Cost() const {
  if (message_->batches_size() == 0 && message_->data_size() == 0) {
    return 0;
  }
  return limits_.Cost({message_->ByteSizeLong(), size_.commands});
}

void Outbox::MarkSent(const v1::ClientMessage* sent) {
  if (sent == &urgent_) {
    urgent_.Clear();
    return;
  }
  window_.Charge(Cost());
  Clear();
}

void Outbox::Clear() {
  arena_.Reset();
  message_ = google::protobuf::Arena::CreateMessage<v1::ClientMessage>(&arena_);
  open_batch_ = nullptr;
  size_ = {};
  send_requested_ = false;
}

}  // namespace ttfd::client
