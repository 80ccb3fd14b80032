// Traces into works, one for each segment: builds what was gathered, finds memory for it, resolves patches.
#include <algorithm>
#include <set>
#include <utility>

#include "daemon/session/issuer.h"
#include "daemon/session/launch_arguments.h"

namespace ttfd {
namespace {

// The ids of the programs of each segment.
void NameSegments(TraceObject& trace) {
  for (uint32_t segment = 0; segment < TraceSegments(*trace.trace); ++segment) {
    const SegmentExtent extent = TraceSegmentExtent(*trace.trace, segment);
    std::set<uint32_t> ids;
    for (uint32_t i = extent.begin; i < extent.end; ++i) {
      ids.insert(trace.programs[i]->ids->begin(), trace.programs[i]->ids->end());
    }
    trace.ids.push_back(std::make_shared<const std::vector<uint32_t>>(ids.begin(), ids.end()));
  }
}

// Checks every launch, lays them out, and keeps of what was gathered only what replays need.
Refusal BuildTraceOf(TraceObject& trace, const SessionEnvironment& environment,
                     HandleTable& handles) {
  std::vector<LaunchCommand> commands;
  std::vector<Duration> times;
  for (size_t i = 0; i < trace.launches.size(); ++i) {
    TracedLaunch& launch = trace.launches[i];
    LaunchCommand& command = commands.emplace_back();
    command.program = launch.program->program;
    const Duration time = launch.program->launch_time;
    times.push_back(time != Duration::zero() ? time : environment.windows.launch_guess);
    if (Refusal refusal = ResolveArguments(*command.program, launch.arguments, launch.buffers,
                                           &command.arguments)) {
      return Renamed(std::move(refusal), "launch", fmt::format("record_trace.launches[{}]", i));
    }
  }
  auto built = BuildTrace(*environment.geometry, trace.route, commands,
                          {environment.windows.segment_time, times});
  if (!built.ok() && built.status().code() == StatusCode::kResourceExhausted) {
    return LimitError("record_trace.launches", "trace_record_bytes", kMaxTraceBytes, 0,
                      std::string(StatusMessage(built.status())));
  }
  if (!built.ok()) {
    return InvalidError("record_trace.launches", "{}", StatusMessage(built.status()));
  }
  Buffer& memory = trace.memory;
  memory.page_bytes = TracePageBytes(**built);
  memory.size_bytes = TraceBytes(**built);
  memory.Measure(environment.card.dram_banks);
  if (Refusal refusal =
          handles.ChargeTrace(&trace, TraceRecordBytes(**built), "record_trace.launches")) {
    return refusal;
  }
  if (Refusal refusal = handles.Charge(&memory, memory.whole_bytes, "record_trace.launches"))
    return refusal;
  if (!trace.counts) handles.Discharge(&memory);
  trace.trace = *std::move(built);
  for (uint32_t i = 0; i < trace.launches.size(); ++i) {
    TracedLaunch& launch = trace.launches[i];
    auto next = launch.buffers.begin();
    for (const ArgumentsRequest& one : launch.arguments) {
      const auto end = next + static_cast<ptrdiff_t>(one.buffers.size());
      if (next != end) trace.buffers[{i, one.kernel}].assign(next, end);
      next = end;
    }
    if (next != launch.buffers.end()) {
      trace.buffers[{i, kNoKernelIndex}].assign(next, launch.buffers.end());
    }
    trace.programs.push_back(std::move(launch.program));
  }
  trace.launches = {};
  NameSegments(trace);
  return std::nullopt;
}

}  // namespace

Issuer::Step Issuer::BeginOne(RecordTraceTask& record, Task&, bool at_head, ErrorReply* error) {
  if (!record.last) return Step::kDone;
  TraceObject& trace = *record.trace;
  if (trace.trace == nullptr) {
    for (const TracedLaunch& launch : trace.launches) {
      if (!Usable(*launch.program, error)) return Step::kRefused;
      for (const auto& buffer : launch.buffers) {
        if (!Usable(*buffer, error)) return Step::kRefused;
      }
    }
    if (Refusal refusal = BuildTraceOf(trace, environment_, handles_)) {
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

Issuer::Step Issuer::BeginOne(ReplayTraceTask& replay, Task& task, bool, ErrorReply* error) {
  TraceObject& trace = *replay.trace;
  if (!Usable(trace, error)) return Step::kRefused;
  replay.turn = trace.turn.lock();
  if (replay.turn != nullptr && *replay.turn != task.queue->id) {
    replay.turn = nullptr;
    return Step::kBlocked;
  }
  if (replay.turn == nullptr) replay.turn = std::make_shared<const uint32_t>(task.queue->id);
  trace.turn = replay.turn;
  replay.resolved.reserve(replay.patches.size());
  for (size_t i = 0; i < replay.patches.size(); ++i) {
    ReplayTraceTask::Patch& patch = replay.patches[i];
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
  // Of two patches of one word the later one counts.
  std::stable_sort(replay.resolved.begin(), replay.resolved.end(),
                   [](const TracePatch& a, const TracePatch& b) { return a.launch < b.launch; });
  return Step::kDone;
}

bool Issuer::NextOne(RecordTraceTask& record, Task& task, Work* work) {
  if (AllHanded(task)) return false;
  const uint32_t segment = record.handed_segments++;
  const TraceObject& trace = *record.trace;
  work->command = RecordTraceCommand{trace.trace, trace.memory.region(), segment};
  work->bytes = TraceSegmentExtent(*trace.trace, segment).bytes;
  return true;
}

bool Issuer::NextOne(ReplayTraceTask& replay, Task& task, Work* work) {
  if (AllHanded(task)) return false;
  const uint32_t segment = replay.handed_segments++;
  const TraceObject& trace = *replay.trace;
  const SegmentExtent extent = TraceSegmentExtent(*trace.trace, segment);
  work->command = ReplayTraceCommand{trace.trace, replay.TakePatches(extent.end), segment};
  work->launches = extent.end - extent.begin;
  work->programs = trace.ids[segment];
  work->timeout = Patience(trace.timeout);
  return true;
}

}  // namespace ttfd
