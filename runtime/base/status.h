// Errors as values: absl::Status and absl::StatusOr, built with fmt, propagated by two macros.
//
// Debian's Abseil is built with its own absl::string_view, which does not convert to or from
// std::string_view. The two-way conversion lives here and nowhere else.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ttfd {

using absl::Status;
using absl::StatusCode;
using absl::StatusOr;

inline Status OkStatus() { return absl::OkStatus(); }

Status MakeStatus(StatusCode code, std::string_view message);
std::string_view StatusMessage(const Status& status);

// Prepends "context: " to the message of a failed status; an OK status stays OK. The code and
// payloads are kept.
Status Annotate(const Status& status, std::string_view context);
// FAILED_PRECONDITION: `what`, and the text of errno.
Status SystemError(std::string_view what);

template <typename... Args>
Status Error(StatusCode code, fmt::format_string<Args...> format, Args&&... args) {
  return MakeStatus(code, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
Status InvalidArgument(fmt::format_string<Args...> format, Args&&... args) {
  return MakeStatus(StatusCode::kInvalidArgument, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
Status Internal(fmt::format_string<Args...> format, Args&&... args) {
  return MakeStatus(StatusCode::kInternal, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace ttfd

#define TTFD_STATUS_CONCAT_INNER(a, b) a##b
#define TTFD_STATUS_CONCAT(a, b) TTFD_STATUS_CONCAT_INNER(a, b)

// Returns from the enclosing function if `expression` is not OK.
#define RETURN_IF_ERROR(expression)             \
  do {                                          \
    ::ttfd::Status ttfd_status_ = (expression); \
    if (!ttfd_status_.ok()) [[unlikely]]        \
      return ttfd_status_;                      \
  } while (false)

// ASSIGN_OR_RETURN(auto value, Function()): assigns the value or returns the error.
#define ASSIGN_OR_RETURN(lhs, expression) \
  TTFD_ASSIGN_OR_RETURN(TTFD_STATUS_CONCAT(ttfd_status_or_, __LINE__), lhs, expression)
#define TTFD_ASSIGN_OR_RETURN(temporary, lhs, expression) \
  auto temporary = (expression);                          \
  if (!temporary.ok()) [[unlikely]]                       \
    return std::move(temporary).status();                 \
  lhs = std::move(temporary).value()
