// Reads a ClientMessage's encoded bytes before anything is parsed: how many messages are nested in it, and what the
// window is charged for it and for each command and chunk (ttfd.proto, ServerMessage.window_bytes).
//
// Parsing makes objects many times larger than their bytes, so what a client may have parsed is bounded here. The scan
// itself takes no memory but its results, looks at each field once and stops at the first limit. Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

namespace ttfd {

struct ScanLimits {
  uint64_t message_bytes = 0;
  // Nested messages at any depth, fields that are in no message of the API, and repetitions of fields that occur once,
  // together.
  uint64_t nested_messages = 0;
  // Of open_queues, and of cancels: more have no use, and they are not charged.
  uint64_t queue_entries = ~uint64_t{0};
};

struct MessageScan {
  uint64_t bytes = 0;   // encoded
  uint64_t nested = 0;  // messages nested in it, at any depth
  uint64_t sequence = 0;
  uint64_t ack = 0;
  // What the window is charged; 0 without batches and data.
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
