// Decodes launches, and the commands that record and replay traces of them.
#include <algorithm>
#include <span>
#include <utility>

#include "daemon/session/decode_commands.h"
#include "daemon/session/program_parts.h"

namespace ttfd {
namespace {

// Limit of one launch: the device thread looks each up and waits for it.
constexpr size_t kMaxLaunchBuffers = 4096;

// Parts of one launch: the objects that it names, resolved, and the bytes of its arguments, added up.
struct LaunchParts {
  std::shared_ptr<ProgramObject> program;
  std::vector<std::shared_ptr<Buffer>> buffers;
  uint64_t held_bytes = 0;  // of host memory, by its arguments
};

// A queue on a sub-device runs nothing outside it.
Refusal CheckWorkers(const DecodeContext& context, const ProgramObject& program,
                     const char* field) {
  const SessionQueue& queue = *context.op.queue;
  const TileSet& workers = queue.route.workers;
  const TileSet outside = program.tiles & ~workers;
  if (workers.none() || outside.none()) return std::nullopt;
  size_t first = 0;
  while (!outside.test(first)) ++first;
  return InvalidError(field,
                      "the program runs on {} workers outside the sub-device of queue {}, such as "
                      "({},{}); send it to a queue that was opened with them",
                      outside.count(), queue.id, first % context.card.description.grid.x,
                      first / context.card.description.grid.x);
}

Refusal ResolveBuffers(const DecodeContext& context, const ArgumentsRequest& arguments,
                       const char* field, std::vector<std::shared_ptr<Buffer>>* buffers) {
  context.budget.Spend(0, 1 + arguments.buffers.size());
  for (const BufferArgumentRequest& argument : arguments.buffers) {
    if (buffers->size() == kMaxLaunchBuffers) {
      return InvalidError(field, "more than {} buffer arguments in one launch", kMaxLaunchBuffers);
    }
    if (Refusal refusal = context.GetBuffer(argument.buffer, field, &buffers->emplace_back())) {
      return refusal;
    }
  }
  return std::nullopt;
}

// The arguments are checked against the program when the launch begins: the program may still be to come.
Refusal ResolveLaunch(const DecodeContext& context, const LaunchRequest& request,
                      LaunchParts* parts) {
  if (request.timeout_ms && *request.timeout_ms == 0) {
    return InvalidError("launch.timeout_ms", "a timeout of 0 ms; leave it unset, or at least 1");
  }
  if (Refusal refusal = context.handles.Get(request.program, ObjectKind::kProgram, context.card,
                                            "launch.program", &parts->program)) {
    return refusal;
  }
  if (Refusal refusal = CheckWorkers(context, *parts->program, "launch.program")) {
    return refusal;
  }
  context.DependOn(*parts->program);
  for (const ArgumentsRequest& arguments : request.arguments) {
    parts->held_bytes += HeldBytes(arguments);
    if (Refusal refusal = ResolveBuffers(context, arguments, "launch.arguments.buffers.buffer",
                                         &parts->buffers)) {
      return refusal;
    }
  }
  const size_t named = parts->buffers.size();
  if (Refusal refusal = AddPlaces(*parts->program, context.handles, &parts->buffers))
    return refusal;
  for (const auto& buffer : std::span(parts->buffers).subspan(named)) context.DependOn(*buffer);
  return std::nullopt;
}

Refusal AddLaunch(const DecodeContext& context, LaunchRequest& request, TraceObject* trace) {
  if (trace->launches.size() == kMaxTraceLaunches) {
    return LimitError("record_trace.launches", "trace_launches", kMaxTraceLaunches,
                      trace->launches.size(), "a trace of more launches");
  }
  LaunchParts parts;
  if (Refusal refusal = ResolveLaunch(context, request, &parts)) return refusal;
  const uint64_t bytes = trace->charged_bytes + sizeof(TracedLaunch) + parts.held_bytes +
                         parts.buffers.size() * sizeof(parts.buffers[0]);
  if (Refusal refusal = context.handles.ChargeTrace(trace, bytes, "record_trace.launches"))
    return refusal;
  const Duration timeout = std::chrono::milliseconds(request.timeout_ms.value_or(0));
  trace->impatient = trace->impatient && timeout != Duration::zero();
  trace->timeout = trace->impatient ? std::max(trace->timeout, timeout) : Duration::zero();
  trace->launches.push_back(
      {std::move(parts.program), std::move(request.arguments), std::move(parts.buffers)});
  return std::nullopt;
}

Refusal BeginReplay(const DecodeContext& context, const ReplayTraceRequest& request) {
  ReplayTraceOperation replay;
  if (Refusal refusal = context.handles.Get(request.trace, ObjectKind::kTrace, context.card,
                                            "replay_trace.trace", &replay.trace)) {
    return refusal;
  }
  const TraceObject& trace = *replay.trace;
  if (trace.finished_by.value == 0) {
    return InvalidError("replay_trace.trace", "trace {} is not recorded to its end yet",
                        request.trace);
  }
  if (trace.route != context.op.queue->route) {
    return InvalidError("replay_trace.trace",
                        "trace {} was recorded for queue {}; replay it on that queue, or one of "
                        "the same kind with the same workers",
                        request.trace, trace.creator.queue);
  }
  context.DependOn(trace.finished_by);
  replay.patches.reserve(request.patches.size());
  context.op.body = std::move(replay);
  return std::nullopt;
}

}  // namespace

Refusal DecodeCommand(const DecodeContext& context, LaunchRequest& request) {
  LaunchParts parts;
  if (Refusal refusal = ResolveLaunch(context, request, &parts)) return refusal;
  LaunchOperation launch;
  launch.program = std::move(parts.program);
  launch.buffers = std::move(parts.buffers);
  launch.arguments = std::move(request.arguments);
  launch.timeout = std::chrono::milliseconds(request.timeout_ms.value_or(0));
  context.op.body = std::move(launch);
  return std::nullopt;
}

// A trace that is not finished, for whatever reason, is given up with its queue's error.
Refusal DecodeCommand(const DecodeContext& context, RecordTraceRequest& request) {
  SessionQueue& queue = *context.op.queue;
  if (queue.recording == nullptr) {
    if (Refusal refusal =
            context.handles.CheckNew(request.handle, ObjectKind::kTrace, "record_trace.handle"))
      return refusal;
    queue.recording = std::make_shared<TraceObject>(QueuePosition{queue.id, context.op.first_value},
                                                    request.handle, queue.card, queue.route);
    context.handles.Add(request.handle, queue.recording);
  }
  TraceObject& trace = *queue.recording;
  for (size_t& i = context.progress.parts; i < request.launches.size(); ++i) {
    if (!context.budget.Spend(0, 1)) {
      context.progress.partly = true;
      return std::nullopt;
    }
    if (Refusal refusal = AddLaunch(context, request.launches[i], &trace)) {
      return Renamed(std::move(refusal), "launch", fmt::format("record_trace.launches[{}]", i));
    }
  }
  if (!request.more && trace.launches.empty()) {
    return InvalidError("record_trace.launches", "a trace without launches");
  }
  RecordTraceOperation record;
  record.trace = queue.recording;
  record.last = !request.more;
  context.op.body = std::move(record);
  if (!request.more) {
    trace.finished_by = {queue.id, context.op.first_value};
    queue.recording.reset();
  }
  return std::nullopt;
}

Refusal DecodeCommand(const DecodeContext& context, ReplayTraceRequest& request) {
  if (context.progress.parts == 0) {
    if (Refusal refusal = BeginReplay(context, request)) return refusal;
  }
  auto& replay = std::get<ReplayTraceOperation>(context.op.body);
  for (size_t& i = context.progress.parts; i < request.patches.size(); ++i) {
    if (context.budget.spent()) {
      context.progress.partly = true;
      return std::nullopt;
    }
    TracePatchRequest& patch = request.patches[i];
    std::vector<std::shared_ptr<Buffer>> buffers;
    if (Refusal refusal = ResolveBuffers(
            context, patch.arguments, "replay_trace.patches.arguments.buffers.buffer", &buffers)) {
      return refusal;
    }
    replay.patches.push_back({patch.launch, std::move(patch.arguments), std::move(buffers)});
  }
  return std::nullopt;
}

}  // namespace ttfd
