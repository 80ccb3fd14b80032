// What came of a benchmark: samples by name, their statistics, the floors they are held to, as a table and as JSON.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ttfd::bench {

struct Figure {
  std::string name;
  std::string unit;
  std::vector<double> samples;
};

struct Statistics {
  double median = 0;
  double min = 0;
  double max = 0;
};
Statistics Summarize(std::vector<double> samples);

// What a figure must at least (or, for times, at most) be. docs/benchmarks.md says where each comes from.
struct Floor {
  double value = 0;
  bool at_most = false;
};
std::optional<Floor> FloorOf(const std::string& name);

// Every name that a full run reports, in the order of the table.
const std::vector<std::string>& AllNames();

// One line a figure: name, median, min, max, spread, unit, floor and whether it is kept.
std::string Table(const std::vector<Figure>& figures);

// Figures "ONE.x" and "OTHER.x" side by side: name, both medians, unit, and how many times as much ONE is.
std::string ComparisonTable(const std::vector<Figure>& figures, const std::string& one,
                            const std::string& other);

// {"name": {"median": ..., "min": ..., "max": ..., "unit": "..."}, ...}
std::string Json(const std::vector<Figure>& figures);

}  // namespace ttfd::bench
