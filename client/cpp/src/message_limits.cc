// How a session cuts commands and payload into messages.
#include "client/cpp/src/message_limits.h"

#include <string>

namespace ttfd::client {
MessageLimits MessageLimits::From(const Limits& limits, uint32_t batch_commands) {
  MessageLimits out;
  out.batch_commands = std::max(batch_commands, 1U);
  if (limits.commands_per_batch != 0) {
    out.batch_commands = std::min(out.batch_commands, limits.commands_per_batch);
  }
  out.command_bytes = limits.command_bytes;
  if (limits.nested_messages != 0) {
    // A message of this cost cannot have more (types.proto).
    out.most_gathered = std::min(kMostGathered, uint64_t{4} * limits.nested_messages);
  }
  if (limits.message_bytes != 0) {
    out.max_bytes = limits.message_bytes;
  }
  out.chunk_bytes = limits.chunk_bytes;
  out.inline_bytes = limits.inline_bytes;
  const uint64_t largest = std::max(limits.chunk_bytes, limits.inline_bytes);
  out.guaranteed_cost = largest + largest / 2;
  return out;
}

Status MessageLimits::Check(const MessageSize& size) const {
  if (size.bytes <= max_bytes) {
    return Status();
  }
  return Status(ErrorInfo{.code = Code::kResourceExhausted,
                          .message = "one command takes " + std::to_string(size.bytes) +
                                     " bytes of a message, the limit is " +
                                     std::to_string(max_bytes) + "; split it into several commands",
                          .reason = "LIMIT",
                          .limit = "message_bytes",
                          .limit_value = max_bytes,
                          .limit_used = size.bytes,
                          .execution_state = ExecutionState::kNotStarted});
}

}  // namespace ttfd::client
