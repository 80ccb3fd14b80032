// ErrorReply and Status to google.rpc.Status.
#include "daemon/rpc/call_status.h"

#include <optional>
#include <string>
#include <utility>

#include "daemon/api/errors.h"
#include "daemon/api/status_reason.h"
#include "google/rpc/error_details.pb.h"
#include "runtime/base/utf8.h"

namespace ttfd {
namespace {

constexpr char kDomain[] = "ttfd";

// Longest message of an error in a stream.
constexpr size_t kMaxErrorMessageBytes = 16 << 10;
// gRPC allows 8 KiB of metadata in all. The message is there twice: percent-encoded (up to three times its size) and in
// the details.
constexpr size_t kMaxTrailerMessageBytes = 1280;

// The reason where the lower layers gave none.
const char* ReasonOf(StatusCode code) {
  switch (code) {
    case StatusCode::kResourceExhausted:
      return reason::kLimit;
    case StatusCode::kCancelled:
      return reason::kCancelled;
    case StatusCode::kDeadlineExceeded:
      return reason::kDeadline;
    case StatusCode::kUnimplemented:
      return reason::kUnsupported;
    case StatusCode::kPermissionDenied:
      return reason::kPermissionDenied;
    default:
      return reason::kInvalid;
  }
}

void FillMetadata(const ErrorReply& from, google::protobuf::Map<std::string, std::string>* to) {
  if (!from.field.empty()) (*to)["field"] = ValidUtf8(from.field);
  if (from.reason == reason::kCausedBy) {
    (*to)["cause_queue"] = std::to_string(from.cause.queue);
    (*to)["cause_value"] = std::to_string(from.cause.value);
  }
  if (!from.limit.empty()) {
    (*to)["limit"] = from.limit;
    (*to)["limit_value"] = std::to_string(from.limit_value);
    (*to)["limit_used"] = std::to_string(from.limit_used);
  }
  if (!from.hang_report.empty()) (*to)["hang_report"] = from.hang_report;
}

}  // namespace

void ToProto(const ErrorReply& from, google::rpc::Status* to) {
  to->set_code(static_cast<int32_t>(from.code));
  to->set_message(ValidUtf8(from.message, kMaxErrorMessageBytes));
  google::rpc::ErrorInfo info;
  info.set_reason(from.reason);
  info.set_domain(kDomain);
  FillMetadata(from, info.mutable_metadata());
  to->add_details()->PackFrom(info);
  if (!from.limit.empty()) {
    google::rpc::QuotaFailure quota;
    auto* const violation = quota.add_violations();
    violation->set_subject(from.limit);
    violation->set_description(
        fmt::format("the limit is {}, {} in use", from.limit_value, from.limit_used));
    to->add_details()->PackFrom(quota);
  }
  if (from.retryable) to->add_details()->PackFrom(google::rpc::RetryInfo());
}

ErrorReply ErrorOf(const Status& status) {
  ErrorReply error;
  error.code = status.code();
  error.message = ValidUtf8(StatusMessage(status), kMaxTrailerMessageBytes);
  error.reason = PayloadOf(status, kReasonPayload);
  if (error.reason.empty()) error.reason = ReasonOf(status.code());
  error.field = PayloadOf(status, kFieldPayload);
  if (const std::optional<LimitOfStatus> limit = LimitOf(status)) {
    error.limit = limit->limit;
    error.limit_value = limit->value;
    error.limit_used = limit->used;
  }
  error.retryable = status.code() == StatusCode::kUnavailable;
  return error;
}

grpc::Status ToGrpc(const Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const ErrorReply error = ErrorOf(status);
  google::rpc::Status details;
  ToProto(error, &details);
  // The canonical codes are the same numbers on both sides.
  return {static_cast<grpc::StatusCode>(status.code()), error.message, details.SerializeAsString()};
}

}  // namespace ttfd
