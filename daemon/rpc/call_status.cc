// Status to grpc::Status, with the API's Error in the trailer.
#include "daemon/rpc/call_status.h"

#include <string>
#include <utility>

#include "daemon/rpc/reply_conversion.h"
#include "daemon/rpc/utf8.h"
#include "daemon/session/status_reason.h"

namespace ttfd {
namespace {

constexpr char kErrorTrailer[] = "ttfd-error-bin";

// gRPC allows 8 KiB of metadata in all, and a status message may triple when it is percent-encoded.
constexpr size_t kMaxMessageBytes = 1536;

// The reason where nobody said a better one.
std::string ReasonOf(StatusCode code) {
  switch (code) {
    case StatusCode::kResourceExhausted:
      return "LIMIT";
    case StatusCode::kCancelled:
      return "CANCELLED";
    case StatusCode::kDeadlineExceeded:
      return "DEADLINE";
    case StatusCode::kUnimplemented:
      return "UNSUPPORTED";
    default:
      return "INVALID";
  }
}

}  // namespace

ErrorReply ErrorOf(const Status& status) {
  ErrorReply error;
  error.code = status.code();
  error.message = ValidUtf8(StatusMessage(status), kMaxMessageBytes);
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

grpc::Status FinishStatus(const Status& status, grpc::ServerContextBase* context) {
  if (status.ok()) return grpc::Status::OK;
  const ErrorReply error = ErrorOf(status);
  v1::Error trailer;
  ToProto(error, &trailer);
  context->AddTrailingMetadata(kErrorTrailer, trailer.SerializeAsString());
  // The canonical codes are the same numbers on both sides.
  return {static_cast<grpc::StatusCode>(status.code()), error.message};
}

}  // namespace ttfd
