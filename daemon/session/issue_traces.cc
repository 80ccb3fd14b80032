// Traces into works: builds what was gathered, finds memory for it, resolves patches.
#include <set>
#include <utility>

#include "daemon/session/issuer.h"
#include "daemon/session/launch_arguments.h"

namespace ttfd {

// Checks every launch, lays them out, and keeps of what was gathered only what replays need.
Refusal Issuer::BuildTraceOf(TraceObject& trace) {
  std::vector<LaunchCommand> commands;
  std::set<uint32_t> ids;
  for (size_t i = 0; i < trace.launches.size(); ++i) {
    TracedLaunch& launch = trace.launches[i];
    LaunchCommand& command = commands.emplace_back();
    command.program = launch.program->program;
    ids.insert(launch.program->ids->begin(), launch.program->ids->end());
    if (Refusal refusal = ResolveArguments(*command.program, launch.arguments, launch.buffers,
                                           &command.arguments)) {
      return Renamed(std::move(refusal), "launch", fmt::format("record_trace.launches[{}]", i));
    }
  }
  auto built = BuildTrace(*environment_.geometry, trace.route, commands);
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
  memory.Measure(environment_.card.dram_banks);
  if (Refusal refusal = handles_.ChargeTrace(&trace, memory.size_bytes, "record_trace.launches"))
    return refusal;
  if (Refusal refusal = handles_.Charge(&memory, memory.whole_bytes, "record_trace.launches"))
    return refusal;
  if (!trace.counts) handles_.Discharge(&memory);
  trace.trace = *std::move(built);
  trace.ids = std::make_shared<const std::vector<uint32_t>>(ids.begin(), ids.end());
  for (uint32_t i = 0; i < trace.launches.size(); ++i) {
    TracedLaunch& launch = trace.launches[i];
    auto next = launch.buffers.begin();
    for (const ArgumentsRequest& one : launch.arguments) {
      const auto end = next + static_cast<ptrdiff_t>(one.buffers.size());
      if (next != end) trace.buffers[{i, one.kernel}].assign(next, end);
      next = end;
    }
    trace.programs.push_back(std::move(launch.program));
  }
  trace.launches = {};
  return std::nullopt;
}

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
    if (Refusal refusal = BuildTraceOf(trace)) {
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

Issuer::Step Issuer::BeginOne(ReplayTraceTask& replay, Task&, bool, ErrorReply* error) {
  const TraceObject& trace = *replay.trace;
  if (!Usable(trace, error)) return Step::kRefused;
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
  return Step::kDone;
}

bool Issuer::NextOne(RecordTraceTask& record, Task&, Work* work) {
  if (!record.last || std::exchange(record.handed, true)) return false;
  work->command = RecordTraceCommand{record.trace->trace, record.trace->memory.region()};
  work->bytes = record.trace->memory.size_bytes;
  return true;
}

bool Issuer::NextOne(ReplayTraceTask& replay, Task&, Work* work) {
  if (std::exchange(replay.handed, true)) return false;
  work->command = ReplayTraceCommand{replay.trace->trace, std::move(replay.resolved)};
  work->launches = TraceLaunches(*replay.trace->trace);
  work->programs = replay.trace->ids;
  work->timeout = Patience(replay.trace->timeout);
  return true;
}

}  // namespace ttfd
