// Where the pipeline stands, in sentences: the dispatch cores and every worker that is not idle.
#pragma once

#include <vector>

#include "runtime/card/card_snapshot.h"
#include "runtime/card/code_map.h"
#include "runtime/card/stall_report.h"

namespace ttfd {

// Dispatch harts of every queue, and the workers that are not idle or whose fault stopped the card. If the card could
// not be read, the last line says why.
std::vector<HartReport> ReportPipeline(const CardSnapshot& card, const CodeMap& code);

}  // namespace ttfd
