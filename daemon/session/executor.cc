// Beginning, retiring, failing.
#include "daemon/session/executor.h"

#include <algorithm>
#include <utility>

namespace ttfd {

Executor::Executor(SessionEnvironment& environment, Outbox& outbox, ReceiveWindow& window,
                   const Timeouts& timeouts, const SessionShare& share, const TileSet& workers,
                   std::shared_ptr<UserUse> user)
    : environment_(environment),
      outbox_(outbox),
      use_(environment.limits, std::move(user)),
      window_(window),
      handles_(environment.limits, use_, share.session),
      frees_(handles_),
      rollback_(handles_, frees_),
      queues_(outbox, share),
      issuer_(environment, outbox, timeouts, handles_, frees_, queues_, share),
      decoder_({environment, outbox, timeouts, use_, window_, handles_, queues_, frees_, issuer_},
               workers) {}

void Executor::Advance() {
  bool again = true;
  while (again) {
    again = false;
    for (auto& [id, queue] : queues_.all()) {
      if (!queue.operations.empty()) again |= AdvanceQueue(queue);
    }
    again |= frees_.Release(queues_);
  }
}

// True if something has begun, ended or is known not to run: others may have waited for it.
bool Executor::AdvanceQueue(SessionQueue& queue) {
  bool changed = queue.waiting > 0 && FailWaiters(queue);
  do {
    changed |= BeginReady(queue);
    issuer_.MakeNext(queue);
  } while (RetireHead(queue) && (changed = true));
  return changed;
}

// True if an operation has begun.
bool Executor::BeginReady(SessionQueue& queue) {
  const size_t before = queue.begun;
  while (queue.begun < queue.operations.size() &&
         queue.begun - queue.passed < environment_.windows.begun_operations) {
    Operation& op = *queue.operations[queue.begun];
    if (op.error || op.stage == Operation::Stage::kOnHost) break;
    // Its batch may have been decoded in part when the quarantine began.
    if (quarantined_ && !PassesInQuarantine(op.body)) {
      Quarantine(queue, &op);
      break;
    }
    ErrorReply error;
    Issuer::Step step = Ready(op, &error);
    if (step == Issuer::Step::kDone) step = issuer_.Begin(op, queue.begun == 0, &error);
    if (step == Issuer::Step::kBlocked) break;
    if (step == Issuer::Step::kRefused) {
      queue.MarkFailed(&op, std::move(error));
      break;
    }
    op.stage = Operation::Stage::kBegun;
    KeepWaits(queue, op);
    ++queue.begun;
  }
  return queue.begun > before;
}

// An operation may begin when what it waits for has: the scheduler leaves its slices in the queue until those are on
// the card, and the card does the rest. A failing operation does not get there; its error comes first.
Issuer::Step Executor::Ready(const Operation& op, ErrorReply* error) const {
  for (size_t i = 0; i < op.waits.size(); ++i) {
    const QueuePosition& wait = op.waits[i];
    const SessionQueue& other = queues_.At(wait.queue);
    if (!other.Begun(wait.value)) return Issuer::Step::kBlocked;
    if (!other.Ended(wait.value) && other.failing() && wait.value >= other.failing_from) {
      return Issuer::Step::kBlocked;
    }
    // An object that the operation names says itself whether the command that made it failed.
    const bool of_object = i >= op.asked_waits;
    if (of_object && other.failures.OutcomeUnknown(wait.value)) continue;
    if (Refusal refusal = queues_.CheckWait(wait)) {
      *error = *std::move(refusal);
      return Issuer::Step::kRefused;
    }
  }
  return Issuer::Step::kDone;
}

// Keeps the waits that are not over yet.
void Executor::KeepWaits(SessionQueue& queue, Operation& op) {
  std::erase_if(op.waits, [this](const QueuePosition& wait) { return queues_.Ended(wait); });
  if (!op.waits.empty()) ++queue.waiting;
}

// Operations that have begun and wait for what failed, or will not run.
bool Executor::FailWaiters(SessionQueue& queue) {
  // None waited for a failure when it began: without a new one there is nothing to find.
  const uint64_t failures = queues_.failures();
  if (std::exchange(queue.failures_known, failures) == failures) return false;
  bool changed = false;
  for (size_t i = 0; i < queue.operations.size() && i <= queue.begun; ++i) {
    Operation& op = *queue.operations[i];
    if (op.queued() || op.error) continue;
    for (const QueuePosition& wait : op.waits) {
      const SessionQueue& other = queues_.At(wait.queue);
      const QueuePosition* const cause = other.failures.CauseOf(wait.value);
      if (cause != nullptr) {
        queue.MarkFailed(&op, CausedByError(*cause));
        return true;
      }
      const bool failing =
          !other.Ended(wait.value) && other.failing() && wait.value >= other.failing_from;
      if (!failing || (queue.failing() && queue.failing_from <= op.first_value)) continue;
      queue.MarkFailedFrom(op);
      changed = true;
    }
  }
  return changed;
}

bool Executor::WaitsOver(Operation& op) const {
  return std::all_of(op.waits.begin(), op.waits.end(),
                     [this](const QueuePosition& wait) { return queues_.Ended(wait); });
}

// An operation ends after those it waited for, though the device may report it before them: it fails with them.
bool Executor::RetireHead(SessionQueue& queue) {
  if (queue.operations.empty()) return false;
  const std::shared_ptr<Operation> front = queue.operations.front();
  Operation& head = *front;
  if (head.error) {
    // An operation that has started runs to its end first. One that has not is refused when it is next.
    if (head.started() && (head.outstanding > 0 || !WaitsOver(head))) return false;
    if (head.started() && head.error->retryable) {  // a reset may have taken what it waited for
      for (const QueuePosition& wait : head.waits) {
        const QueuePosition* const cause = queues_.At(wait.queue).failures.CauseOf(wait.value);
        if (cause == nullptr) continue;
        const ExecutionState state = head.error->execution_state;
        *head.error = CausedByError(*cause);
        head.error->execution_state = state;  // it was on the card
      }
    }
    FailQueue(queue);
    return true;
  }
  if (queue.passed == 0 || head.outstanding > 0 || !WaitsOver(head)) return false;
  if (!head.waits.empty()) --queue.waiting;
  queue.operations.pop_front();
  --queue.begun;
  --queue.passed;
  Complete(queue, head);
  return true;
}

void Executor::Complete(SessionQueue& queue, Operation& op) {
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
void Executor::FailQueue(SessionQueue& queue) {
  const Operation& head = *queue.operations.front();
  const ErrorReply error = *head.error;
  const uint64_t first = head.first_value;
  const uint64_t through = std::max(head.last_value, head.error_through);
  queue.cause = HasCause(error) ? error.cause : QueuePosition{queue.id, first};
  outbox_.AddError(queue.id, first, through, error);
  if (queue.sent > through) {
    outbox_.AddError(queue.id, through + 1, queue.sent, CausedByError(queue.cause));
  }
  queue.failures.Add(first, queue.sent, queue.cause);
  ++queue.times_failed;
  queue.failed_value = first;
  queue.failing_from = 0;
  queues_.End(queue, queue.sent, queue.sent - first + 1, 0);
  queue.Clear();
  // Backwards, so that a handle freed and created again is removed before it is restored.
  std::deque<std::shared_ptr<Operation>> operations = std::exchange(queue.operations, {});
  while (!operations.empty()) {
    rollback_.Undo(*operations.back(), queue.cause);
    Discard(*operations.back());
    operations.pop_back();
  }
  if (const std::shared_ptr<TraceObject> trace = std::exchange(queue.recording, nullptr)) {
    rollback_.RemoveObject(queue, trace->handle, trace.get(), queue.cause);
  }
}

void Executor::Discard(Operation& op) {
  op.Drop();
  ReleaseDropped(op);
}

// Slices of a dropped operation that are on the card hold its part of the window until they have ended.
void Executor::ReleaseDropped(Operation& op) {
  if (!op.dropped() || op.outstanding > 0) return;
  outbox_.ReleaseEnded(std::exchange(op.held.total, 0));
  op.Release();
}

// ---- slices

bool Executor::MayStart(SessionQueue& queue, TimePoint now) {
  Operation& op = *queue.slices.next()->operation;
  if (op.started() || now <= op.start_by) return true;
  queue.MarkFailed(&op, StartDeadlineError(queue));
  return false;
}

Slice Executor::Submitted(SessionQueue& queue, const Ticket& ticket) {
  Slice slice = queue.slices.Submitted(ticket);
  slice.operation->stage = Operation::Stage::kStarted;
  issuer_.Submitted(*slice.operation);
  if (BeginReady(queue)) {
    Advance();  // others may have waited for it
  } else {
    issuer_.MakeNext(queue);
  }
  return slice;
}

void Executor::Refused(SessionQueue& queue, const SliceError& error) {
  queue.MarkFailed(queue.slices.next()->operation.get(), ReplyOf(error));
}

ErrorReply Executor::StartDeadlineError(const SessionQueue& queue) const {
  return MakeError(StatusCode::kDeadlineExceeded, reason::kDeadline, "",
                   "not started within its start deadline{}",
                   environment_.host->LeaseText(issuer_.lease(), queue.route.workers));
}

ErrorReply Executor::ReplyOf(const SliceError& error) {
  ErrorReply reply = MakeError(error.code, error.reason.c_str(), "", "{}", error.message);
  reply.retryable = error.retryable;
  reply.hang_report = error.hang_report;
  return reply;
}

void Executor::Done(Slice& slice) {
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

void Executor::Failed(const Slice& slice, const SliceError& error) {
  Operation& op = *slice.operation;
  if (!op.dropped()) {
    ErrorReply reply = ReplyOf(error);
    reply.execution_state = op.StateAfter(error.state, slice.bytes);
    slice.queue->MarkFailed(&op, std::move(reply));
  }
  SliceEnded(slice);
}

void Executor::SliceEnded(const Slice& slice) {
  Operation& op = *slice.operation;
  issuer_.Ended(op, slice);
  if (std::holds_alternative<WriteOperation>(op.body)) {
    window_.ReleasePayload(op.held, slice.bytes);
  }
  ReleaseDropped(op);
}

void Executor::Requeue(const Ticket& ticket, Slice slice) {
  SessionQueue& queue = *slice.queue;
  Operation& op = *slice.operation;
  issuer_.LeftCard(op);
  if (slice.read != nullptr) slice.read->data.clear();
  if (quarantined_ && slice.runs_kernels() && !op.dropped()) Quarantine(queue, &op);
  const bool failing = queue.failing() && op.first_value >= queue.failing_from;
  if (op.dropped() || op.error || failing) {
    queue.slices.TakeOff(ticket);
    ReleaseDropped(op);
  } else {
    queue.Return(ticket, std::move(slice));
  }
}

void Executor::Printed(const Operation& op, KernelPrint print) {
  if (op.dropped()) return;
  outbox_.AddPrint({{op.queue->id, op.first_value}, std::move(print)},
                   environment_.windows.print_bytes);
}

void Executor::HostWorkEnded(Operation& op) {
  issuer_.HostWorkEnded(op);
  auto* const load = std::get_if<LoadKernelOperation>(&op.body);
  if (load != nullptr && !op.dropped()) decoder_.KernelLoaded(op, *load);
  ReleaseDropped(op);
}

void Executor::BeginQuarantine(const ErrorReply& error) {
  quarantined_ = error;
  decoder_.SetQuarantine(error);
  for (auto& [id, queue] : queues_.all()) {
    for (size_t i = 0; i < queue.operations.size(); ++i) {
      Operation& op = *queue.operations[i];
      if (op.error) break;  // what is behind it will not run
      // Operations that have started run to their end, but for a replay with launches that the card does not have.
      const bool replay = std::holds_alternative<ReplayTraceOperation>(op.body);
      if (op.started() && (!replay || i < queue.passed)) continue;
      if (PassesInQuarantine(op.body)) continue;
      Quarantine(queue, &op);
      break;
    }
  }
}

void Executor::Quarantine(SessionQueue& queue, Operation* op) {
  if (!op->has_run_in_part()) op->error_through = queue.sent;
  queue.MarkFailed(op, *quarantined_);
}

void Executor::EndQuarantine() {
  quarantined_.reset();
  decoder_.SetQuarantine(std::nullopt);
}

void Executor::DropAll() {
  decoder_.Drop();
  for (auto& [id, queue] : queues_.all()) {
    queue.Clear();
    for (const auto& op : std::exchange(queue.operations, {})) Discard(*op);
  }
}

void Executor::Release() {
  frees_.Clear();
  handles_.Clear();
  use_.Set(Resource::kQueues, 0);
}

void Executor::CheckDeadlines(TimePoint now) {
  queues_.ClearDeadlines();
  for (auto& [id, queue] : queues_.all()) {
    for (const auto& op : queue.operations) {
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
