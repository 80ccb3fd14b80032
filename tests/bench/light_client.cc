// Runs the client that wants little.
#include "tests/bench/light_client.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "tests/bench/client_child.h"
#include "ttfd/admin.h"

namespace ttfd::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Pause between two launches.
constexpr std::chrono::microseconds kPause{500};
// The wait of 1 % of the launches is one of at least two.
constexpr size_t kLeastLaunches = 200;
constexpr int kLightBudgets = 5;
// A shorter budget is that of a warm-up or a smoke run, which keep no figures and take fewer launches.
constexpr std::chrono::milliseconds kLeastBudget{50};
constexpr size_t kFewLaunches = 20;

}  // namespace

StatusOr<LightResult> RunLightClient(const std::string& address, const std::string& flooders,
                                     std::chrono::nanoseconds budget) {
  ASSIGN_OR_RETURN(const auto session, BenchSession::Connect(address, "bench-light"));
  std::vector<double> times;
  const size_t least = budget < kLeastBudget ? kFewLaunches : kLeastLaunches;
  const Clock::time_point start = Clock::now();
  while (times.size() < least || Clock::now() - start < kLightBudgets * budget) {
    const Clock::time_point before = Clock::now();
    RETURN_IF_ERROR(session->Launch());
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - before).count());
    std::this_thread::sleep_for(kPause);
  }
  std::nth_element(times.begin(), times.begin() + static_cast<ptrdiff_t>(times.size() / 2),
                   times.end());
  LightResult result;
  result.latency_p50_us = times[times.size() / 2];
  const auto sessions = client::Admin::Connect(address).ListSessions();
  RETURN_IF_ERROR(ToStatus(sessions.status()));
  for (const client::SessionInfo& info : *sessions) {
    if (info.session == session->id()) {
      result.wait_p50_us = static_cast<double>(info.waits.p50_ns) / 1e3;
      result.wait_p99_us = static_cast<double>(info.waits.p99_ns) / 1e3;
    } else if (info.client_name == flooders) {
      result.longest_work_us =
          std::max(result.longest_work_us, static_cast<double>(info.longest_operation_ns) / 1e3);
    }
  }
  return result;
}

}  // namespace ttfd::bench
