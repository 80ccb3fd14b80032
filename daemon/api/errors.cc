// The errors that several commands share.
#include "daemon/api/errors.h"

#include "daemon/api/status_reason.h"
#include "runtime/base/utf8.h"

namespace ttfd {

ErrorReply LimitError(std::string field, std::string limit, uint64_t value, uint64_t used,
                      const std::string& what) {
  ErrorReply error = MakeError(StatusCode::kResourceExhausted, reason::kLimit, std::move(field),
                               "{}; the limit {} is {}, {} in use", what, limit, value, used);
  error.limit = std::move(limit);
  error.limit_value = value;
  error.limit_used = used;
  return error;
}

ErrorReply UnknownHandleError(std::string field, uint64_t handle) {
  if (handle == 0) {
    return MakeError(StatusCode::kNotFound, reason::kUnknownHandle, std::move(field),
                     "handle 0 is that of nothing: the object was freed, moved or never created");
  }
  return MakeError(StatusCode::kNotFound, reason::kUnknownHandle, std::move(field),
                   "this session has no handle {}; a handle is known from the command that creates "
                   "it to the one that frees it",
                   handle);
}

ErrorReply NoDeviceError(std::string field, uint32_t device, size_t devices) {
  const std::string served =
      devices == 1 ? "one device, 0" : fmt::format("devices 0 to {}", devices - 1);
  return MakeError(StatusCode::kNotFound, reason::kInvalid, std::move(field),
                   "there is no device {}; this daemon serves {}", device, served);
}

ErrorReply NoSourceError(const std::string& command, bool unstreamed) {
  if (unstreamed) {
    return InvalidError(command + ".streamed",
                        "streamed is false; set it to true and send Data, or set another source");
  }
  return UnsupportedError(command + ".from", "an unsupported source; set inline or streamed");
}

ErrorReply UnsupportedError(std::string field, const std::string& what) {
  return MakeError(StatusCode::kUnimplemented, reason::kUnsupported, std::move(field), "{}", what);
}

ErrorReply RefusedError(std::string field, const Status& why) {
  const bool known = why.code() != StatusCode::kUnimplemented;
  return MakeError(why.code(), known ? reason::kInvalid : reason::kUnsupported, std::move(field),
                   "{}", StatusMessage(why));
}

ErrorReply CausedByError(QueuePosition cause) {
  ErrorReply error =
      cause.value == 0
          ? MakeError(StatusCode::kAborted, reason::kCausedBy, "",
                      "not executed: queue {} could not be opened", cause.queue)
          : MakeError(StatusCode::kAborted, reason::kCausedBy, "",
                      "not executed: it follows from the failure of command {} of queue {}",
                      cause.value, cause.queue);
  error.cause = cause;
  return error;
}

Refusal CheckName(std::string field, std::string_view name) {
  const size_t at = FindUnprintable(name);
  if (at == std::string_view::npos) return std::nullopt;
  return InvalidError(std::move(field),
                      "\"{}\" has an unprintable character at byte {}; a name is UTF-8 without "
                      "control characters, line separators and controls of writing direction",
                      Printable(name), at);
}

Refusal Renamed(Refusal refusal, std::string_view from, const std::string& to) {
  if (refusal && refusal->field.starts_with(from)) refusal->field.replace(0, from.size(), to);
  return refusal;
}

Status ToStatus(const ErrorReply& error) {
  Status status = WithReason(MakeStatus(error.code, error.message), error.reason, error.field);
  if (error.limit.empty()) return status;
  return WithLimit(std::move(status), {error.limit, error.limit_value, error.limit_used});
}

Status ClientLeft() {
  return WithReason(Error(StatusCode::kCancelled, "the client has left"), reason::kCancelled);
}

Status SessionReplaced() {
  return WithReason(Error(StatusCode::kAborted, "the session was resumed on another connection"),
                    reason::kCancelled);
}

Status SessionLost(uint64_t session) {
  return WithReason(
      Error(StatusCode::kNotFound,
            "session {} cannot be resumed: the daemon was restarted, the session has ended or its "
            "reconnect timeout has passed, or the token is wrong; its objects are freed",
            session),
      reason::kSessionLost);
}

Status DeviceResetStatus(std::string_view why) {
  return WithReason(MakeStatus(StatusCode::kUnavailable, std::string(why)), reason::kDeviceReset);
}

}  // namespace ttfd
