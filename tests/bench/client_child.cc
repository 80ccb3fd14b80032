// Both ends of the conversation with client children.
#include "tests/bench/client_child.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>

#include "firmware/kernel_elfs.h"
#include "tests/bench/input_flood.h"

namespace ttfd::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kChildTimeout{60};
// A client that pipelines is ahead of the card by one to two of these.
constexpr uint64_t kAhead = 128;
// Far less than a slice of the kernel's, far more than a look at the flag.
constexpr uint32_t kSpin = 10'000;
// About ten seconds of a trace, in the time of the embedded device.
constexpr uint32_t kLongLaunches = 8000;
constexpr uint32_t kLongCount = 600'000;

// What one thread of a child does with its session until told to stop.
struct Driver {
  std::unique_ptr<BenchSession> session;
  std::unique_ptr<InputFlood> flood;  // while it runs one
  uint64_t commands = 0;
  std::vector<int> latencies_us;
  Status status;
};

// Takes a core and nothing of the daemon's.
void Spin() {
  volatile uint32_t count = 0;
  while (count < kSpin) count = count + 1;
}

Status Prepare(const std::string& what, Driver& driver) {
  const std::vector<std::string>& floods = InputFloods();
  if (std::find(floods.begin(), floods.end(), what) == floods.end()) return OkStatus();
  ASSIGN_OR_RETURN(driver.flood, InputFlood::Prepare(what, driver.session->session()));
  return OkStatus();
}

Status DriveFlood(const std::atomic<bool>& stop, Driver& driver) {
  const StatusOr<uint64_t> commands = driver.flood->Run(stop);
  const Status finished = driver.session->Finish();
  driver.flood.reset();
  RETURN_IF_ERROR(commands.status());
  driver.commands = *commands;
  return finished;
}

Status Drive(const std::string& what, const std::atomic<bool>& stop, Driver& driver) {
  if (driver.flood != nullptr) return DriveFlood(stop, driver);
  do {  // once at least: the thread may begin after the stop
    if (what == "blocking") {
      const Clock::time_point start = Clock::now();
      RETURN_IF_ERROR(driver.session->Launch());
      const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start);
      driver.latencies_us.push_back(static_cast<int>(took.count()));
    } else if (what == "cpu") {
      Spin();
    } else if (what == "replays") {
      RETURN_IF_ERROR(driver.session->ReplayForLong());
    } else if (what == "uploads") {
      RETURN_IF_ERROR(driver.session->EnqueueUpload());
    } else if (what == "pipelined" && driver.commands % kAhead == 0) {
      RETURN_IF_ERROR(driver.session->EnqueueMarkedLaunch());
    } else {
      RETURN_IF_ERROR(driver.session->EnqueueLaunch());
    }
    ++driver.commands;
  } while (!stop.load(std::memory_order_relaxed));
  return driver.session->Finish();
}

void RunUntilStopped(const std::string& what, std::vector<Driver>& drivers) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (Driver& driver : drivers) {
    driver.commands = 0;
    driver.latencies_us.clear();
    driver.status = Prepare(what, driver);
    if (!driver.status.ok()) continue;
    threads.emplace_back([&] { driver.status = Drive(what, stop, driver); });
  }
  fmt::print("running\n");
  std::fflush(stdout);
  std::string line;
  std::getline(std::cin, line);  // "stop", or the end
  stop = true;
  for (std::thread& thread : threads) thread.join();
  uint64_t commands = 0;
  for (const Driver& driver : drivers) {
    if (!driver.status.ok()) fmt::print("error {}\n", driver.status.ToString());
    commands += driver.commands;
    if (driver.latencies_us.empty()) continue;
    fmt::print("latencies");
    for (const int latency : driver.latencies_us) fmt::print(" {}", latency);
    fmt::print("\n");
  }
  fmt::print("done {}\n", commands);
  std::fflush(stdout);
}

}  // namespace

Status ToStatus(const client::Status& status) {
  return status.ok() ? OkStatus()
                     : MakeStatus(static_cast<StatusCode>(status.code()), status.ToString());
}

StatusOr<std::unique_ptr<BenchSession>> BenchSession::Connect(const std::string& address,
                                                              const std::string& name) {
  client::Result<client::Session> session = client::Session::Connect(
      {.address = address, .client_name = name, .batch_commands = kBatchCommands});
  RETURN_IF_ERROR(ToStatus(session.status()));
  auto made = std::make_unique<BenchSession>();
  made->session_ = std::make_unique<client::Session>(std::move(*session));
  made->queue_ = made->session_->queue();
  client::Result<client::Kernel> kernel = made->session_->LoadKernel(KernelElf("empty"), "empty");
  RETURN_IF_ERROR(ToStatus(kernel.status()));
  client::ProgramBuilder builder;
  builder.AddKernel(*kernel, client::Processor::kBrisc, {client::CoreRange{0, 0, 0, 0}});
  client::Result<client::Program> program = made->session_->CreateProgram(builder);
  RETURN_IF_ERROR(ToStatus(program.status()));
  client::Result<client::Buffer> buffer =
      made->session_->AllocateDram(kUploadBytes, {.page_bytes = kUploadPageBytes});
  RETURN_IF_ERROR(ToStatus(buffer.status()));
  made->kernel_ = std::move(*kernel);
  made->program_ = std::move(*program);
  made->launch_ = client::LaunchRequest(made->program_);
  made->buffer_ = std::move(*buffer);
  made->upload_.assign(kUploadBytes, std::byte{0x5A});
  return made;
}

