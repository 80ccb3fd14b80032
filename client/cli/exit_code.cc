// Statuses as exit codes.
#include "client/cli/exit_code.h"

#include <cstdio>

namespace ttfd::cli {

ExitCode ExitCodeOf(const client::Status& status) {
  using client::Code;
  switch (status.code()) {
    case Code::kOk:
      return kOk;
    case Code::kUnavailable:
      return kUnreachable;
    case Code::kDeadlineExceeded:
      return kTimedOut;
    case Code::kInvalidArgument:
    case Code::kNotFound:
    case Code::kAlreadyExists:
    case Code::kPermissionDenied:
    case Code::kUnauthenticated:
    case Code::kResourceExhausted:
    case Code::kFailedPrecondition:
    case Code::kOutOfRange:
    case Code::kUnimplemented:
      return kRefused;
    default:
      return kFailed;
  }
}

ExitCode Fail(const client::Status& status) {
  std::fprintf(stderr, "ttfdctl: %s\n", status.ToString().c_str());
  return ExitCodeOf(status);
}

}  // namespace ttfd::cli
