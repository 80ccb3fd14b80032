// A trace as host work makes it of the launches that were gathered: arguments resolved, records built, and of what was
// gathered only what replays need.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "daemon/api/errors.h"
#include "daemon/session/objects.h"
#include "runtime/command/card_geometry.h"
#include "runtime/command/route.h"
#include "runtime/command/trace.h"

namespace ttfd {

// The objects that the launches name are ready, and do not change meanwhile.
struct TraceLayout {
  // Input.
  Route route;
  std::vector<TracedLaunch> launches;  // empty afterwards
  std::vector<Duration> times;         // expected, of each launch
  Duration segment_time{};

  // Output. With a refusal the rest is unspecified.
  Refusal refusal;
  std::shared_ptr<Trace> trace;
  std::vector<std::shared_ptr<ProgramObject>> programs;           // as in TraceObject
  std::vector<std::shared_ptr<const std::vector<uint32_t>>> ids;  // as in TraceObject
  TraceBuffers buffers;

  // Checks every launch, and fills in the output. Takes up to a microsecond a launch and more: on a host thread.
  void Build(const CardGeometry& geometry);
};

}  // namespace ttfd
