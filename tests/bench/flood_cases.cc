// Waits of a client that wants little next to seven that flood the daemon with input (tests/bench/input_flood.h).
#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "tests/bench/bench_case.h"
#include "tests/bench/client_child.h"
#include "tests/bench/input_flood.h"
#include "tests/bench/light_client.h"

namespace ttfd::bench {
namespace {

constexpr char kInputFlooder[] = "bench-input";
constexpr char kGreatestOfFloods[] = "share.light_wait_p99_floods_us";

std::string WaitNextTo(const std::string& flood) { return "share.light_wait_p99_" + flood + "_us"; }

class FloodBench {
 public:
  FloodBench(const std::string& program, const std::string& folder, AddressFunction address)
      : address_(std::move(address)), flooders_(program, folder, kInputFlooder) {}

  // Each figure takes its part of what a round measured once.
  StatusOr<double> Take(const std::string& figure, std::chrono::nanoseconds budget) {
    if (!taken_.contains(figure)) {
      const Status measured = Measure(budget);
      flooders_.End();
      RETURN_IF_ERROR(measured);
    }
    return taken_.extract(figure).mapped();
  }

 private:
  Status Measure(std::chrono::nanoseconds budget) {
    ASSIGN_OR_RETURN(const std::string address, address_());
    taken_.clear();
    double greatest = 0;
    for (const std::string& flood : InputFloods()) {
      RETURN_IF_ERROR(flooders_.Start(address, kFloodingClients, kFloodingClients));
      RETURN_IF_ERROR(flooders_.Run(flood));
      RETURN_IF_ERROR(flooders_.WaitUntilRunning());
      std::this_thread::sleep_for(kFloodWarmUp);
      const StatusOr<LightResult> light = RunLightClient(address, kInputFlooder, budget);
      // An error of a client that floods comes first: the light one may have failed for the same reason.
      RETURN_IF_ERROR(flooders_.Stop().status());
      RETURN_IF_ERROR(light.status());
      taken_[WaitNextTo(flood)] = light->wait_p99_us;
      greatest = std::max(greatest, light->wait_p99_us);
    }
    taken_[kGreatestOfFloods] = greatest;
    return OkStatus();
  }

  const AddressFunction address_;
  ClientChildren flooders_;
  std::map<std::string, double> taken_;
};

}  // namespace

std::vector<BenchCase> FloodCases(const std::string& program, const std::string& folder,
                                  AddressFunction address) {
  const auto bench = std::make_shared<FloodBench>(program, folder, std::move(address));
  std::vector<std::string> figures = {kGreatestOfFloods};
  for (const std::string& flood : InputFloods()) figures.push_back(WaitNextTo(flood));
  std::vector<BenchCase> cases;
  for (const std::string& figure : figures) {
    cases.push_back({figure, "us", [bench, figure](std::chrono::nanoseconds budget) {
                       return bench->Take(figure, budget);
                     }});
  }
  return cases;
}

}  // namespace ttfd::bench
