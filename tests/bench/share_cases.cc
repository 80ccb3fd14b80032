// How sessions share the card: shares of equal clients, and what a client that wants little feels of seven that want
// everything.
#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "tests/bench/bench_case.h"
#include "tests/bench/client_child.h"
#include "tests/bench/light_client.h"
#include "ttfd/admin.h"

namespace ttfd::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Budget = std::chrono::nanoseconds;

constexpr size_t kEqualClients = 8;
constexpr char kFlooder[] = "bench-flood";
constexpr int kBudgets = 5;
// The longest window: it ends when some client got something, on a busy machine later than usual.
constexpr std::chrono::seconds kLongestWindow{20};

class ShareBench {
 public:
  ShareBench(std::string program, std::string folder, AddressFunction address)
      : address_(std::move(address)),
        equal_(program, folder, "bench-equal"),
        flood_(program, folder, kFlooder),
        replay_(program, folder, "bench-replay") {}

  StatusOr<double> QuantumMicroseconds() {
    ASSIGN_OR_RETURN(const std::string address, address_());
    const auto status = client::Admin::Connect(address).GetStatus();
    RETURN_IF_ERROR(ToStatus(status.status()));
    return static_cast<double>(status->quantum_ns) / 1e3;
  }

  // Of the launches that each of eight clients got done, which all wanted as many as they could get.
  StatusOr<double> Jain(Budget budget) {
    ASSIGN_OR_RETURN(const std::string address, address_());
    RETURN_IF_ERROR(equal_.Start(address, kEqualClients, kEqualClients));
    RETURN_IF_ERROR(equal_.Run("launches"));
    std::this_thread::sleep_for(kFloodWarmUp);
    ASSIGN_OR_RETURN(const auto before, LaunchesOf("bench-equal"));
    const Clock::time_point start = Clock::now();
    std::map<uint64_t, uint64_t> after;
    double sum = 0;
    double squares = 0;
    do {
      std::this_thread::sleep_for(kBudgets * budget);
      ASSIGN_OR_RETURN(after, LaunchesOf("bench-equal"));
      for (const auto& [session, launches] : after) {
        const auto got = static_cast<double>(launches - before.at(session));
        sum += got;
        squares += got * got;
      }
    } while (squares == 0 && Clock::now() - start < kLongestWindow);
    RETURN_IF_ERROR(equal_.Stop().status());
    if (after.size() != kEqualClients || squares == 0) return Internal("{} clients", after.size());
    return sum * sum / (static_cast<double>(kEqualClients) * squares);
  }

  // What a round measured goes to several figures, each of which takes its part of it once.
  StatusOr<double> Take(const std::string& figure, Budget budget) {
    if (!taken_.contains(figure)) RETURN_IF_ERROR(MeasureLight(budget));
    return taken_.extract(figure).mapped();
  }

 private:
  StatusOr<std::map<uint64_t, uint64_t>> LaunchesOf(const std::string& name) {
    std::map<uint64_t, uint64_t> launches;
    ASSIGN_OR_RETURN(const std::string address, address_());
    const auto sessions = client::Admin::Connect(address).ListSessions();
    RETURN_IF_ERROR(ToStatus(sessions.status()));
    for (const client::SessionInfo& session : *sessions) {
      if (session.client_name == name) launches[session.session] = session.launches;
    }
    return launches;
  }

