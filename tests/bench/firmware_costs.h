// Instructions the firmware retires for each command: counted, not timed, so every run on the same source
// shows the same numbers.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "tests/bench/figure.h"
#include "tests/support/firmware_cost.h"

namespace ttfd::bench {

struct CostRow {
  std::string name;  // "event_bare"
  testing::CommandCost cost;
};

StatusOr<std::vector<CostRow>> MeasureFirmwareCosts();

// One line a command: a column for each hart, with the change against `previous` where that has the row.
std::string CostTable(const std::vector<CostRow>& rows, const std::vector<CostRow>& previous);

// fw.<row>.max_instr (the busiest dispatch hart) and fw.<row>.total_instr (all of them).
std::vector<Figure> CostFigures(const std::vector<CostRow>& rows);

// The rows as a text file, one a line. A file that is not there has no rows.
std::vector<CostRow> ReadCosts(const std::string& path);
Status WriteCosts(const std::string& path, const std::vector<CostRow>& rows);

}  // namespace ttfd::bench
