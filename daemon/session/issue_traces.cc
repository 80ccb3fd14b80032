// Traces into works, one for each segment: builds what was gathered, finds memory for it, resolves patches.
#include <algorithm>
#include <utility>

#include "daemon/session/issuer.h"
#include "daemon/session/launch_arguments.h"

namespace ttfd {
// The layout becomes the trace, which is charged for it.
Refusal Issuer::TakeLayout(TraceObject& trace, TraceLayout& layout) {
  if (layout.refusal) return std::move(layout.refusal);
  Buffer& memory = trace.memory;
  memory.page_bytes = TracePageBytes(*layout.trace);
  memory.size_bytes = TraceBytes(*layout.trace);
  memory.Measure(environment_.card.dram_banks);
  if (Refusal refusal =
          handles_.ChargeTrace(&trace, TraceRecordBytes(*layout.trace), "record_trace.launches")) {
    return refusal;
  }
  if (Refusal refusal = handles_.Charge(&memory, memory.whole_bytes, "record_trace.launches"))
    return refusal;
  if (!trace.counts) handles_.Discharge(&memory);
  trace.trace = std::move(layout.trace);
  trace.programs = std::move(layout.programs);
  trace.ids = std::move(layout.ids);
  trace.buffers = std::move(layout.buffers);
  return std::nullopt;
}

// Reads the launch times here: launches that end meanwhile change them.
Issuer::Step Issuer::BeginLayout(RecordTraceOperation& record, Operation& op, ErrorReply* error) {
  TraceObject& trace = *record.trace;
  auto layout = std::make_shared<TraceLayout>();
  layout->times.reserve(trace.launches.size());
  for (const TracedLaunch& launch : trace.launches) {
    if (!Usable(*launch.program, error)) return Step::kRefused;
    for (const auto& buffer : launch.buffers) {
      if (!Usable(*buffer, error)) return Step::kRefused;
    }
    const Duration time = launch.program->launch_time;
    layout->times.push_back(time != Duration::zero() ? time : environment_.windows.launch_guess);
  }
  layout->route = trace.route;
  layout->launches = std::exchange(trace.launches, {});
  layout->segment_time = environment_.windows.segment_time;
  record.layout = layout;
  DoOnHost(op, [layout, geometry = environment_.geometry] { layout->Build(*geometry); });
  return Step::kBlocked;
}

Issuer::Step Issuer::BeginOne(RecordTraceOperation& record, Operation& op, bool at_head,
                              ErrorReply* error) {
  if (!record.last) return Step::kDone;
  TraceObject& trace = *record.trace;
  if (record.layout == nullptr) return BeginLayout(record, op, error);
  if (trace.trace == nullptr) {
    if (Refusal refusal = TakeLayout(trace, *record.layout)) {
      *error = *std::move(refusal);
      return Step::kRefused;
    }
  }
  const Step found =
      FindMemory(trace.memory, handles_.MayHold(trace), at_head, "record_trace.launches", error);
  if (found != Step::kDone) return found;
  handles_.Hold(&trace);
  trace.state = Object::State::kReady;
  return Step::kDone;
}

Issuer::Step Issuer::BeginOne(ReplayTraceOperation& replay, Operation& op, bool,
                              ErrorReply* error) {
  TraceObject& trace = *replay.trace;
  if (!Usable(trace, error)) return Step::kRefused;
  replay.turn = trace.turn.lock();
  if (replay.turn != nullptr && *replay.turn != op.queue->id) {
    replay.turn = nullptr;
    return Step::kBlocked;
  }
  if (replay.turn == nullptr) replay.turn = std::make_shared<const uint32_t>(op.queue->id);
  trace.turn = replay.turn;
  replay.resolved.reserve(replay.patches.size());
  for (size_t i = 0; i < replay.patches.size(); ++i) {
    ReplayTraceOperation::Patch& patch = replay.patches[i];
    const std::string field = fmt::format("replay_trace.patches[{}]", i);
    for (const auto& buffer : patch.buffers) {
      if (!Usable(*buffer, error)) return Step::kRefused;
    }
    if (patch.launch >= trace.programs.size()) {
      *error = InvalidError(field + ".launch", "launch {}; the trace has {}", patch.launch,
                            trace.programs.size());
      return Step::kRefused;
    }
    TracePatch& resolved = replay.resolved.emplace_back();
    resolved.launch = patch.launch;
    resolved.kernel = patch.arguments.kernel;
    Refusal refusal = Renamed(ResolveKernel(*trace.programs[patch.launch]->program, patch.arguments,
                                            0, patch.buffers, &resolved.arguments),
                              "launch.arguments[0]", field + ".arguments");
    const Status fits = refusal ? OkStatus() : CheckTracePatch(*trace.trace, resolved);
    if (!fits.ok()) refusal = InvalidError(field + ".arguments", "{}", StatusMessage(fits));
    if (refusal) {
      *error = *std::move(refusal);
      return Step::kRefused;
    }
  }
  replay.DropPatches();
  // The later of two patches of one word counts.
  std::stable_sort(replay.resolved.begin(), replay.resolved.end(),
                   [](const TracePatch& a, const TracePatch& b) { return a.launch < b.launch; });
  return Step::kDone;
}

}  // namespace ttfd
