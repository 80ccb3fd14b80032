// The conformance job with libttfd. run.py has the job and its report.
#include <chrono>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "ttfd/session.h"

namespace ttfd::client {
namespace {

nlohmann::json ReportOf(const Status& status) {
  const ErrorInfo& error = status.error();
  constexpr const char* kStates[] = {"UNSPECIFIED", "NOT_STARTED", "COMPLETED", "UNKNOWN"};
  return {{"outcome", "error"},
          {"code", CodeName(error.code)},
          {"reason", error.reason},
          {"field", error.field},
          {"limit", error.limit},
          {"limit_value", error.limit_value},
          {"limit_used", error.limit_used},
          {"hang_report", error.hang_report},
          {"retryable", error.retryable},
          {"execution_state", kStates[static_cast<int>(error.execution_state)]},
          {"message", error.message}};
}

// Bytes index & 255.
std::vector<std::byte> Pattern(size_t count) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i & 255);
  return bytes;
}

class Job {
 public:
  explicit Job(Session& session) : session_(session), queue_(session.queue()) {}

  // "ok", "wrong bytes", or the first error.
  nlohmann::json Run(bool cancel) {
    Status status = Steps();
    if (status.ok() && cancel) status = Cancel();
    if (!status.ok()) {
      const Status first = queue_.error();  // what failed the queue, not what follows from it
      return ReportOf(first.ok() ? status : first);
    }
    return {{"outcome", right_ ? "ok" : "wrong bytes"}};
  }

 private:
  template <typename T>
  bool Take(Result<T> result, T* to) {
    status_ = result.status();
    if (result.ok()) *to = *std::move(result);
    return status_.ok();
  }
  bool Check(Status status) {
    status_ = std::move(status);
    return status_.ok();
  }

  Status Steps() {
    if (!Transfers() || !Launches()) return status_;
    std::vector<std::byte> again(pattern_.size());
    if (!Check(queue_.Read(big_, 0, again))) return status_;
    right_ = right_ && again == pattern_;
    return Status();
  }

  // The error of a command that was cancelled.
  Status Cancel() {
    Position write;
    if (!Take(queue_.EnqueueWrite(big_, 0, pattern_), &write)) return status_;
    const Status cancelled = queue_.Cancel(write.value);
    return cancelled.ok() ? queue_.Wait(write) : cancelled;
  }

  bool Transfers() {
    Queue other;
    Position last;
    Position read;
    std::vector<std::byte> copy(1024);
    if (!Take(session_.AllocateDram(65536, {.page_bytes = 4096}), &big_)) return false;
    if (!Take(session_.AllocateDram(4096, {.page_bytes = 1024}), &small_)) return false;
    if (!Check(queue_.Write(big_, 0, pattern_))) return false;
    for (size_t i = 0; i < 16; ++i) {
      const std::vector<std::byte> part(64, static_cast<std::byte>(i));
      if (!Take(queue_.EnqueueWrite(small_, 64 * i, part), &last)) return false;
    }
    if (!Take(session_.OpenQueue({.kind = QueueKind::kTransfer}), &other)) return false;
    if (!Check(other.After({{last}}))) return false;
    if (!Take(other.EnqueueRead(small_, 0, copy), &read)) return false;
    for (int i = 0; i < 24; ++i) {
      if (!Take(queue_.EnqueueBarrier(), &last)) return false;
    }
    if (!Check(queue_.Finish()) || !Check(other.Wait(read))) return false;
    for (size_t i = 0; i < copy.size(); ++i) right_ = right_ && copy[i] == std::byte(i / 64);
    return true;
  }

  bool Launches() {
    Kernel kernel;
    Program program;
    if (!Take(session_.LoadKernel(std::span(pattern_).first(20480), "conformance"), &kernel)) {
      return false;
    }
    ProgramBuilder builder;
    const uint32_t index = builder.AddKernel(kernel, Processor::kBrisc, {{0, 0, 3, 0}});
    if (!Take(session_.CreateProgram(builder), &program)) return false;
    for (uint32_t i = 0; i < 8; ++i) {
      LaunchRequest launch(program);
      launch.Common(index, {0, i}).Address(index, 0, big_);
      Position position;
      if (!Take(queue_.EnqueueLaunch(launch), &position)) return false;
    }
    return Check(queue_.Finish());
  }

  Session& session_;
  Queue queue_;
  Buffer big_;
  Buffer small_;
  const std::vector<std::byte> pattern_ = Pattern(65536);
  Status status_;
  bool right_ = true;
};

// One job: "ADDRESS RECONNECT_MS [OPTION ...]". The driver's report.
nlohmann::json RunJob(const std::string& line) {
  std::istringstream words(line);
  ConnectOptions connect;
  int64_t reconnect_ms = 0;
  words >> connect.address >> reconnect_ms;
  const std::set<std::string> options{std::istream_iterator<std::string>(words), {}};
  connect.client_name = "conformance";
  connect.reconnect_timeout = std::chrono::milliseconds(reconnect_ms);
  connect.call_timeout = std::chrono::seconds(20);
  if (options.count("lease") != 0) connect.lease = LeaseOptions{.wait = std::chrono::seconds(10)};
  if (options.count("lease-token") != 0) connect.lease_token = "1ea5e0";
  Result<Session> session = Session::Connect(connect);
  if (!session.ok()) return ReportOf(session.status());
  session->OnPrint([](const KernelPrint&) {});
  const nlohmann::json report = Job(*session).Run(options.count("cancel") != 0);
  if (options.count("leave") != 0) return report;  // its destructor ends the session
  const Status closed = session->Close();
  return closed.ok() || report["outcome"] != "ok" ? report : ReportOf(closed);
}

}  // namespace
}  // namespace ttfd::client

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << ttfd::client::RunJob(line).dump() << "\n" << std::flush;
  }
  return 0;
}
