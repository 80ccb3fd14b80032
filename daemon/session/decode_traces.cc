// Decodes the commands that record and replay traces.
#include <algorithm>
#include <utility>

#include "daemon/session/decoder.h"

namespace ttfd {
Refusal Decoder::AddLaunch(LaunchRequest& request, Operation* op, TraceObject* trace) const {
  if (trace->launches.size() == kMaxTraceLaunches) {
    return LimitError("record_trace.launches", "trace_launches", kMaxTraceLaunches,
                      trace->launches.size(), "a trace of more launches");
  }
  LaunchParts parts;
  if (Refusal refusal = ResolveLaunch(request, op, &parts)) return refusal;
  const uint64_t bytes = trace->charged_bytes + sizeof(TracedLaunch) + parts.held_bytes +
                         parts.buffers.size() * sizeof(parts.buffers[0]);
  if (Refusal refusal = handles_.ChargeTrace(trace, bytes, "record_trace.launches")) return refusal;
  const Duration timeout = std::chrono::milliseconds(request.timeout_ms.value_or(0));
  trace->impatient = trace->impatient && timeout != Duration::zero();
  trace->timeout = trace->impatient ? std::max(trace->timeout, timeout) : Duration::zero();
  trace->launches.push_back(
      {std::move(parts.program), std::move(request.arguments), std::move(parts.buffers)});
  return std::nullopt;
}

// A trace that is not finished, for whatever reason, is given up with its queue's error.
Refusal Decoder::DecodeOne(RecordTraceRequest& request, Operation* op) {
  SessionQueue& queue = *op->queue;
  if (queue.recording == nullptr) {
    if (Refusal refusal =
            handles_.CheckNew(request.handle, ObjectKind::kTrace, "record_trace.handle"))
      return refusal;
    queue.recording = std::make_shared<TraceObject>(QueuePosition{queue.id, op->first_value},
                                                    request.handle, queue.route);
    handles_.Add(request.handle, queue.recording);
  }
  TraceObject& trace = *queue.recording;
  for (size_t& i = progress_->parts; i < request.launches.size(); ++i) {
    if (!budget_->Spend(0, 1)) {
      progress_->partly = true;
      return std::nullopt;
    }
    if (Refusal refusal = AddLaunch(request.launches[i], op, &trace)) {
      return Renamed(std::move(refusal), "launch", fmt::format("record_trace.launches[{}]", i));
    }
  }
  if (!request.more && trace.launches.empty()) {
    return InvalidError("record_trace.launches", "a trace without launches");
  }
  RecordTraceOperation record;
  record.trace = queue.recording;
  record.last = !request.more;
  op->body = std::move(record);
  if (!request.more) {
    trace.finished_by = {queue.id, op->first_value};
    queue.recording.reset();
  }
  return std::nullopt;
}

Refusal Decoder::DecodeOne(ReplayTraceRequest& request, Operation* op) {
  if (progress_->parts == 0) {
    if (Refusal refusal = BeginReplay(request, op)) return refusal;
  }
  auto& replay = std::get<ReplayTraceOperation>(op->body);
  for (size_t& i = progress_->parts; i < request.patches.size(); ++i) {
    if (budget_->spent()) {
      progress_->partly = true;
      return std::nullopt;
    }
    TracePatchRequest& patch = request.patches[i];
    std::vector<std::shared_ptr<Buffer>> buffers;
    if (Refusal refusal = ResolveBuffers(
            patch.arguments, "replay_trace.patches.arguments.buffers.buffer", op, &buffers)) {
      return refusal;
    }
    replay.patches.push_back({patch.launch, std::move(patch.arguments), std::move(buffers)});
  }
  return std::nullopt;
}

Refusal Decoder::BeginReplay(const ReplayTraceRequest& request, Operation* op) {
  ReplayTraceOperation replay;
  if (Refusal refusal =
          handles_.Get(request.trace, ObjectKind::kTrace, "replay_trace.trace", &replay.trace)) {
    return refusal;
  }
  const TraceObject& trace = *replay.trace;
  if (trace.finished_by.value == 0) {
    return InvalidError("replay_trace.trace", "trace {} is not recorded to its end yet",
                        request.trace);
  }
  if (trace.route != op->queue->route) {
    return InvalidError("replay_trace.trace",
                        "trace {} was recorded for queue {}; replay it on that queue, or one of "
                        "the same kind with the same workers",
                        request.trace, trace.creator.queue);
  }
  DependOn(trace.finished_by, op);
  replay.patches.reserve(request.patches.size());
  op->body = std::move(replay);
  return std::nullopt;
}

}  // namespace ttfd
