// The errors that several commands share.
#include "daemon/session/errors.h"

#include "daemon/session/status_reason.h"

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
  return MakeError(StatusCode::kNotFound, reason::kUnknownHandle, std::move(field),
                   "this session has no handle {}; a handle is known from the command that creates "
                   "it to the one that frees it",
                   handle);
}

ErrorReply UnsupportedError(std::string field, const std::string& what) {
  return MakeError(StatusCode::kUnimplemented, reason::kUnsupported, std::move(field), "{}", what);
}

ErrorReply CausedByError(QueuePosition cause) {
  ErrorReply error =
      MakeError(StatusCode::kAborted, reason::kCausedBy, "",
                "not executed: it follows from the failure of command {} of queue {}", cause.value,
                cause.queue);
  error.cause = cause;
  return error;
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

Status SessionLost(uint64_t session) {
  return WithReason(
      Error(StatusCode::kNotFound,
            "session {} cannot be resumed: the daemon was started anew, the session has ended or "
            "its grace time has passed, or the token is not its own; what it had is gone",
            session),
      reason::kSessionLost);
}

}  // namespace ttfd
