// Clients of the daemon as child processes of the benchmark: ttfd_bench started again with --client.
//
// A child opens its sessions, says "ready", and then does what it is told, one line at a time, until "stop"; then it
// says what came of it. "run launches": empty launches as fast as they are taken; "run pipelined": the same, but never
// far ahead of the card; "run uploads": the same as the first with writes; "run cpu": nothing but computing; "run
// blocking": one launch after the other, each waited for; "run replays": a trace of about ten seconds, again and again,
// of launches of about a millisecond; "run NAME" of a flood of input (input_flood.h). It says "running" when nothing
// is left to prepare. It ends with its standard input.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "tests/bench/child.h"
#include "ttfd/session.h"

namespace ttfd::bench {

inline constexpr uint32_t kUploadPageBytes = 4096;
inline constexpr uint32_t kBatchCommands = 64;

Status ToStatus(const client::Status& status);

// A session with an empty kernel on the first worker tile and a buffer.
class BenchSession {
 public:
  static constexpr uint64_t kUploadBytes = 1 << 20;  // of one upload

  static StatusOr<std::unique_ptr<BenchSession>> Connect(const std::string& address,
                                                         const std::string& name);
  Status Launch() { return ToStatus(queue_.Launch(launch_)); }
  Status EnqueueLaunch() { return ToStatus(queue_.EnqueueLaunch(launch_).status()); }
  // Waits first for the end of the launch that was marked before.
  Status EnqueueMarkedLaunch();
  Status ReplayForLong();
  Status EnqueueUpload() { return ToStatus(queue_.EnqueueWrite(buffer_, 0, upload_).status()); }
  Status Finish() { return ToStatus(queue_.Finish()); }
  uint64_t id() const { return session_->id(); }
  client::Session& session() { return *session_; }

 private:
  Status RecordForLong();

  std::unique_ptr<client::Session> session_;
  client::Queue queue_;
  client::Kernel kernel_;
  client::Program program_;
  client::LaunchRequest launch_;
  client::Position marked_;
  client::Kernel long_kernel_;
  client::Program long_program_;
  std::optional<client::Trace> long_trace_;
  client::Buffer buffer_;
  std::vector<std::byte> upload_;
};

// The child's main: ADDRESS, name of its sessions, their number.
int RunClient(const std::vector<std::string>& words);

// Several such children, told and asked together.
class ClientChildren {
 public:
  // `program` is ttfd_bench itself; logs go to `folder`.
  ClientChildren(std::string program, std::string folder, std::string name)
      : program_(std::move(program)), folder_(std::move(folder)), name_(std::move(name)) {}

  // Starts `processes` children with `sessions` sessions in all, unless they run.
  Status Start(const std::string& address, size_t processes, size_t sessions);
  Status Run(const std::string& what);
  // Waits until all have prepared what they run.
  Status WaitUntilRunning();
  struct Result {
    uint64_t commands = 0;
    double seconds = 0;                // from "run" until the last had ended
    std::vector<double> latencies_us;  // ascending; of "blocking"
  };
  StatusOr<Result> Stop();
  bool started() const { return !children_.empty(); }
  void End() { children_.clear(); }

 private:
  const std::string program_;
  const std::string folder_;
  const std::string name_;
  std::vector<std::unique_ptr<Child>> children_;
  std::chrono::steady_clock::time_point running_since_;
};

}  // namespace ttfd::bench
