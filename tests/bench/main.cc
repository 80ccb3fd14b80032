// ttfd_bench: runs the benchmark cases, prints the table and writes JSON. docs/benchmarks.md explains the figures.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/bare_stream_case.h"
#include "tests/bench/bench_case.h"
#include "tests/bench/calibration.h"
#include "tests/bench/child.h"
#include "tests/bench/client_child.h"
#include "tests/bench/daemon_case.h"
#include "tests/bench/exchange.h"
#include "tests/bench/figure.h"
#include "tests/bench/firmware_costs.h"
#include "tests/bench/launch_counts.h"
#include "tests/bench/rpc_cases.h"
#include "tests/support/test_device.h"

namespace ttfd::bench {
namespace {

constexpr char kUsage[] =
    "usage: ttfd_bench --daemon TTFD [--json FILE] [--history FILE] [--rounds N] [--smoke] "
    "[FILTER]\n"
    "--history: shows instruction counts beside those of the last run, and keeps this run's "
    "there.\n"
    "       ttfd_bench --daemon TTFD --compare ttsim [--json FILE] [--rounds N] [FILTER]\n"
    "--compare ttsim: the embedded device beside the simulator that TTFD_TTSIM_LIB names.\n"
    "FILTER is a part of a figure's name. --smoke: every figure once and briefly, all must be "
    "there.\n";

struct Options {
  std::string daemon;
  std::string json;
  std::string history;
  std::string filter;
  std::string compare;
  int rounds = 9;
  std::chrono::nanoseconds budget = std::chrono::milliseconds(200);
  bool smoke = false;
};

// Nothing: the command line is not as the usage says.
std::optional<Options> ParseOptions(const std::vector<std::string>& words) {
  Options options;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool has_value = i + 1 < words.size();
    if (word == "--smoke") {
      options.smoke = true;
      options.rounds = 1;
      options.budget = std::chrono::milliseconds(5);
    } else if (word == "--daemon" && has_value) {
      options.daemon = words[++i];
    } else if (word == "--json" && has_value) {
      options.json = words[++i];
    } else if (word == "--history" && has_value) {
      options.history = words[++i];
    } else if (word == "--compare" && has_value) {
      options.compare = words[++i];
    } else if (word == "--rounds" && has_value) {
      options.rounds = std::atoi(words[++i].c_str());
    } else if (!word.starts_with("-") && options.filter.empty()) {
      options.filter = word;
    } else {
      return std::nullopt;
    }
  }
  if (options.daemon.empty() || options.rounds < 1) return std::nullopt;
  if (!options.compare.empty() && options.compare != "ttsim") return std::nullopt;
  return options;
}

// Goes round the cases of the suites and collects samples; a case that fails once is left out from then on.
class Runner {
 public:
  explicit Runner(const Options& options) : options_(options) {
    figures_.push_back({"host.calibration", "million/s", {}});
  }

  void Run(std::vector<BenchCase> cases) {
    std::erase_if(cases, [this](const BenchCase& one) {
      return one.name.find(options_.filter) == std::string::npos;
    });
    if (cases.empty()) return;
    const size_t first = figures_.size();
    for (const BenchCase& one : cases) figures_.push_back({one.name, one.unit, {}});
    std::vector<bool> failed(cases.size(), false);
    // Round 0 sets up and warms up.
    for (int round = options_.smoke ? 1 : 0; round <= options_.rounds; ++round) {
      if (round > 0) Calibrate();
      for (size_t i = 0; i < cases.size(); ++i) {
        if (failed[i]) continue;
        const auto sample = cases[i].run(round > 0 ? options_.budget : options_.budget / 10);
        if (!sample.ok()) {
          fmt::print(stderr, "{}: {}\n", cases[i].name, sample.status().ToString());
          failed[i] = true;
          ++failures_;
        } else if (round > 0) {
          figures_[first + i].samples.push_back(*sample);
        }
      }
      fmt::print(stderr, ".");
    }
    fmt::print(stderr, "\n");
    Calibrate();
  }

