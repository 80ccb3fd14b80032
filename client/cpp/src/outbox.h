// The message that will be sent next: commands of several queues gathered into batches, and
// payload. Lives on a protobuf arena that is reused, so that a command costs no heap allocation.
//
// Not thread-safe: SessionCore's mutex guards it.
#pragma once

#include <google/protobuf/arena.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ttfd/status.h"
#include "ttfd/v1/ttfd.pb.h"

namespace ttfd::client {

// What a batch says besides its commands. Anything set here begins a new batch.
struct BatchHeader {
  std::vector<Position> waits;
  uint32_t start_within_ms = 0;
  uint64_t clears_error = 0;
  bool plain() const { return waits.empty() && start_within_ms == 0 && clears_error == 0; }
};

class Outbox {
 public:
  Outbox();

  // Command `value` of `queue`, to be filled in; `bytes` is an estimate of its size, never too
  // small, `payload` what it carries inline. Valid until Clear.
  v1::Command* AddCommand(uint32_t queue, uint64_t value, const BatchHeader& header,
                          uint32_t commands_per_batch, size_t bytes, size_t payload);
  void AddData(Position command, uint64_t offset, std::span<const std::byte> payload);
  // Commands from `from` to `sent_value`.
  void AddCancel(Position from, uint64_t sent_value);

  bool empty() const { return bytes_ == 0; }
  size_t bytes() const { return bytes_; }
  uint64_t commands() const { return commands_; }
  uint64_t payload_bytes() const { return payload_bytes_; }  // inline and of Data
  v1::ClientMessage& message() { return *message_; }
  void Clear();

 private:
  static constexpr size_t kFirstBlockBytes = 256 << 10;

  const std::unique_ptr<char[]> first_block_;
  google::protobuf::Arena arena_;
  v1::ClientMessage* message_ = nullptr;
  v1::Batch* open_batch_ = nullptr;  // the last one, if the next command may still join it
  size_t bytes_ = 0;
  uint64_t commands_ = 0;
  uint64_t payload_bytes_ = 0;
};

}  // namespace ttfd::client
