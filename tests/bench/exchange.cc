// Times of exchanges.
#include "tests/bench/exchange.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <vector>

namespace ttfd::bench {
namespace {

using Clock = std::chrono::steady_clock;

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

StatusOr<double> Microseconds(const Exchange& exchange) {
  const Clock::time_point start = Clock::now();
  RETURN_IF_ERROR(exchange.run());
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

StatusOr<cpu_set_t> Processors() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return Internal("sched_getaffinity");
  return allowed;
}

cpu_set_t Only(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  return set;
}

// Threads that are created meanwhile have the processors of the one that creates them.
Status Move(pid_t process, const cpu_set_t& to) {
  std::error_code error;
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks, error)) {
    const pid_t thread = std::stoi(task.path().filename().string());
    if (sched_setaffinity(thread, sizeof(to), &to) != 0 && errno != ESRCH) {
      return Internal("sched_setaffinity");
    }
  }
  return error ? Internal("cannot list the threads of a process") : OkStatus();
}

// The benchmark and servers on processors of their own, while it lives.
class Pinned {
 public:
  static StatusOr<std::unique_ptr<Pinned>> Pin(std::vector<pid_t> servers) {
    ASSIGN_OR_RETURN(const cpu_set_t allowed, Processors());
    std::vector<int> processors;
    for (int i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &allowed)) processors.push_back(i);
    }
    auto pinned = std::make_unique<Pinned>(std::move(servers), allowed);
    RETURN_IF_ERROR(Move(getpid(), Only(processors.front())));
    for (const pid_t server : pinned->servers_) {
      RETURN_IF_ERROR(Move(server, Only(processors.back())));
    }
    return pinned;
  }
  Pinned(std::vector<pid_t> servers, const cpu_set_t& allowed)
      : servers_(std::move(servers)), allowed_(allowed) {}
  ~Pinned() {
    Move(getpid(), allowed_).IgnoreError();
    for (const pid_t server : servers_) Move(server, allowed_).IgnoreError();
  }

 private:
  const std::vector<pid_t> servers_;
  const cpu_set_t allowed_;
};

}  // namespace

BenchCase ExchangeCase(const std::string& name, const Exchange& exchange) {
  return {name, "us", [exchange](std::chrono::nanoseconds budget) -> StatusOr<double> {
            RETURN_IF_ERROR(exchange.run());
            std::vector<double> times;
            for (const auto start = Clock::now(); times.empty() || Clock::now() - start < budget;) {
              ASSIGN_OR_RETURN(const double time, Microseconds(exchange));
              times.push_back(time);
            }
            return Median(std::move(times));
          }};
}

BenchCase QuotientCase(const std::string& name, const Exchange& upper, const Exchange& lower,
                       bool pinned) {
  return {name, "x", [=](std::chrono::nanoseconds budget) -> StatusOr<double> {
            RETURN_IF_ERROR(upper.run());
            RETURN_IF_ERROR(lower.run());
            std::unique_ptr<Pinned> pin;
            if (pinned) {
              ASSIGN_OR_RETURN(pin, Pinned::Pin({upper.server(), lower.server()}));
            }
            std::vector<double> uppers, lowers;
            for (const auto start = Clock::now();
                 uppers.empty() || Clock::now() - start < budget;) {
              ASSIGN_OR_RETURN(const double low, Microseconds(lower));
              ASSIGN_OR_RETURN(const double up, Microseconds(upper));
              lowers.push_back(low);
              uppers.push_back(up);
            }
            return Median(std::move(uppers)) / Median(std::move(lowers));
          }};
}

}  // namespace ttfd::bench