  // The quotient of two figures, sample by sample: both were taken in the same round.
  void Divide(const std::string& name, const std::string& upper, const std::string& lower) {
    const std::vector<double>* numerators = SamplesOf(upper);
    const std::vector<double>* denominators = SamplesOf(lower);
    if (numerators == nullptr || denominators == nullptr) return;
    Figure figure{name, "x", {}};
    for (size_t i = 0; i < std::min(numerators->size(), denominators->size()); ++i) {
      figure.samples.push_back((*numerators)[i] / (*denominators)[i]);
    }
    figures_.push_back(std::move(figure));
  }

  // Figures that are counted, not sampled.
  void Add(const std::vector<Figure>& figures) {
    for (const Figure& figure : figures) {
      if (figure.name.find(options_.filter) != std::string::npos) figures_.push_back(figure);
    }
  }

  // Only those that have samples.
  std::vector<Figure> figures() const {
    std::vector<Figure> result;
    for (const Figure& figure : figures_) {
      if (!figure.samples.empty()) result.push_back(figure);
    }
    return result;
  }
  int failures() const { return failures_; }

 private:
  void Calibrate() {
    figures_[0].samples.push_back(
        CalibrationMillionPerSecond(std::min(options_.budget, kCalibrationBudget)));
  }
  const std::vector<double>* SamplesOf(const std::string& name) const {
    for (const Figure& figure : figures_) {
      if (figure.name == name) return &figure.samples;
    }
    return nullptr;
  }

  static constexpr std::chrono::nanoseconds kCalibrationBudget = std::chrono::milliseconds(50);

