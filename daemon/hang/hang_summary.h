// The entry of a report in a list of hang reports: a small file of the report with a field for each value.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/hang/hang_report.h"

namespace ttfd {

// The launch that caused a hang or fault.
struct HangOffender {
  SessionClient client;
  uint32_t queue = 0;
  uint64_t value = 0;
  std::vector<std::string> kernels;  // of its program; none: the replay of a trace
};

struct HangSummary {
  std::string id;
  std::optional<std::chrono::system_clock::time_point> time;  // to the millisecond
  std::string reason;                                         // HANG, DEVICE_FAULT
  std::string headline;
  std::optional<HangOffender> offender;
  uint64_t bytes = 0;     // of all files
  bool complete = false;  // as HangReportInfo.complete (admin.proto)
};

std::string SummaryJson(const HangReport& report);
// Reads what SummaryJson wrote, but for id, bytes and `complete`, which the caller sets. Nullopt: it is cut or changed.
std::optional<HangSummary> ParseSummary(std::string_view json);

}  // namespace ttfd
