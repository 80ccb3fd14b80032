// Errors of commands, built with fmt: what was wrong and what is allowed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/api/reply.h"
#include "runtime/base/status.h"

namespace ttfd {

// The stable reasons of types.proto, Error.reason.
namespace reason {
inline constexpr const char* kInvalid = "INVALID";
inline constexpr const char* kLimit = "LIMIT";
inline constexpr const char* kUnknownHandle = "UNKNOWN_HANDLE";
inline constexpr const char* kKernelRefused = "KERNEL_REFUSED";
inline constexpr const char* kKernelNotCached = "KERNEL_NOT_CACHED";
inline constexpr const char* kCausedBy = "CAUSED_BY";
inline constexpr const char* kCancelled = "CANCELLED";
inline constexpr const char* kDeadline = "DEADLINE";
inline constexpr const char* kDeviceReset = "DEVICE_RESET";
inline constexpr const char* kUnsupported = "UNSUPPORTED";
inline constexpr const char* kDraining = "DRAINING";
inline constexpr const char* kLinkDown = "LINK_DOWN";
inline constexpr const char* kLeaseEnded = "LEASE_ENDED";
inline constexpr const char* kSessionLost = "SESSION_LOST";
inline constexpr const char* kQuarantined = "QUARANTINED";
inline constexpr const char* kPermissionDenied = "PERMISSION_DENIED";
}  // namespace reason

// No error, or the one that refuses a command.
using Refusal = std::optional<ErrorReply>;

template <typename... Args>
ErrorReply MakeError(StatusCode code, const char* why, std::string field,
                     fmt::format_string<Args...> format, Args&&... args) {
  ErrorReply error;
  error.code = code;
  error.reason = why;
  error.field = std::move(field);
  error.message = fmt::format(format, std::forward<Args>(args)...);
  return error;
}

template <typename... Args>
ErrorReply InvalidError(std::string field, fmt::format_string<Args...> format, Args&&... args) {
  return MakeError(StatusCode::kInvalidArgument, reason::kInvalid, std::move(field), format,
                   std::forward<Args>(args)...);
}

// `what` says what was asked for; the limit's name and value follow.
ErrorReply LimitError(std::string field, std::string limit, uint64_t value, uint64_t used,
                      const std::string& what);
ErrorReply UnknownHandleError(std::string field, uint64_t handle);
// NOT_FOUND: the daemon serves so many `devices`, and not this one.
ErrorReply NoDeviceError(std::string field, uint32_t device, size_t devices);
// A command ("write") without a source of its payload: none of this API, or `streamed` is set to false.
ErrorReply NoSourceError(const std::string& command, bool unstreamed);
ErrorReply UnsupportedError(std::string field, const std::string& what);
// UNSUPPORTED if `why` is UNIMPLEMENTED, else INVALID.
ErrorReply RefusedError(std::string field, const Status& why);
// A command that only follows from the failure of `cause`; value 0: its queue could not be opened.
ErrorReply CausedByError(QueuePosition cause);
// Whether `cause` of the error is set.
inline bool HasCause(const ErrorReply& error) { return error.reason == reason::kCausedBy; }

// A name that a client chose is shown to others, in logs, tables and reports: it must be printable UTF-8
// (runtime/base/utf8.h). `field` is the field that carries it.
Refusal CheckName(std::string field, std::string_view name);

// The same refusal with another name for what its field begins with.
Refusal Renamed(Refusal refusal, std::string_view from, const std::string& to);

// For errors that end a call.
Status ToStatus(const ErrorReply& error);
// UNAVAILABLE, DEVICE_RESET.
Status DeviceResetStatus(std::string_view why);
// There is no such session (any more) for a client that resumes it.
Status SessionLost(uint64_t session);
// A session ends because its client sent Leave.
Status ClientLeft();
// A connection ends because another one has resumed its session.
Status SessionReplaced();

}  // namespace ttfd