  const Options& options_;
  std::vector<Figure> figures_;
  int failures_ = 0;
};

// Says which figures a full run should have reported and did not.
int MissingFigures(const std::vector<Figure>& figures) {
  int missing = 0;
  for (const std::string& name : AllNames()) {
    const bool found = std::any_of(figures.begin(), figures.end(),
                                   [&](const Figure& figure) { return figure.name == name; });
    if (found) continue;
    fmt::print(stderr, "{} is missing\n", name);
    ++missing;
  }
  return missing;
}

// Counts what the firmware's commands cost and prints them, if the filter asks for any.
Status CountInstructions(const Options& options, Runner& runner) {
  if (!options.filter.empty() && !options.filter.starts_with("fw")) return OkStatus();
  ASSIGN_OR_RETURN(const std::vector<CostRow> rows, MeasureFirmwareCosts());
  fmt::print("{}\n", CostTable(rows, ReadCosts(options.history)));
  runner.Add(CostFigures(rows));
  return options.history.empty() ? OkStatus() : WriteCosts(options.history, rows);
}

bool WriteJson(const Options& options, const std::vector<Figure>& figures) {
  if (options.json.empty()) return true;
  std::ofstream stream(options.json);
  stream << Json(figures);
  if (stream.flush()) return true;
  fmt::print(stderr, "cannot write {}\n", options.json);
  return false;
}

StatusOr<std::unique_ptr<Device>> OpenEmbedded() {
  return OpenSimDevice({sim::DefaultOptions(sim::Board::kP150), {}});
}

// The embedded device and the official simulator, in turn.
int Compare(const Options& options) {
  const std::string library = OfficialSimulator();
  if (library.empty()) {
    fmt::print("skipped: TTFD_TTSIM_LIB does not name a libttsim.so\n");
    return 0;
  }
  std::vector<BenchCase> cases = CompareCases("embedded.", OpenEmbedded);
  for (BenchCase& one : CompareCases("ttsim.", [library] {
         return OpenTtsimDevice({library, ""});
       })) {
    cases.push_back(std::move(one));
  }
  Runner runner(options);
  runner.Run(std::move(cases));
  fmt::print("{}", ComparisonTable(runner.figures(), "embedded", "ttsim"));
  return WriteJson(options, runner.figures()) && runner.failures() == 0 ? 0 : 1;
}

void RunModelCases(Runner& runner) {
  runner.Run(SimCases());
  runner.Run({BoundsCase()});
  runner.Run(LinkCases());
  runner.Run(RemoteCases());
}

int Main(const std::vector<std::string>& words) {
  const std::optional<Options> options = ParseOptions(words);
  if (!options) {
    fmt::print(stderr, "{}", kUsage);
    return 2;
  }
  if (!options->compare.empty()) return Compare(*options);
  const auto folder = ScratchFolder::Create();
  if (!folder.ok()) {
    fmt::print(stderr, "{}\n", folder.status().ToString());
    return 1;
  }
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string server = self.parent_path() / "bench_stream_server";

  Runner runner(*options);
  // Copies of megabytes are the most sensitive to the memory they get: before anything else fragments it.
  runner.Run(DeviceCases());
  const Status counted = CountInstructions(*options, runner);
  if (!counted.ok()) fmt::print(stderr, "fw: {}\n", counted.ToString());
  RunModelCases(runner);
  runner.Run(TensixCases("tensix.", OpenEmbedded));
  const auto daemon = std::make_shared<DaemonUnderTest>(options->daemon, (*folder)->Path("."));
  runner.Run({IdleCase(daemon)});
  const std::string package = self.parent_path().parent_path() / "client/python";
  const Exchange launch =
      BlockingLaunch([daemon] { return daemon->Address(); }, [daemon] { return daemon->pid(); });
  const Exchange bare = BareStream(server, (*folder)->Path("."));
  std::vector<BenchCase> rpc = {
      ExchangeCase("rpc.launch_us", launch),
      ExchangeCase("rpc.bare_stream_us", bare),
      QuotientCase("rpc.launch_over_bare_stream", launch, bare, /*pinned=*/false),
      QuotientCase("rpc.launch_over_bare_stream_pinned", launch, bare, /*pinned=*/true),
      WakeupsCase(launch),
      LocksCase(options->daemon, self.parent_path() / "libbench_lock_counter.so",
                (*folder)->Path("locks"))};
  for (BenchCase& one : RpcCases([daemon] { return daemon->Address(); })) {
    rpc.push_back(std::move(one));
  }
  PythonCaseSet python =
      PythonCases(package, (*folder)->Path("."), [daemon] { return daemon->Address(); });
  rpc.push_back(std::move(python.launch));
  runner.Run(std::move(rpc));
  runner.Divide("python.launch_over_cpp", "python.launch_us", "rpc.launch_us");
  runner.Run(HangCases([daemon] { return daemon->Address(); }));
  runner.Run(TensorCases([daemon] { return daemon->Address(); }));
  runner.Run({std::move(python.llama_step)});
  runner.Run(GraphCases([daemon] { return daemon->Address(); }, std::move(python.upload)));
  const std::string scratch = (*folder)->Path(".");
  runner.Run(ShareCases(self, scratch, [daemon] { return daemon->Address(); }));
  runner.Run(FloodCases(self, scratch, [daemon] { return daemon->Address(); }));
  runner.Run(RingCases(options->daemon, scratch));
  runner.Run(ClientCountCases(self, scratch, [daemon] { return daemon->Address(); }));

  const std::vector<Figure> figures = runner.figures();
  fmt::print("{}", Table(figures));
  if (!WriteJson(*options, figures)) return 1;
  const int missing = options->filter.empty() ? MissingFigures(figures) : 0;
  return runner.failures() + missing > 0 || !counted.ok() ? 1 : 0;
}

}  // namespace
}  // namespace ttfd::bench

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words[0] == "--client") {
    return ttfd::bench::RunClient({words.begin() + 1, words.end()});
  }
  return ttfd::bench::Main(words);
}
