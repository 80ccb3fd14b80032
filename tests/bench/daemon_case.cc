// Starting the daemon for the rpc suite, and measuring it while nobody talks to it.
#include "tests/bench/daemon_case.h"

#include <algorithm>
#include <fstream>
#include <thread>

namespace ttfd::bench {
namespace {

constexpr std::chrono::seconds kStartTimeout{30};
constexpr std::chrono::milliseconds kIdleAtLeast{1000};

}  // namespace

StatusOr<std::string> DaemonUnderTest::Address() {
  const std::string socket = folder_ + "/ttfd.sock";
  const std::string address = "unix:" + socket;
  if (child_ != nullptr) return address;
  // A configuration of our own, so that the machine's does not matter.
  const std::string config = folder_ + "/ttfd.toml";
  std::ofstream(config)
      << "# every option at its default, but for the limits of one user and of its hangs\n"
         "[listen]\nconnections_per_user = 4096\n"
         "[limits]\nsessions_per_user = 4096\n"
         "[hangs]\nquarantine_hangs = 0\nfolder = \""
      << folder_ << "/hangs\"\n";
  std::vector<std::string> command = {"/usr/bin/env"};
  command.insert(command.end(), environment_.begin(), environment_.end());
  command.insert(command.end(),
                 {daemon_, "--config", config, "--socket", socket, "--device", device_});
  ASSIGN_OR_RETURN(std::unique_ptr<Child> child, Child::Start(command, folder_ + "/ttfd.log"));
  RETURN_IF_ERROR(child->WaitForSocket(socket, kStartTimeout));
  child_ = std::move(child);
  return address;
}

StatusOr<std::chrono::nanoseconds> DaemonUnderTest::CpuTime() {
  RETURN_IF_ERROR(Address().status());
  return child_->CpuTime();
}

BenchCase IdleCase(const std::shared_ptr<DaemonUnderTest>& daemon) {
  return {"daemon.idle_cpu_percent", "%",
          [daemon](std::chrono::nanoseconds budget) -> StatusOr<double> {
            using Clock = std::chrono::steady_clock;
            // A daemon that has just answered somebody is given time to fall asleep.
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            ASSIGN_OR_RETURN(const std::chrono::nanoseconds before, daemon->CpuTime());
            const Clock::time_point start = Clock::now();
            std::this_thread::sleep_for(std::max<std::chrono::nanoseconds>(budget, kIdleAtLeast));
            const Clock::duration elapsed = Clock::now() - start;
            ASSIGN_OR_RETURN(const std::chrono::nanoseconds after, daemon->CpuTime());
            return 100.0 * static_cast<double>((after - before).count()) /
                   static_cast<double>(elapsed.count());
          }};
}

}  // namespace ttfd::bench
