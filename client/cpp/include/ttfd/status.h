// How libttfd reports errors: Status and Result<T>. The library throws no exceptions.
//
//   #include <ttfd/session.h>
//
//   #include <iostream>
//
//   int main() {
//     const auto session = ttfd::client::Session::Connect();
//     if (!session.ok()) {
//       std::cerr << session.status().ToString() << "\n";
//       return 1;
//     }
//     std::cout << "session " << session->id() << "\n";
//   }
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace ttfd::client {

// The canonical status codes of gRPC, by their numbers.
enum class Code : int {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

// "INVALID_ARGUMENT" and so on; "CODE_99" for a number without a name.
std::string CodeName(Code code);

// A point on the timeline of a queue: the command with this value, or everything up to it.
struct Position {
  uint32_t queue = 0;
  uint64_t value = 0;
  bool operator==(const Position&) const = default;
};

// Effect of a command that failed.
enum class ExecutionState : uint8_t {
  kUnspecified = 0,  // the error is not that of a command
  kNotStarted = 1,   // nothing of it took effect
  kCompleted = 2,    // it ran to its end; its result is lost, or it did damage
  kUnknown = 3,      // it had started; some, all or none of it took effect
};

// "not started", "completed", "unknown"; "" for kUnspecified.
const char* ExecutionStateName(ExecutionState state);

// The fields of an error. Fields that do not apply are empty or 0.
struct ErrorInfo {
  Code code = Code::kUnknown;
  // One sentence: what was wrong, the value, the limit or rule, what to do.
  std::string message = {};
  // Stable, for programs: INVALID, LIMIT, UNKNOWN_HANDLE, ... (docs/api.md). The library's own:
  // WAIT, UNREACHABLE, CONNECTION_LOST.
  std::string reason = {};
  // The offending field of the request, such as "write.offset".
  std::string field = {};
  // The first cause, if this error follows from another.
  Position cause = {};
  // RESOURCE_EXHAUSTED: name of the limit that was met, its value, and how much of it was in use.
  std::string limit = {};
  uint64_t limit_value = 0;
  uint64_t limit_used = 0;
  // Id of the report that explains a hang.
  std::string hang_report = {};
  // The same command or call may succeed if it is sent again.
  bool retryable = false;
  // States whether a command that failed took effect.
  ExecutionState execution_state = ExecutionState::kUnspecified;
};

// OK, or an error. Copying is cheap; an OK status owns nothing.
class [[nodiscard]] Status {
 public:
  Status() = default;  // OK
  explicit Status(ErrorInfo error);
  Status(Code code, std::string message);

  bool ok() const { return error_ == nullptr; }
  Code code() const { return error_ ? error_->code : Code::kOk; }
  const std::string& message() const { return error().message; }
  const std::string& reason() const { return error().reason; }
  bool retryable() const { return error().retryable; }
  ExecutionState execution_state() const { return error().execution_state; }
  // All fields; of an OK status, all empty.
  const ErrorInfo& error() const;

  // "OK", or "INVALID_ARGUMENT: write.offset 3 is not a multiple of 4 [INVALID, field
  // write.offset, execution: not started]".
  std::string ToString() const;

 private:
  std::shared_ptr<const ErrorInfo> error_;
};

// A value, or the error because of which there is none. Using the value of a failed result is a
// programming error and ends the process.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: implicit like a return value
  Result(T value) : value_(std::in_place, std::move(value)) {}  // NOLINT

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return *std::move(value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace ttfd::client
