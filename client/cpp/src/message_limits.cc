// How a session cuts commands and payload into messages.
#include "client/cpp/src/message_limits.h"

#include <string>

namespace ttfd::client {
namespace {

Status TooLarge(const char* limit, uint64_t value, uint64_t used, const std::string& what) {
  return Status(ErrorInfo{.code = Code::kResourceExhausted,
                          .message = "one command takes " + std::to_string(used) + " " + what +
                                     " of a message, the limit is " + std::to_string(value) +
                                     "; split it into several commands",
                          .reason = "LIMIT",
                          .limit = limit,
                          .limit_value = value,
                          .limit_used = used,
                          .execution_state = ExecutionState::kNotStarted});
}

}  // namespace

MessageLimits MessageLimits::From(const Limits& limits, uint32_t batch_commands) {
  MessageLimits out;
  out.batch_commands = std::max(batch_commands, 1U);
  if (limits.commands_per_batch != 0) {
    out.batch_commands = std::min(out.batch_commands, limits.commands_per_batch);
  }
  out.nested_bytes = limits.nested_message_bytes;
  if (limits.nested_messages != 0) {
    out.max_nested = limits.nested_messages;
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
  if (size.bytes > max_bytes) {
    return TooLarge("message_bytes", max_bytes, size.bytes, "bytes");
  }
  if (size.nested > max_nested) {
    return TooLarge("nested_messages", max_nested, size.nested, "nested messages");
  }
  return Status();
}

}  // namespace ttfd::client
