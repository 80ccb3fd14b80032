// Builds a trace of launches.
#include "daemon/session/trace_layout.h"

#include <set>

#include "daemon/session/launch_arguments.h"

namespace ttfd {
namespace {

// The ids of the programs of each segment.
void NameSegments(TraceLayout& layout) {
  for (uint32_t segment = 0; segment < TraceSegments(*layout.trace); ++segment) {
    const SegmentExtent extent = TraceSegmentExtent(*layout.trace, segment);
    std::set<uint32_t> ids;
    for (uint32_t i = extent.begin; i < extent.end; ++i) {
      ids.insert(layout.programs[i]->ids->begin(), layout.programs[i]->ids->end());
    }
    layout.ids.push_back(std::make_shared<const std::vector<uint32_t>>(ids.begin(), ids.end()));
  }
}

void KeepWhatReplaysNeed(TraceLayout& layout) {
  for (uint32_t i = 0; i < layout.launches.size(); ++i) {
    TracedLaunch& launch = layout.launches[i];
    auto next = launch.buffers.begin();
    for (const ArgumentsRequest& one : launch.arguments) {
      const auto end = next + static_cast<ptrdiff_t>(one.buffers.size());
      if (next != end) layout.buffers[{i, one.kernel}].assign(next, end);
      next = end;
    }
    if (next != launch.buffers.end()) {
      layout.buffers[{i, kNoKernelIndex}].assign(next, launch.buffers.end());
    }
    layout.programs.push_back(std::move(launch.program));
  }
  layout.launches = {};
}

}  // namespace

void TraceLayout::Build(const CardGeometry& geometry) {
  std::vector<LaunchCommand> commands;
  commands.reserve(launches.size());
  for (size_t i = 0; i < launches.size(); ++i) {
    LaunchCommand& command = commands.emplace_back();
    command.program = launches[i].program->program;
    refusal = ResolveArguments(*command.program, launches[i].arguments, launches[i].buffers,
                               &command.arguments);
    if (refusal) {
      refusal = Renamed(std::move(refusal), "launch", fmt::format("record_trace.launches[{}]", i));
      return;
    }
  }
  auto built = BuildTrace(geometry, route, commands, {segment_time, times});
  if (!built.ok()) {
    const std::string why(StatusMessage(built.status()));
    refusal =
        built.status().code() == StatusCode::kResourceExhausted
            ? LimitError("record_trace.launches", "trace_record_bytes", kMaxTraceBytes, 0, why)
            : InvalidError("record_trace.launches", "{}", why);
    return;
  }
  trace = *std::move(built);
  KeepWhatReplaysNeed(*this);
  NameSegments(*this);
}

}  // namespace ttfd
