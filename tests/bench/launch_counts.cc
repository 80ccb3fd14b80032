// Reads the kernel's counts of switches, and the counter of locks.
#include "tests/bench/launch_counts.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>

#include "tests/bench/daemon_case.h"
#include "tests/bench/rpc_cases.h"

namespace ttfd::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Count = std::function<StatusOr<uint64_t>()>;

// Sleeps of all threads of the process, which end with a wake-up.
StatusOr<uint64_t> Sleeps(pid_t process) {
  constexpr std::string_view kField = "voluntary_ctxt_switches:";
  uint64_t sleeps = 0;
  std::error_code error;
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks, error)) {
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with(kField)) sleeps += std::stoull(line.substr(kField.size()));
    }
  }
  if (error) return Internal("cannot list the threads of a process");
  return sleeps;
}

StatusOr<uint64_t> ReadCount(const std::string& path) {
  uint64_t count = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(&count), sizeof(count))) {
    return Internal("{}: no count", path);
  }
  return count;
}

StatusOr<double> CountEach(const Exchange& exchange, const Count& count,
                           std::chrono::nanoseconds budget) {
  RETURN_IF_ERROR(exchange.run());
  ASSIGN_OR_RETURN(const uint64_t before, count());
  uint64_t exchanges = 0;
  for (const auto start = SteadyClock::now(); exchanges == 0 || SteadyClock::now() - start < budget;
       ++exchanges) {
    RETURN_IF_ERROR(exchange.run());
  }
  ASSIGN_OR_RETURN(const uint64_t after, count());
  return static_cast<double>(after - before) / static_cast<double>(exchanges);
}

}  // namespace

BenchCase WakeupsCase(const Exchange& launch) {
  return {"rpc.wakeups_per_launch", "", [launch](std::chrono::nanoseconds budget) {
            return CountEach(
                launch, [&launch] { return Sleeps(launch.server()); }, budget);
          }};
}

BenchCase LocksCase(const std::string& daemon, const std::string& counter,
                    const std::string& folder) {
  const std::string file = folder + "/locks";
  const auto counted = std::make_shared<DaemonUnderTest>(
      daemon, folder, std::vector<std::string>{"LD_PRELOAD=" + counter, "TTFD_LOCK_COUNT=" + file});
  const auto address = [=]() -> StatusOr<std::string> {
    std::filesystem::create_directories(folder);
    if (!std::filesystem::exists(file)) std::ofstream(file) << std::string(sizeof(uint64_t), '\0');
    return counted->Address();
  };
  const Exchange launch = BlockingLaunch(address, [counted] { return counted->pid(); });
  return {"rpc.locks_per_launch", "", [launch, file](std::chrono::nanoseconds budget) {
            return CountEach(
                launch, [&file] { return ReadCount(file); }, budget);
          }};
}

}  // namespace ttfd::bench
