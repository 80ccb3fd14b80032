// Trace that an embedded device records: the options trace=FILE, trace_...=... of its text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/status.h"
#include "runtime/sim/trace.h"

namespace ttfd {

// A trace of one second of a busy chip is about so much.
inline constexpr uint64_t kDefaultTraceBytes = uint64_t{1} << 30;
inline constexpr uint64_t kMinTraceBytes = 4096;
// Events that trace_last may keep; each takes about a hundred bytes of memory.
inline constexpr uint32_t kMaxTraceLast = 4'000'000;

struct TraceOptions {
  std::string path;  // empty: no trace
  sim::TraceFilter filter;
  uint64_t limit_bytes = kDefaultTraceBytes;
  uint32_t last =
      0;  // keep so many events in memory and write them when something goes wrong; 0: write all
};

// The names of the options, without "trace_" but for the first: see ParseSimOptions.
bool IsTraceKey(std::string_view key);
Status ParseTraceOption(std::string_view key, std::string_view value, TraceOptions* options);
// Once all are known.
Status CheckTraceOptions(const TraceOptions& options, bool any);

}  // namespace ttfd