Status BenchSession::RecordForLong() {
  client::Result<client::Kernel> kernel = session_->LoadKernel(KernelElf("count"), "count");
  RETURN_IF_ERROR(ToStatus(kernel.status()));
  long_kernel_ = std::move(*kernel);
  client::ProgramBuilder builder;
  const uint32_t use =
      builder.AddKernel(long_kernel_, client::Processor::kBrisc, {client::CoreRange{0, 0, 0, 0}});
  client::Result<client::Program> program = session_->CreateProgram(builder);
  RETURN_IF_ERROR(ToStatus(program.status()));
  long_program_ = std::move(*program);
  client::LaunchRequest launch(long_program_);
  launch.Common(use, {kLongCount});
  RETURN_IF_ERROR(ToStatus(queue_.Launch(launch)));
  client::Result<client::Trace> trace =
      queue_.RecordTrace(std::vector<client::LaunchRequest>(kLongLaunches, launch));
  RETURN_IF_ERROR(ToStatus(trace.status()));
  long_trace_ = std::move(*trace);
  return OkStatus();
}

Status BenchSession::ReplayForLong() {
  if (!long_trace_.has_value()) RETURN_IF_ERROR(RecordForLong());
  return ToStatus(queue_.Replay(client::ReplayRequest(*long_trace_)));
}

Status BenchSession::EnqueueMarkedLaunch() {
  if (marked_.value != 0) RETURN_IF_ERROR(ToStatus(queue_.Wait(marked_)));
  const client::Result<client::Position> position = queue_.EnqueueLaunch(launch_);
  RETURN_IF_ERROR(ToStatus(position.status()));
  marked_ = *position;
  return OkStatus();
}

int RunClient(const std::vector<std::string>& words) {
  if (words.size() != 3) return 2;
  std::vector<Driver> drivers(static_cast<size_t>(std::atoi(words[2].c_str())));
  for (Driver& driver : drivers) {
    auto session = BenchSession::Connect(words[0], words[1]);
    if (!session.ok()) {
      fmt::print("error {}\n", session.status().ToString());
      return 1;
    }
    driver.session = *std::move(session);
  }
  fmt::print("ready\n");
  std::fflush(stdout);
  std::string line;
  while (std::getline(std::cin, line)) {
    if (line.starts_with("run ")) RunUntilStopped(line.substr(4), drivers);
  }
  return 0;
}

Status ClientChildren::Start(const std::string& address, size_t processes, size_t sessions) {
  if (!children_.empty()) return OkStatus();
  for (size_t i = 0; i < processes; ++i) {
    const size_t own = sessions / processes + (i < sessions % processes ? 1 : 0);
    ASSIGN_OR_RETURN(std::unique_ptr<Child> child,
                     Child::Start({program_, "--client", address, name_, std::to_string(own)},
                                  fmt::format("{}/{}-{}.log", folder_, name_, i)));
    children_.push_back(std::move(child));
  }
  for (const auto& child : children_) {
    RETURN_IF_ERROR(child->WaitForLine("ready", kChildTimeout).status());
  }
  return OkStatus();
}

Status ClientChildren::Run(const std::string& what) {
  running_since_ = Clock::now();
  for (const auto& child : children_) RETURN_IF_ERROR(child->Tell("run " + what));
  return OkStatus();
}

Status ClientChildren::WaitUntilRunning() {
  for (const auto& child : children_) {
    RETURN_IF_ERROR(child->WaitForLine("running", kChildTimeout).status());
  }
  return OkStatus();
}

StatusOr<ClientChildren::Result> ClientChildren::Stop() {
  for (const auto& child : children_) RETURN_IF_ERROR(child->Tell("stop"));
  Result result;
  for (const auto& child : children_) {
    std::vector<std::string> before;
    ASSIGN_OR_RETURN(const std::string done, child->WaitForLine("done ", kChildTimeout, &before));
    result.commands += std::stoull(done.substr(5));
    for (const std::string& line : before) {
      if (line.starts_with("error ")) return Internal("a client: {}", line.substr(6));
      std::istringstream words(line);
      std::string word;
      words >> word;
      double latency = 0;
      while (words >> latency) result.latencies_us.push_back(latency);
    }
  }
  result.seconds = std::chrono::duration<double>(Clock::now() - running_since_).count();
  std::sort(result.latencies_us.begin(), result.latencies_us.end());
  return result;
}

}  // namespace ttfd::bench
