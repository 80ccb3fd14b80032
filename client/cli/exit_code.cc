// Statuses as exit codes.
#include "client/cli/exit_code.h"

#include <utility>

#include "client/cli/printing.h"

namespace ttfd::cli {

namespace {

constexpr char kUsageReason[] = "USAGE";

}  // namespace

client::Status UsageError(std::string message) {
  return client::Status(client::ErrorInfo{.code = client::Code::kInvalidArgument,
                                          .message = std::move(message),
                                          .reason = kUsageReason});
}

ExitCode ExitCodeOf(const client::Status& status) {
  using client::Code;
  if (status.reason() == kUsageReason) return kUsage;
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
  PrintMessage(status.ToString());
  return ExitCodeOf(status);
}

}  // namespace ttfd::cli
