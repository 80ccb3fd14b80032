// The daemon under test as a child process, started when a case first needs it, and what an idle one costs.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/bench_case.h"
#include "tests/bench/child.h"

namespace ttfd::bench {

class DaemonUnderTest {
 public:
  // `daemon` is the path of ttfd; socket, configuration and log go to `folder`. `environment`: "NAME=VALUE" besides
  // that of the benchmark.
  DaemonUnderTest(std::string daemon, std::string folder, std::vector<std::string> environment = {},
                  std::string device = "sim:board=p150")
      : daemon_(std::move(daemon)),
        folder_(std::move(folder)),
        environment_(std::move(environment)),
        device_(std::move(device)) {}

  // Starts the daemon on the first call. Always the same "unix:" address.
  StatusOr<std::string> Address();

  // Its process. After the first call of Address.
  pid_t pid() const { return child_->pid(); }
  // Starts the daemon too, if it does not run.
  StatusOr<std::chrono::nanoseconds> CpuTime();

 private:
  const std::string daemon_;
  const std::string folder_;
  const std::vector<std::string> environment_;
  const std::string device_;
  std::unique_ptr<Child> child_;
};

// daemon.idle_cpu_percent: of one core, over at least a second.
BenchCase IdleCase(const std::shared_ptr<DaemonUnderTest>& daemon);

}  // namespace ttfd::bench
