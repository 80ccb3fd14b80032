// Beginning, retiring, failing.
#include "daemon/session/operation_pipeline.h"

#include <algorithm>
#include <utility>

#include "daemon/session/launch_times.h"
#include "daemon/session/quarantine.h"

namespace ttfd {

OperationPipeline::OperationPipeline(const SessionLimits& limits, const SessionCards& cards,
                                     Outbox& outbox, ReceiveWindow& window,
                                     const Timeouts& timeouts, const SessionShare& share,
                                     std::shared_ptr<UserUse> user, LeaseText lease_text)
    : limits_(limits),
      cards_(cards),
      outbox_(outbox),
      use_(limits, std::move(user)),
      window_(window),
      handles_(limits, use_, share.session),
      frees_(handles_),
      rollback_(handles_, frees_),
      queues_(share),
      preparer_(handles_, frees_, share.uid),
      slices_(limits, outbox, timeouts, use_, queues_),
      decoder_(
          {limits, cards_, outbox, timeouts, use_, window_, handles_, queues_, frees_, preparer_}),
      lease_text_(std::move(lease_text)) {}

void OperationPipeline::Advance() {
  bool again = true;
  while (again) {
    again = false;
    for (auto& [id, queue] : queues_.all()) {
      if (!queue.timeline.empty()) again |= AdvanceQueue(queue);
    }
    again |= frees_.Release(queues_);
  }
}

// True if something has begun, ended or is known not to run: others may have waited for it.
bool OperationPipeline::AdvanceQueue(SessionQueue& queue) {
  bool changed = queue.timeline.waiting() > 0 && queues_.FailWaiters(queue);
  do {
    changed |= BeginReady(queue);
    slices_.MakeNext(queue);
  } while (RetireHead(queue) && (changed = true));
  return changed;
}

// True if an operation has begun.
bool OperationPipeline::BeginReady(SessionQueue& queue) {
  QueueTimeline& timeline = queue.timeline;
  const size_t before = timeline.begun();
  while (timeline.begun() < timeline.size() &&
         timeline.begun() - timeline.passed() < limits_.begun_operations) {
    Operation& op = *timeline.at(timeline.begun());
    if (op.error || op.stage == Operation::Stage::kOnHost) break;
    // Its batch may have been decoded in part when the quarantine began.
    if (quarantined_ && !PassesInQuarantine(op.body)) {
      Quarantine(queue, &op);
      break;
    }
    ErrorReply error;
    Readiness readiness = queues_.CheckWaits(op, &error);
    if (readiness == Readiness::kReady)
      readiness = preparer_.Prepare(op, timeline.begun() == 0 && queues_.WaitsOver(op), &error);
    if (readiness == Readiness::kBlocked) break;
    if (readiness == Readiness::kRefused) {
      queue.MarkFailed(&op, std::move(error));
      break;
    }
    op.stage = Operation::Stage::kBegun;
    queues_.DropEndedWaits(&op);
    timeline.BeginNext(!op.waits.empty());
  }
  return timeline.begun() > before;
}

// An operation ends after those it waited for, though the device may report it before them: it fails with them.
bool OperationPipeline::RetireHead(SessionQueue& queue) {
  if (queue.timeline.empty()) return false;
  Operation& head = *queue.timeline.front();
  if (head.error) {
    // An operation that has started runs to its end first. One that has not is refused when it is next.
    if (head.started() && (head.outstanding > 0 || !queues_.WaitsOver(head))) return false;
    if (head.started() && head.error->retryable) queues_.AdoptCause(&head);
    FailQueue(queue);
    return true;
  }
  if (queue.timeline.passed() == 0 || head.outstanding > 0 || !queues_.WaitsOver(head))
    return false;
  Complete(queue, *queue.timeline.EndFirst());
  return true;
}

void OperationPipeline::Complete(SessionQueue& queue, Operation& op) {
  if (auto* free = std::get_if<FreeOperation>(&op.body)) {
    frees_.Ended(*free);
  } else if (auto* replay = std::get_if<ReplayTraceOperation>(&op.body)) {
    // Buffers that the patches replaced are out of reach of every replay.
    for (ReplayTraceOperation::Patched& patch : replay->patched) {
      replay->trace->buffers[{patch.launch, patch.kernel}] = std::move(patch.buffers);
    }
  }
  queue.slices.EndJoins(op.last_value);
  queues_.End(queue, op.last_value, op.last_value - op.first_value + 1,
              std::exchange(op.held.total, 0));
  op.Release();
}

// The first error of a queue: it and everything sent behind it end here.
void OperationPipeline::FailQueue(SessionQueue& queue) {
  const Operation& head = *queue.timeline.front();
  const ErrorReply error = *head.error;
  const uint64_t first = head.first_value;
  const uint64_t through = std::max(head.last_value, head.error_through);
  const QueuePosition cause = HasCause(error) ? error.cause : QueuePosition{queue.id, first};
  outbox_.AddError(queue.id, first, through, error);
  if (queue.sent > through) {
    outbox_.AddError(queue.id, through + 1, queue.sent, CausedByError(cause));
  }
  queue.errors.Fail(first, queue.sent, cause);
  queues_.End(queue, queue.sent, queue.sent - first + 1, 0);
  // Backwards, so that a handle freed and created again is removed before it is restored.
  QueueTimeline::Operations operations = queue.TakeAll();
  while (!operations.empty()) {
    rollback_.Undo(*operations.back(), cause);
    Discard(*operations.back());
    operations.pop_back();
  }
  if (const std::shared_ptr<TraceObject> trace = std::exchange(queue.recording, nullptr)) {
    rollback_.RemoveObject(queue, trace->handle, trace.get(), cause);
  }
}

void OperationPipeline::Discard(Operation& op) {
  op.Drop();
  ReleaseDropped(op);
}

// Slices of a dropped operation that are on the card hold its part of the window until they have ended.
void OperationPipeline::ReleaseDropped(Operation& op) {
  if (!op.dropped() || op.outstanding > 0) return;
  outbox_.ReleaseEnded(std::exchange(op.held.total, 0));
  op.Release();
}

// ---- slices

bool OperationPipeline::MayStart(SessionQueue& queue, TimePoint now) {
  Operation& op = *queue.slices.next()->operation;
  if (op.started() || now <= op.start_by) return true;
  queue.MarkFailed(&op, StartDeadlineError(queue));
  return false;
}

Slice OperationPipeline::Submitted(SessionQueue& queue, const Ticket& ticket) {
  Slice slice = queue.slices.Submitted(ticket);
  slice.operation->stage = Operation::Stage::kStarted;
  ++slice.operation->outstanding;
  ++on_card_;
  if (BeginReady(queue)) {
    Advance();  // others may have waited for it
  } else {
    slices_.MakeNext(queue);
  }
  return slice;
}

void OperationPipeline::Refused(SessionQueue& queue, const SliceError& error) {
  queue.MarkFailed(queue.slices.next()->operation.get(), ReplyOf(error));
}

ErrorReply OperationPipeline::StartDeadlineError(const SessionQueue& queue) const {
  return MakeError(StatusCode::kDeadlineExceeded, reason::kDeadline, "",
                   "not started within its start deadline{}",
                   lease_text_(queue.card->device, queue.route.workers));
}

ErrorReply OperationPipeline::ReplyOf(const SliceError& error) {
  ErrorReply reply = MakeError(error.code, error.reason.c_str(), "", "{}", error.message);
  reply.retryable = error.retryable;
  reply.hang_report = error.hang_report;
  return reply;
}

void OperationPipeline::Done(Slice& slice) {
  Operation& op = *slice.operation;
  if (slice.read != nullptr && !op.dropped()) {
    outbox_.AddData(
        {slice.queue->id, op.first_value, slice.read->offset, std::move(slice.read->data)});
  }
  slice.read.reset();
  if (auto* read = std::get_if<ReadOperation>(&op.body)) read->ended += slice.bytes;
  if (auto* replay = std::get_if<ReplayTraceOperation>(&op.body)) ++replay->ended_segments;
  SliceEnded(slice);
}

void OperationPipeline::Failed(const Slice& slice, const SliceError& error) {
  Operation& op = *slice.operation;
  if (!op.dropped()) {
    ErrorReply reply = ReplyOf(error);
    reply.execution_state = op.StateAfter(error.state, slice.bytes);
    slice.queue->MarkFailed(&op, std::move(reply));
  }
  SliceEnded(slice);
}

void OperationPipeline::LeftCard(Operation& op) {
  --op.outstanding;
  --on_card_;
}

void OperationPipeline::SliceEnded(const Slice& slice) {
  Operation& op = *slice.operation;
  LearnLaunchTimes(op, slice, slice.queue->card->times.launch);
  LeftCard(op);
  if (std::holds_alternative<WriteOperation>(op.body)) {
    window_.ReleasePayload(op.held, slice.bytes);
  }
  ReleaseDropped(op);
}

void OperationPipeline::Requeue(const Ticket& ticket, Slice slice) {
  SessionQueue& queue = *slice.queue;
  Operation& op = *slice.operation;
  LeftCard(op);
  if (slice.read != nullptr) slice.read->data.clear();
  if (quarantined_ && slice.runs_kernels() && !op.dropped()) Quarantine(queue, &op);
  if (op.dropped() || op.error || queue.errors.IsFailing(op.first_value)) {
    queue.slices.TakeOff(ticket);
    ReleaseDropped(op);
  } else {
    queue.Return(ticket, std::move(slice));
  }
}

void OperationPipeline::Printed(const Operation& op, KernelPrint print) {
  if (op.dropped()) return;
  outbox_.AddPrint({{op.queue->id, op.first_value}, std::move(print)}, limits_.print_bytes);
}

void OperationPipeline::HostWorkEnded(Operation& op) {
  preparer_.HostWorkEnded(op);
  auto* const load = std::get_if<LoadKernelOperation>(&op.body);
  if (load != nullptr && !op.dropped()) decoder_.KernelLoaded(op, *load);
  ReleaseDropped(op);
}

void OperationPipeline::BeginQuarantine(const ErrorReply& error) {
  quarantined_ = error;
  decoder_.SetQuarantine(error);
  for (auto& [id, queue] : queues_.all()) {
    for (size_t i = 0; i < queue.timeline.size(); ++i) {
      Operation& op = *queue.timeline.at(i);
      if (op.error) break;  // what is behind it will not run
      // Operations that have started run to their end, but for a replay with launches that the card does not have.
      const bool replay = std::holds_alternative<ReplayTraceOperation>(op.body);
      if (op.started() && (!replay || i < queue.timeline.passed())) continue;
      if (PassesInQuarantine(op.body)) continue;
      Quarantine(queue, &op);
      break;
    }
  }
}

void OperationPipeline::Quarantine(SessionQueue& queue, Operation* op) {
  if (!op->has_run_in_part()) op->error_through = queue.sent;
  queue.MarkFailed(op, *quarantined_);
}

void OperationPipeline::EndQuarantine() {
  quarantined_.reset();
  decoder_.SetQuarantine(std::nullopt);
}

void OperationPipeline::DropAll() {
  decoder_.Drop();
  for (auto& [id, queue] : queues_.all()) {
    for (const auto& op : queue.TakeAll()) Discard(*op);
  }
}

void OperationPipeline::Release() {
  frees_.Clear();
  handles_.Clear();
  use_.Set(Resource::kQueues, 0);
}

void OperationPipeline::CheckDeadlines(TimePoint now) {
  queues_.ClearDeadlines();
  for (auto& [id, queue] : queues_.all()) {
    for (const auto& op : queue.timeline.all()) {
      if (op->started() || op->error) continue;
      if (op->start_by < now) {
        queue.MarkFailed(op.get(), StartDeadlineError(queue));
        break;  // nothing behind it will run
      }
      queues_.AddDeadline(op->start_by);
    }
  }
}

}  // namespace ttfd
