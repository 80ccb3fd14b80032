// Reads a ClientMessage's encoded bytes before anything is parsed: how many messages are nested in it, and what the
// window is charged for it and for each command and chunk (ttfd.proto, ServerMessage.window_bytes).
//
// Parsing makes objects many times larger than their bytes, so two limits bound them here: of a message, which bounds
// what is parsed at a time, and of each command by its size, which makes its charge a bound on what is kept of it. The
// scan itself takes no memory but its results, reads each field once and stops at the first limit. Thread-safe.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

namespace ttfd {

// Bytes of a command for each message nested in it, below its operation. Messages that set a field take as many.
inline constexpr uint64_t kBytesPerNestedMessage = 4;

struct ScanLimits {
  uint64_t message_bytes = 0;
  // Nested messages at any depth, fields that are in no message of the API, and repetitions of fields that occur once,
  // together.
  uint64_t nested_messages = 0;
  // Messages nested in a command below its operation, besides one for each kBytesPerNestedMessage of it.
  uint64_t spare_nested_messages = 64;
  // Entries of open_queues, and of cancels: more have no use, and they are not charged.
  uint64_t queue_entries = std::numeric_limits<uint64_t>::max();
};

struct MessageScan {
  uint64_t bytes = 0;   // encoded
  uint64_t nested = 0;  // messages nested in it, at any depth
  uint64_t sequence = 0;
  uint64_t ack = 0;
  // Charged to the window: the bytes, and kCommandBytes for each command; 0 without batches and data.
  uint64_t cost = 0;
  // The share of each Batch.commands, over all batches, and of each Data, in order. What belongs to a batch and to none
  // of its commands is in the share of its first. The shares of a message add up to at most `cost`.
  std::vector<uint32_t> commands;
  std::vector<uint32_t> data;
};

// `segments`: the message's bytes in order. Accepts what protobuf parses, and messages whose strings, bytes or packed
// numbers protobuf refuses later. RESOURCE_EXHAUSTED: over a limit. INVALID_ARGUMENT: no protobuf message.
StatusOr<MessageScan> ScanMessage(std::span<const ByteSpan> segments, const ScanLimits& limits);

}  // namespace ttfd
