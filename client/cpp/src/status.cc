// Status: names of the codes, and the one-line text.
#include "ttfd/status.h"

#include <array>

namespace ttfd::client {
namespace {

constexpr std::array<std::string_view, 17> kCodeNames = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

void AppendPart(std::string* text, std::string_view part) {
  *text += text->empty() ? "" : ", ";
  *text += part;
}

}  // namespace

std::string CodeName(Code code) {
  const auto number = static_cast<size_t>(code);
  if (number < kCodeNames.size()) {
    return std::string(kCodeNames[number]);
  }
  return "CODE_" + std::to_string(static_cast<int>(code));
}

Status::Status(ErrorInfo error) {
  if (error.code != Code::kOk) {
    error_ = std::make_shared<const ErrorInfo>(std::move(error));
  }
}

Status::Status(Code code, std::string message)
    : Status(ErrorInfo{.code = code, .message = std::move(message)}) {}

const ErrorInfo& Status::error() const {
  static const ErrorInfo& none = *new ErrorInfo{.code = Code::kOk};
  return error_ ? *error_ : none;
}

std::string Status::ToString() const {
  if (ok()) {
    return "OK";
  }
  std::string details;
  if (!error_->reason.empty()) {
    AppendPart(&details, error_->reason);
  }
  if (!error_->field.empty()) {
    AppendPart(&details, "field " + error_->field);
  }
  if (!error_->limit.empty()) {
    AppendPart(&details, "limit " + error_->limit + " = " + std::to_string(error_->limit_value) +
                             ", " + std::to_string(error_->limit_used) + " used");
  }
  if (error_->cause.value != 0) {
    AppendPart(&details, "caused by command " + std::to_string(error_->cause.value) + " of queue " +
                             std::to_string(error_->cause.queue));
  }
  if (!error_->hang_report.empty()) {
    AppendPart(&details, "hang report " + error_->hang_report);
  }
  if (error_->execution_state != ExecutionState::kUnspecified) {
    AppendPart(&details, std::string("execution: ") + ExecutionStateName(error_->execution_state));
  }
  if (error_->retryable) {
    AppendPart(&details, "retryable");
  }
  std::string text = CodeName(error_->code) + ": " + error_->message;
  if (!details.empty()) {
    text += " [" + details + "]";
  }
  return text;
}

}  // namespace ttfd::client
