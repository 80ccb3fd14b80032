// Instructions the firmware retires for each command.
#include "tests/bench/firmware_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <functional>

namespace ttfd::bench {
namespace {

using testing::CommandCost;

struct Measurement {
  const char* name;
  std::function<StatusOr<CommandCost>()> run;
};

const std::vector<Measurement>& Measurements() {
  static const auto* const all = new std::vector<Measurement>{
      {"inline_write_64", [] { return testing::InlineWriteCost(64); }},
      {"inline_write_1k", [] { return testing::InlineWriteCost(1024); }},
      {"inline_write_64k", [] { return testing::InlineWriteCost(64 * 1024); }},
      {"paged_write_2k_page", testing::PagedWriteCost},
      {"cached_launch", testing::CachedLaunchCost},
      {"traced_launch", testing::TracedLaunchCost},
      {"event_bare", testing::BareEventCost},
      {"event_full", testing::FullEventCost},
  };
  return *all;
}

std::string Cell(uint64_t now, const uint64_t* before) {
  const std::string count = fmt::format("{}", now);
  if (before == nullptr) return fmt::format("{:>8} {:>7}", count, "");
  const auto change = static_cast<int64_t>(now) - static_cast<int64_t>(*before);
  return fmt::format("{:>8} {:>7}", count, change == 0 ? "=" : fmt::format("{:+}", change));
}

}  // namespace

StatusOr<std::vector<CostRow>> MeasureFirmwareCosts() {
  std::vector<CostRow> rows;
  for (const Measurement& one : Measurements()) {
    StatusOr<CommandCost> cost = one.run();
    if (!cost.ok()) return Annotate(cost.status(), one.name);
    rows.push_back({one.name, *cost});
  }
  return rows;
}

std::string CostTable(const std::vector<CostRow>& rows, const std::vector<CostRow>& previous) {
  std::string text =
      fmt::format("{:<22}{:>9} {:>7}{:>9} {:>7}{:>9} {:>7}{:>9} {:>7}\n", "instructions",
                  "prefetch", "", "dispatch", "", "disp._s", "", "worker", "");
  for (const CostRow& row : rows) {
    const auto known = std::find_if(previous.begin(), previous.end(), [&row](const CostRow& other) {
      return other.name == row.name;
    });
    const CommandCost* before = known == previous.end() ? nullptr : &known->cost;
    const auto cell = [&](uint64_t CommandCost::*hart) {
      return Cell(row.cost.*hart, before == nullptr ? nullptr : &(before->*hart));
    };
    text += fmt::format("{:<22} {} {} {} {}\n", row.name, cell(&CommandCost::prefetch),
                        cell(&CommandCost::dispatch), cell(&CommandCost::dispatch_s),
                        cell(&CommandCost::worker));
  }
  return text;
}

std::vector<Figure> CostFigures(const std::vector<CostRow>& rows) {
  std::vector<Figure> figures;
  for (const CostRow& row : rows) {
    figures.push_back({fmt::format("fw.{}.max_instr", row.name),
                       "instr",
                       {static_cast<double>(row.cost.busiest())}});
    figures.push_back({fmt::format("fw.{}.total_instr", row.name),
                       "instr",
                       {static_cast<double>(row.cost.pipeline())}});
  }
  return figures;
}

std::vector<CostRow> ReadCosts(const std::string& path) {
  std::vector<CostRow> rows;
  std::ifstream stream(path);
  CostRow row;
  while (stream >> row.name >> row.cost.prefetch >> row.cost.dispatch >> row.cost.dispatch_s >>
         row.cost.worker) {
    rows.push_back(row);
  }
  return rows;
}

Status WriteCosts(const std::string& path, const std::vector<CostRow>& rows) {
  std::ofstream stream(path);
  for (const CostRow& row : rows) {
    stream << fmt::format("{} {} {} {} {}\n", row.name, row.cost.prefetch, row.cost.dispatch,
                          row.cost.dispatch_s, row.cost.worker);
  }
  if (stream.flush()) return OkStatus();
  return Error(StatusCode::kUnavailable, "cannot write {}", path);
}

}  // namespace ttfd::bench
