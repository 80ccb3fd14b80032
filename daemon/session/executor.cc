// Issuing, retiring, failing.
#include "daemon/session/executor.h"

#include <algorithm>
#include <utility>

namespace ttfd {

Executor::Executor(SessionEnvironment& environment, Outbox& outbox, ReceiveWindow& window,
                   const Timeouts& timeouts, const Issuer::Flow& flow, const TileSet& workers,
                   std::shared_ptr<UserUse> user)
    : environment_(environment),
      outbox_(outbox),
      use_(environment.limits, std::move(user)),
      window_(window),
      handles_(environment.limits, use_, flow.id),
      frees_(handles_),
      queues_(outbox),
      issuer_(environment, outbox, timeouts, handles_, frees_, flow),
      decoder_({environment, outbox, timeouts, use_, window_, handles_, queues_, frees_, issuer_},
               workers) {}

void Executor::Pump() {
  bool again = true;
  while (again) {
    again = false;
    issuer_.BeginRound();
    for (auto& [id, queue] : queues_.all()) {
      if (!queue.tasks.empty()) again |= PumpQueue(queue);
    }
    again |= frees_.Release(queues_);
  }
}

// True if something was issued, ended or is known not to run: others may have waited for it.
bool Executor::PumpQueue(CommandQueue& queue) {
  bool changed = queue.waiting > 0 && DoomWaiters(queue);
  do {
    changed |= IssueReady(queue);
  } while (RetireHead(queue) && (changed = true));
  return changed;
}

// True if a task was handed over as a whole.
bool Executor::IssueReady(CommandQueue& queue) {
  const size_t before = queue.issued;
  while (queue.issued < queue.tasks.size()) {
    Task& task = *queue.tasks[queue.issued];
    if (task.error) break;
    ErrorReply error;
    if (task.stage == Task::Stage::kOnHost) break;
    if (task.stage == Task::Stage::kQueued) {
      Issuer::Step step = Ready(task, &error);
      if (step == Issuer::Step::kDone) step = issuer_.Begin(task, queue.issued == 0, &error);
      if (step == Issuer::Step::kBlocked) break;
      if (step == Issuer::Step::kRefused) {
        queue.Doom(&task, std::move(error));
        break;
      }
      task.stage = Task::Stage::kIssuing;
      if (!task.waits.empty()) KeepWaits(queue, task);
    }
    if (issuer_.More(task) != Issuer::Step::kDone) break;
    task.last_work = queue.works;
    ++queue.issued;
  }
  return queue.issued > before;
}

// A task may be issued when what it waits for has been: the device thread keeps its works until those are on the
// device, and the device does the rest. What is doomed does not get there; its error comes first.
Issuer::Step Executor::Ready(const Task& task, ErrorReply* error) const {
  for (size_t i = 0; i < task.waits.size(); ++i) {
    const QueuePosition& wait = task.waits[i];
    const CommandQueue& other = queues_.At(wait.queue);
    if (!other.Issued(wait.value)) return Issuer::Step::kBlocked;
    if (!other.Ended(wait.value) && other.doomed() && wait.value >= other.doomed_from) {
      return Issuer::Step::kBlocked;
    }
    // An object that the task names says itself whether the command that made it failed.
    const bool of_object = i >= task.asked_waits;
    if (of_object && other.failures.OutcomeUnknown(wait.value)) continue;
    if (Refusal refusal = queues_.CheckWait(wait)) {
      *error = *std::move(refusal);
      return Issuer::Step::kRefused;
    }
  }
  return Issuer::Step::kDone;
}

// Its waits that are not over yet, which also hold for what is issued behind it.
void Executor::KeepWaits(CommandQueue& queue, Task& task) {
  std::erase_if(task.waits, [this](const QueuePosition& wait) { return queues_.Ended(wait); });
  for (const QueuePosition& wait : task.waits) {
    const CommandQueue& other = queues_.At(wait.queue);
    const uint64_t last = other.LastWork(wait.value);
    const auto known = std::find_if(queue.after.begin(), queue.after.end(),
                                    [&](const WorkWait& one) { return one.track == other.track; });
    if (known == queue.after.end()) {
      queue.after.push_back({other.track, last});
    } else {
      known->number = std::max(known->number, last);
    }
  }
  if (!task.waits.empty()) ++queue.waiting;
}

// Issued tasks that wait for what failed, or will not run.
bool Executor::DoomWaiters(CommandQueue& queue) {
  // None waited for a failure when it was issued: without a new one there is nothing to find.
  const uint64_t failures = queues_.failures();
  if (std::exchange(queue.failures_known, failures) == failures) return false;
  bool changed = false;
  for (size_t i = 0; i < queue.tasks.size() && i <= queue.issued; ++i) {
    Task& task = *queue.tasks[i];
    if (task.queued() || task.error) continue;
    for (const QueuePosition& wait : task.waits) {
      const CommandQueue& other = queues_.At(wait.queue);
      const QueuePosition* const cause = other.failures.CauseOf(wait.value);
      if (cause != nullptr) {
        queue.Doom(&task, CausedByError(*cause));
        return true;
      }
      const bool doomed =
          !other.Ended(wait.value) && other.doomed() && wait.value >= other.doomed_from;
      if (!doomed || (queue.doomed() && queue.doomed_from <= task.first_value)) continue;
      queue.DoomFrom(task);
      changed = true;
    }
  }
  return changed;
}

bool Executor::WaitsOver(Task& task) const {
  return std::all_of(task.waits.begin(), task.waits.end(),
                     [this](const QueuePosition& wait) { return queues_.Ended(wait); });
}

// A task ends after those it waited for, though the device may report it before them: it fails with them.
bool Executor::RetireHead(CommandQueue& queue) {
  if (queue.tasks.empty()) return false;
  Task& head = *queue.tasks.front();
  if (head.error) {
    // What has started runs out first. What has not is refused when its turn comes.
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
  if (queue.issued == 0 || head.outstanding > 0 || !WaitsOver(head)) return false;
  if (!head.waits.empty()) --queue.waiting;
  std::unique_ptr<Task> task = std::move(queue.tasks.front());
  queue.tasks.pop_front();
  --queue.issued;
  Complete(queue, std::move(task));
  return true;
}

void Executor::Complete(CommandQueue& queue, std::unique_ptr<Task> task) {
  if (auto* free = std::get_if<FreeTask>(&task->work)) {
    frees_.Ended(*free);
  } else if (auto* replay = std::get_if<ReplayTraceTask>(&task->work)) {
    // What the patches replaced no replay can reach any more.
    for (ReplayTraceTask::Patched& patch : replay->patched) {
      replay->trace->buffers[{patch.launch, patch.kernel}] = std::move(patch.buffers);
    }
  }
  queues_.End(queue, task->last_value, task->last_value - task->first_value + 1,
              std::exchange(task->held.total, 0));
}

// The first error of a queue: it and everything sent behind it end here.
void Executor::FailQueue(CommandQueue& queue) {
  const Task& head = *queue.tasks.front();
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
  queue.doomed_from = 0;
  queues_.End(queue, queue.sent, queue.sent - first + 1, 0);
  queue.issued = 0;
  queue.waiting = 0;
  queue.after.clear();
  // Backwards, so that a handle freed and made anew is unmade before it is given back.
  std::deque<std::unique_ptr<Task>> tasks = std::exchange(queue.tasks, {});
  while (!tasks.empty()) {
    Undo(*tasks.back(), queue.cause);
    Discard(std::move(tasks.back()));
    tasks.pop_back();
  }
  if (const std::shared_ptr<TraceObject> trace = std::exchange(queue.recording, nullptr)) {
    Unmake(queue, trace->handle, trace.get(), queue.cause);
  }
  if (!dropped_.empty()) environment_.host->WorksUnwanted();
}

void Executor::Unmake(CommandQueue& queue, uint64_t handle, Object* object, QueuePosition cause) {
  object->state = Object::State::kFailed;
  object->cause = cause;
  // A later Free, which did not happen, gave it its place in the limits back.
  handles_.Discharge(object);
  handles_.Remove(handle, object);
  if (handles_.Bury(handle, object->creator, cause)) queue.failed_handles.push_back(handle);
}

// What the task did when it arrived, or was about to do, did not happen.
void Executor::Undo(Task& task, QueuePosition cause) {
  const auto unmake = [&](uint64_t handle, Object* object) {
    Unmake(*task.queue, handle, object, cause);
  };
  if (auto* allocate = std::get_if<AllocateTask>(&task.work)) {
    unmake(allocate->handle, allocate->buffer.get());
  } else if (auto* record = std::get_if<RecordTraceTask>(&task.work)) {
    if (record->last) unmake(record->trace->handle, record->trace.get());
  } else if (auto* replay = std::get_if<ReplayTraceTask>(&task.work)) {
    // If its patches reached the trace, later replays use what they name; if not, what they would have replaced.
    for (const ReplayTraceTask::Patched& patch : replay->patched) {
      if (!task.started()) break;
      auto& kept = replay->trace->buffers[{patch.launch, patch.kernel}];
      kept.insert(kept.end(), patch.buffers.begin(), patch.buffers.end());
    }
  } else if (auto* load = std::get_if<LoadKernelTask>(&task.work)) {
    unmake(load->handle, load->kernel.get());
  } else if (auto* create = std::get_if<CreateProgramTask>(&task.work)) {
    unmake(create->handle, create->program.get());
  } else if (auto* free = std::get_if<FreeTask>(&task.work)) {
    frees_.Undo(*free);
  }
}

void Executor::Discard(std::unique_ptr<Task> task) {
  if (task->outstanding == 0) return Destroy(*task);
  task->Drop();
  dropped_.push_back(std::move(task));
}

// Before the task is deleted: what it held of the window is released.
void Executor::Destroy(Task& task) { outbox_.ReleaseEnded(std::exchange(task.held.total, 0)); }

// ---- the device thread's answers

bool Executor::Start(Task& task, const Work& work, TimePoint now) {
  const CommandQueue& queue = *task.queue;
  const bool unwanted =
      task.dropped() || task.error || (queue.doomed() && task.first_value >= queue.doomed_from);
  if (!unwanted && quarantined_ && work.runs_kernels()) {
    if (!task.has_run_in_part()) task.error_through = task.queue->sent;
    task.queue->Doom(&task, *quarantined_);
  } else if (!unwanted && !task.started() && now > task.start_by) {
    task.queue->Doom(&task, StartDeadlineError(queue));
  }
  if (unwanted || task.error) {
    WorkEnded(task, work);
    return false;
  }
  task.stage = Task::Stage::kStarted;
  return true;
}

ErrorReply Executor::StartDeadlineError(const CommandQueue& queue) const {
  return MakeError(StatusCode::kDeadlineExceeded, reason::kDeadline, "",
                   "not started within its start deadline{}",
                   environment_.host->LeaseText(issuer_.lease(), queue.track->route().workers));
}

void Executor::Done(Task& task, Work& work) {
  if (work.read_into != nullptr && !task.dropped()) {
    outbox_.AddData(
        {task.queue->id, task.first_value, work.read_offset, std::move(*work.read_into)});
  }
  WorkEnded(task, work);
}

void Executor::Failed(Task& task, const Work& work, const WorkError& error) {
  if (!task.dropped()) {
    ErrorReply reply = MakeError(error.code, error.reason.c_str(), "", "{}", error.message);
    reply.retryable = error.retryable;
    reply.hang_report = error.hang_report;
    if (task.started()) reply.execution_state = task.StateAfter(error.state);
    task.queue->Doom(&task, std::move(reply));
  }
  WorkEnded(task, work);
}

void Executor::Printed(const Task& task, KernelPrint print) {
  if (task.dropped()) return;
  outbox_.AddPrint({{task.queue->id, task.first_value}, std::move(print)},
                   environment_.windows.print_bytes);
}

void Executor::WorkEnded(Task& task, const Work& work) {
  issuer_.Ended(task, work);
  if (std::holds_alternative<WriteTask>(task.work)) window_.ReleasePayload(task.held, work.bytes);
  DestroyIfDropped(task);
}

void Executor::HostWorkEnded(Task& task) {
  issuer_.HostWorkEnded(task);
  auto* const load = std::get_if<LoadKernelTask>(&task.work);
  if (load != nullptr && !task.dropped()) decoder_.KernelLoaded(task, *load);
  DestroyIfDropped(task);
}

void Executor::DestroyIfDropped(Task& task) {
  if (!task.dropped() || task.outstanding > 0) return;
  const auto found = std::find_if(dropped_.begin(), dropped_.end(),
                                  [&task](const auto& known) { return known.get() == &task; });
  std::swap(*found, dropped_.back());
  Destroy(*dropped_.back());
  dropped_.pop_back();
}

void Executor::Suspend(const ErrorReply& error) {
  quarantined_ = error;
  decoder_.RefuseNew(error);
  for (auto& [id, queue] : queues_.all()) {
    for (const auto& task : queue.tasks) {
      if (task->error) break;  // what is behind it will not run
      if (task->started()) continue;
      task->error_through = queue.sent;
      queue.Doom(task.get(), error);
      break;
    }
  }
}

void Executor::Unsuspend() {
  quarantined_.reset();
  decoder_.RefuseNew(std::nullopt);
}

void Executor::DropAll() {
  decoder_.Drop();
  for (auto& [id, queue] : queues_.all()) {
    queue.issued = 0;
    queue.waiting = 0;
    for (auto& task : std::exchange(queue.tasks, {})) Discard(std::move(task));
  }
  if (!dropped_.empty()) environment_.host->WorksUnwanted();
}

void Executor::Release() {
  frees_.Clear();
  handles_.Clear();
  use_.Set(Resource::kQueues, 0);
}

void Executor::CheckDeadlines(TimePoint now) {
  queues_.ClearDeadlines();
  for (auto& [id, queue] : queues_.all()) {
    for (const auto& task : queue.tasks) {
      if (task->started() || task->error) continue;
      if (task->start_by < now) {
        queue.Doom(task.get(), StartDeadlineError(queue));
        break;  // nothing behind it will run
      }
      queues_.AddDeadline(task->start_by);
    }
  }
}

}  // namespace ttfd
