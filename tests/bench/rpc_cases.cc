// What a client in another process gets from the daemon, through libttfd as users use it.
#include "tests/bench/rpc_cases.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "firmware/kernel_elfs.h"
#include "tests/bench/bench_case.h"
#include "tests/bench/client_child.h"
#include "ttfd/session.h"

namespace ttfd::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr uint64_t kUploadBytes = 8 << 20;
// Commands between two looks at the clock.
constexpr int kCommandsPerRound = 16 * kBatchCommands;

// One session with an empty kernel on the first worker tile, shared by the samples.
class RpcClient {
 public:
  explicit RpcClient(AddressFunction address) : address_(std::move(address)) {}

  Status Prepare() {
    if (session_ != nullptr) {
      return OkStatus();
    }
    ASSIGN_OR_RETURN(const std::string address, address_());
    client::Result<client::Session> session = client::Session::Connect(
        {.address = address, .client_name = "bench", .batch_commands = kBatchCommands});
    RETURN_IF_ERROR(ToStatus(session.status()));
    session_ = std::make_unique<client::Session>(std::move(*session));
    queue_ = session_->queue();
    client::Result<client::Kernel> kernel = session_->LoadKernel(KernelElf("empty"), "empty");
    RETURN_IF_ERROR(ToStatus(kernel.status()));
    client::ProgramBuilder builder;
    builder.AddKernel(*kernel, client::Processor::kBrisc, {client::CoreRange{0, 0, 0, 0}});
    client::Result<client::Program> program = session_->CreateProgram(builder);
    RETURN_IF_ERROR(ToStatus(program.status()));
    kernel_ = std::move(*kernel);
    program_ = std::move(*program);
    launch_ = client::LaunchRequest(program_);
    client::Result<client::Buffer> buffer =
        session_->AllocateDram(kUploadBytes, {.page_bytes = kUploadPageBytes});
    RETURN_IF_ERROR(ToStatus(buffer.status()));
    buffer_ = std::move(*buffer);
    upload_.assign(kUploadBytes, std::byte{0x5A});
    return OkStatus();
  }

  Status BlockingLaunch() {
    RETURN_IF_ERROR(Prepare());
    return ToStatus(queue_.Launch(launch_));
  }

  // `enqueue` sends one command; the rate includes waiting for the last one.
  template <typename Enqueue>
  StatusOr<double> PerSecond(std::chrono::nanoseconds budget, Enqueue enqueue) {
    RETURN_IF_ERROR(Prepare());
    uint64_t commands = 0;
    const SteadyClock::time_point start = SteadyClock::now();
    while (commands == 0 || SteadyClock::now() - start < budget) {
      for (int i = 0; i < kCommandsPerRound; ++i) {
        RETURN_IF_ERROR(ToStatus(enqueue().status()));
      }
      commands += kCommandsPerRound;
    }
    RETURN_IF_ERROR(ToStatus(queue_.Finish()));
    return static_cast<double>(commands) / Seconds(SteadyClock::now() - start).count();
  }

  StatusOr<double> BarriersPerSecond(std::chrono::nanoseconds budget) {
    return PerSecond(budget, [this] { return queue_.EnqueueBarrier(); });
  }

  StatusOr<double> LaunchesPerSecond(std::chrono::nanoseconds budget) {
    return PerSecond(budget, [this] { return queue_.EnqueueLaunch(launch_); });
  }

  StatusOr<double> UploadMegabytesPerSecond(std::chrono::nanoseconds budget) {
    RETURN_IF_ERROR(Prepare());
    uint64_t bytes = 0;
    const SteadyClock::time_point start = SteadyClock::now();
    while (bytes == 0 || SteadyClock::now() - start < budget) {
      RETURN_IF_ERROR(ToStatus(queue_.EnqueueWrite(buffer_, 0, upload_).status()));
      bytes += upload_.size();
    }
    RETURN_IF_ERROR(ToStatus(queue_.Finish()));
    return static_cast<double>(bytes) / 1e6 / Seconds(SteadyClock::now() - start).count();
  }

 private:
  const AddressFunction address_;
  std::unique_ptr<client::Session> session_;
  client::Queue queue_;
  client::Kernel kernel_;
  client::Program program_;
  client::LaunchRequest launch_;
  client::Buffer buffer_;
  std::vector<std::byte> upload_;
};

}  // namespace

Exchange BlockingLaunch(AddressFunction address, std::function<pid_t()> daemon) {
  const auto client = std::make_shared<RpcClient>(std::move(address));
  return {[client] { return client->BlockingLaunch(); }, std::move(daemon)};
}

std::vector<BenchCase> RpcCases(AddressFunction address) {
  const auto client = std::make_shared<RpcClient>(std::move(address));
  using Budget = std::chrono::nanoseconds;
  return {
      {"rpc.batched_cmds_per_s", "1/s",
       [client](Budget b) { return client->BarriersPerSecond(b); }},
      {"rpc.launches_per_s", "1/s", [client](Budget b) { return client->LaunchesPerSecond(b); }},
      {"rpc.upload_mb_s", "MB/s",
       [client](Budget b) { return client->UploadMegabytesPerSecond(b); }},
  };
}

}  // namespace ttfd::bench
