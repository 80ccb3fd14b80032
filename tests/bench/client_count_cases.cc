// Throughput and latency against the number of clients.
#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "tests/bench/bench_case.h"
#include "tests/bench/client_child.h"

namespace ttfd::bench {
namespace {

using Budget = std::chrono::nanoseconds;

constexpr size_t kCounts[] = {1, 8, 64, 512};
// More clients than this share processes: what is measured is the daemon, not the machine's process switches.
constexpr size_t kProcesses = 8;

class Clients {
 public:
  Clients(const std::string& program, const std::string& folder, AddressFunction address,
          size_t count)
      : address_(std::move(address)),
        count_(count),
        children_(program, folder, "bench-" + std::to_string(count)) {}

  // All of them have some launches under way all the time.
  StatusOr<double> LaunchesPerSecond(Budget budget) {
    ASSIGN_OR_RETURN(const ClientChildren::Result result, Run("pipelined", budget));
    return static_cast<double>(result.commands) / result.seconds;
  }

  // All of them launch and wait, again and again. One run for both figures.
  StatusOr<double> Latency(double part, Budget budget) {
    if (!latencies_.contains(part)) {
      ASSIGN_OR_RETURN(const ClientChildren::Result result, Run("blocking", budget));
      const std::vector<double>& sorted = result.latencies_us;
      if (sorted.empty()) return Internal("no launch ended");
      for (const double wanted : {0.5, 0.99}) {
        latencies_[wanted] =
            sorted[static_cast<size_t>(wanted * static_cast<double>(sorted.size() - 1))];
      }
    }
    return latencies_.extract(part).mapped();
  }

 private:
  StatusOr<ClientChildren::Result> Run(const std::string& what, Budget budget) {
    ASSIGN_OR_RETURN(const std::string address, address_());
    RETURN_IF_ERROR(children_.Start(address, std::min(count_, kProcesses), count_));
    RETURN_IF_ERROR(children_.Run(what));
    std::this_thread::sleep_for(budget);
    return children_.Stop();
  }

  const AddressFunction address_;
  const size_t count_;
  ClientChildren children_;
  std::map<double, double> latencies_;
};

}  // namespace

std::vector<BenchCase> ClientCountCases(const std::string& program, const std::string& folder,
                                        AddressFunction address) {
  std::vector<BenchCase> cases;
  for (const size_t count : kCounts) {
    const auto clients = std::make_shared<Clients>(program, folder, address, count);
    const std::string number = std::to_string(count);
    cases.push_back({"rpc.launches_per_s_" + number, "1/s",
                     [clients](Budget budget) { return clients->LaunchesPerSecond(budget); }});
    cases.push_back({"rpc.launch_p50_us_" + number, "us",
                     [clients](Budget budget) { return clients->Latency(0.5, budget); }});
    cases.push_back({"rpc.launch_p99_us_" + number, "us",
                     [clients](Budget budget) { return clients->Latency(0.99, budget); }});
  }
  return cases;
}

}  // namespace ttfd::bench
