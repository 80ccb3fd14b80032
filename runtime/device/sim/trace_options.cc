// Text to TraceOptions.
#include "runtime/device/sim/trace_options.h"

#include <limits>

#include "runtime/device/sim/option_text.h"
#include "runtime/hw/grid.h"

namespace ttfd {
namespace {

// Bytes, with K, M or G behind the number.
StatusOr<uint64_t> Size(std::string_view text) {
  constexpr std::string_view kUnits = "KMG";
  uint64_t unit = 1;
  if (!text.empty()) {
    const size_t place = kUnits.find(text.back());
    if (place != std::string_view::npos) {
      unit <<= 10 * (place + 1);
      text.remove_suffix(1);
    }
  }
  ASSIGN_OR_RETURN(const uint64_t number, ParseNumber<uint64_t>(text));
  if (number > std::numeric_limits<uint64_t>::max() / unit) {
    return InvalidArgument("\"{}\" is too much", text);
  }
  return number * unit;
}

Status ParseWhat(std::string_view value, sim::TraceFilter* filter) {
  filter->instructions = filter->memory = filter->noc = filter->states = false;
  while (!value.empty()) {
    const std::string_view name = TakeUntil('+', &value);
    if (name == "instructions") {
      filter->instructions = true;
    } else if (name == "memory") {
      filter->memory = true;
    } else if (name == "noc") {
      filter->noc = true;
    } else if (name == "states") {
      filter->states = true;
    } else {
      return InvalidArgument("trace_what \"{}\" is not instructions, memory, noc or states", name);
    }
  }
  return OkStatus();
}

Status ParseTiles(std::string_view value, sim::TraceFilter* filter) {
  filter->tiles.clear();
  while (!value.empty()) {
    std::string_view rest = TakeUntil('+', &value);
    ASSIGN_OR_RETURN(const uint64_t x, ParseNumber<uint64_t>(TakeUntil('x', &rest)));
    ASSIGN_OR_RETURN(const uint64_t y, ParseNumber<uint64_t>(rest));
    if (x >= hw::kGridColumns || y >= hw::kGridRows) {
      return InvalidArgument("trace_tiles: no Tensix tile is at ({},{})", x, y);
    }
    filter->tiles.push_back({static_cast<uint32_t>(x), static_cast<uint32_t>(y)});
  }
  return OkStatus();
}

Status ParseHarts(std::string_view value, sim::TraceFilter* filter) {
  constexpr std::string_view kNames[hw::kHarts] = {"brisc", "ncrisc", "trisc0", "trisc1", "trisc2"};
  filter->harts = 0;
  while (!value.empty()) {
    const std::string_view name = TakeUntil('+', &value);
    uint32_t hart = 0;
    while (hart < hw::kHarts && kNames[hart] != name) ++hart;
    if (hart == hw::kHarts) {
      return InvalidArgument("trace_harts \"{}\" is not brisc, ncrisc, trisc0, trisc1 or trisc2",
                             name);
    }
    filter->harts |= 1u << hart;
  }
  return OkStatus();
}

}  // namespace

bool IsTraceKey(std::string_view key) {
  for (const std::string_view name : {"trace", "trace_what", "trace_tiles", "trace_harts",
                                      "trace_from", "trace_to", "trace_limit", "trace_last"}) {
    if (key == name) return true;
  }
  return false;
}

Status ParseTraceOption(std::string_view key, std::string_view value, TraceOptions* options) {
  if (key == "trace") {
    options->path = value;
  } else if (key == "trace_what") {
    return ParseWhat(value, &options->filter);
  } else if (key == "trace_tiles") {
    return ParseTiles(value, &options->filter);
  } else if (key == "trace_harts") {
    return ParseHarts(value, &options->filter);
  } else if (key == "trace_from") {
    ASSIGN_OR_RETURN(options->filter.from, ParseNumber<uint64_t>(value));
  } else if (key == "trace_to") {
    ASSIGN_OR_RETURN(options->filter.to, ParseNumber<uint64_t>(value));
  } else if (key == "trace_limit") {
    ASSIGN_OR_RETURN(options->limit_bytes, Size(value));
    if (options->limit_bytes < kMinTraceBytes) {
      return InvalidArgument("trace_limit is at least {} bytes", kMinTraceBytes);
    }
  } else if (key == "trace_last") {
    ASSIGN_OR_RETURN(const uint64_t last, ParseNumber<uint64_t>(value));
    if (last == 0 || last > kMaxTraceLast) {
      return InvalidArgument("trace_last is 1 to {} events", kMaxTraceLast);
    }
    options->last = static_cast<uint32_t>(last);
  }
  return OkStatus();
}

Status CheckTraceOptions(const TraceOptions& options, bool any) {
  if (any && options.path.empty()) return InvalidArgument("trace_... without trace=FILE");
  if (options.filter.from >= options.filter.to) {
    return InvalidArgument("trace_from is {}, not before trace_to {}", options.filter.from,
                           options.filter.to);
  }
  return OkStatus();
}

}  // namespace ttfd