  Status MeasureLight(Budget budget) {
    ASSIGN_OR_RETURN(const std::string address, address_());
    taken_.clear();
    longest_work_us_ = 0;
    ASSIGN_OR_RETURN(const LightResult alone, Light(address, budget));
    taken_["share.light_alone_us"] = alone.latency_p50_us;
    double wait = 0;
    double ratio = 0;
    // Beside processes that leave the daemon alone: what the machine itself does to a client that wants little.
    for (const std::string what : {"launches", "uploads", "cpu"}) {
      RETURN_IF_ERROR(flood_.Start(address, kFloodingClients, kFloodingClients));
      RETURN_IF_ERROR(flood_.Run(what));
      std::this_thread::sleep_for(kFloodWarmUp);
      const StatusOr<LightResult> beside = Light(address, budget);
      ASSIGN_OR_RETURN(const ClientChildren::Result flooded, flood_.Stop());
      RETURN_IF_ERROR(beside.status());
      const double times = beside->latency_p50_us / alone.latency_p50_us;
      taken_["share.light_wait_p99_" + what + "_us"] = beside->wait_p99_us;
      taken_["share.light_wait_p50_" + what + "_us"] = beside->wait_p50_us;
      taken_["share.light_p50_" + what + "_ratio"] = times;
      if (what == "uploads") {
        taken_["share.uploads_mb_s"] =
            static_cast<double>(flooded.commands * BenchSession::kUploadBytes) / 1e6 /
            flooded.seconds;
      }
      if (what == "cpu") continue;
      wait = std::max(wait, beside->wait_p99_us);
      ratio = std::max(ratio, times);
    }
    // It ends with its process, not with its replay.
    RETURN_IF_ERROR(replay_.Start(address, 1, 1));
    RETURN_IF_ERROR(replay_.Run("replays"));
    std::this_thread::sleep_for(kFloodWarmUp);
    const StatusOr<LightResult> during_replay = Light(address, budget);
    replay_.End();
    RETURN_IF_ERROR(during_replay.status());
    taken_["share.light_wait_p99_replay_us"] = during_replay->wait_p99_us;
    taken_["share.light_wait_p99_us"] = wait;
    taken_["share.light_p50_ratio"] = ratio;
    taken_["share.longest_work_us"] = longest_work_us_;
    // Their sessions' longest work is of their whole life: the next round has new ones.
    flood_.End();
    return OkStatus();
  }

  StatusOr<LightResult> Light(const std::string& address, Budget budget) {
    ASSIGN_OR_RETURN(const LightResult light, RunLightClient(address, kFlooder, budget));
    longest_work_us_ = std::max(longest_work_us_, light.longest_work_us);
    return light;
  }

  const AddressFunction address_;
  ClientChildren equal_;
  ClientChildren flood_;
  ClientChildren replay_;
  std::map<std::string, double> taken_;
  double longest_work_us_ = 0;
};

}  // namespace

std::vector<BenchCase> ShareCases(const std::string& program, const std::string& folder,
                                  AddressFunction address) {
  const auto bench = std::make_shared<ShareBench>(program, folder, std::move(address));
  std::vector<BenchCase> cases = {
      {"share.quantum_us", "us", [bench](Budget) { return bench->QuantumMicroseconds(); }},
      {"share.jain_8", "", [bench](Budget budget) { return bench->Jain(budget); }},
  };
  for (const auto& [name, unit] : {std::pair("share.light_wait_p99_us", "us"),
                                   {"share.light_wait_p99_launches_us", "us"},
                                   {"share.light_wait_p99_uploads_us", "us"},
                                   {"share.light_wait_p99_replay_us", "us"},
                                   {"share.light_wait_p50_launches_us", "us"},
                                   {"share.light_wait_p50_uploads_us", "us"},
                                   {"share.light_wait_p99_cpu_us", "us"},
                                   {"share.light_wait_p50_cpu_us", "us"},
                                   {"share.longest_work_us", "us"},
                                   {"share.light_p50_ratio", "x"},
                                   {"share.light_p50_launches_ratio", "x"},
                                   {"share.light_p50_uploads_ratio", "x"},
                                   {"share.light_p50_cpu_ratio", "x"},
                                   {"share.uploads_mb_s", "MB/s"},
                                   {"share.light_alone_us", "us"}}) {
    cases.push_back({name, unit, [bench, figure = std::string(name)](Budget budget) {
                       return bench->Take(figure, budget);
                     }});
  }
  return cases;
}

}  // namespace ttfd::bench
