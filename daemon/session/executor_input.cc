// What arrives: batches, data, cancellations.
#include <algorithm>
#include <utility>

#include "daemon/session/executor.h"
#include "daemon/session/payload.h"

namespace ttfd {
namespace {

// A protocol error: it ends the call.
template <typename... Args>
Status ProtocolError(const char* field, fmt::format_string<Args...> format, Args&&... args) {
  return ToStatus(InvalidError(field, format, std::forward<Args>(args)...));
}

// The kernel, unless it is not the one that was announced.
StatusOr<std::shared_ptr<const KernelImage>> LoadedImage(const LoadKernelTask& load,
                                                         LoadedKernel& loaded) {
  if (!load.sha256.empty() && load.sha256 != loaded.sha256) {
    return InvalidArgument("the bytes do not have the sha256 that came with them");
  }
  return std::move(loaded.image);
}

}  // namespace

Executor::Executor(SessionEnvironment& environment, Outbox& outbox, const Issuer::Flow& flow,
                   const TileSet& workers, std::shared_ptr<UserUse> user)
    : environment_(environment),
      outbox_(outbox),
      lease_(flow.lease),
      use_(environment.limits, user),
      window_(environment, outbox, use_, std::shared_ptr<WindowPool>(user, &user->window_pool())),
      handles_(environment.limits, use_, flow.id),
      decoder_(environment, handles_, workers),
      issuer_(environment, outbox, handles_, flow) {}

Status Executor::CheckQueue(uint32_t queue) const {
  if (queues_.contains(queue)) return OkStatus();
  return ProtocolError("queue", "queue {} was not opened; send OpenQueue first", queue);
}

// ---- queues

Status Executor::OpenQueue(const OpenQueueRequest& request) {
  const auto found = queues_.find(request.queue);
  const bool known = found != queues_.end();
  Refusal refusal;
  if (known && !found->second.never_opened) {
    refusal = MakeError(StatusCode::kAlreadyExists, reason::kInvalid, "open_queue.queue",
                        "queue {} is open already, and stays as it is", request.queue);
  } else {
    refusal = OpenNow(request);
  }
  if (!refusal) return OkStatus();
  if (!known) {
    // Commands for it may follow, sent before the client has the error.
    const uint64_t most = uint64_t{2} * environment_.limits.queues;
    if (queues_.size() >= most) {
      return ToStatus(LimitError("open_queue.queue", "queues", environment_.limits.queues,
                                 use_.used(Resource::kQueues),
                                 fmt::format("{} queues open or refused", queues_.size() + 1)));
    }
    queues_.try_emplace(request.queue, request.queue, Route()).first->second.never_opened = true;
  }
  outbox_.SetOpenError(request.queue, *refusal);
  return OkStatus();
}

Refusal Executor::OpenNow(const OpenQueueRequest& request) {
  Route route;
  if (Refusal refusal = decoder_.DecodeQueue(request, &route)) return refusal;
  if (Refusal refusal = use_.Check(Resource::kQueues, 1, "open_queue.queue", "no more queues")) {
    return refusal;
  }
  CommandQueue& queue = queues_.try_emplace(request.queue, request.queue, route).first->second;
  queue.never_opened = false;
  ReclaimFailedHandles(queue);
  queue.track = std::make_shared<WorkTrack>(route);
  queue.works = 0;
  CountQueues();
  return std::nullopt;
}

void Executor::CountQueues() {
  uint64_t open = 0;
  for (const auto& entry : queues_) open += entry.second.never_opened ? 0 : 1;
  use_.Set(Resource::kQueues, open);
}

// ---- batches

Status Executor::Append(BatchRequest& batch, TimePoint now, std::vector<KernelToLoad>* kernels) {
  RETURN_IF_ERROR(CheckQueue(batch.queue));
  CommandQueue& queue = queues_.at(batch.queue);
  const uint64_t count = batch.commands.size();
  if (count > 0 && batch.first_value != queue.sent + 1) {
    return ProtocolError("batch.first_value", "value {} on queue {}; values are dense, {} is next",
                         batch.first_value, batch.queue, queue.sent + 1);
  }
  if (batch.clears_error != 0) ClearError(queue, batch.clears_error);
  std::vector<QueuePosition> waits;
  Refusal refusal = CheckBatch(batch, &waits);
  const Arrival arrival{now, now + StartWithin(batch)};
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t cost = window_.TakeCost(i < batch.costs.size() ? batch.costs[i] : 0);
    const Arriving one{batch.commands[i], ++queue.sent, cost};
    if (refusal && queue.accepts()) {
      auto task = std::make_unique<Task>();
      task->queue = &queue;
      task->first_value = task->last_value = one.value;
      AppendRefused(queue, std::move(task), one, *refusal);
    } else {
      AppendOne(queue, one, arrival, waits, kernels);
    }
  }
  return OkStatus();
}

Duration Executor::StartWithin(const BatchRequest& batch) const {
  if (batch.start_within_ms) return std::chrono::milliseconds(*batch.start_within_ms);
  if (start_timeout_ != Duration::zero()) return start_timeout_;
  return std::chrono::milliseconds(environment_.start_ms.load(std::memory_order_relaxed));
}

Refusal Executor::CheckWait(const QueuePosition& wait) const {
  const FailureHistory& failures = queues_.at(wait.queue).failures;
  if (const QueuePosition* const cause = failures.CauseOf(wait.value)) return CausedByError(*cause);
  if (!failures.OutcomeUnknown(wait.value)) return std::nullopt;
  return MakeError(StatusCode::kOutOfRange, reason::kInvalid, "batch.waits",
                   "a wait for command {} of queue {}: whether it failed is not recorded any more, "
                   "the queue has failed more than {} times since; wait for a later value",
                   wait.value, wait.queue, FailureHistory::kRanges);
}

Refusal Executor::CheckBatch(const BatchRequest& batch, std::vector<QueuePosition>* waits) const {
  const SessionLimits& limits = environment_.limits;
  if (batch.commands.size() > limits.commands_per_batch) {
    return LimitError("batch.commands", "commands_per_batch", limits.commands_per_batch, 0,
                      fmt::format("a batch of {} commands", batch.commands.size()));
  }
  if (batch.waits.size() > limits.waits_per_batch) {
    return LimitError("batch.waits", "waits_per_batch", limits.waits_per_batch, 0,
                      fmt::format("a batch with {} waits", batch.waits.size()));
  }
  if (refuse_new_) return refuse_new_;
  for (const QueuePosition& wait : batch.waits) {
    const auto other = queues_.find(wait.queue);
    if (other == queues_.end() || wait.value > other->second.sent) {
      return InvalidError("batch.waits",
                          "a wait for value {} of queue {}, which was not sent before", wait.value,
                          wait.queue);
    }
    if (wait.queue == batch.queue || wait.value == 0) continue;
    if (Refusal refusal = CheckWait(wait)) return refusal;
    if (other->second.Ended(wait.value)) continue;
    // Values of a queue end in order, and with the first error: the last of them stands for all.
    const auto known = std::find_if(waits->begin(), waits->end(), [&](const QueuePosition& one) {
      return one.queue == wait.queue;
    });
    if (known == waits->end()) {
      waits->push_back(wait);
    } else {
      known->value = std::max(known->value, wait.value);
    }
  }
  return std::nullopt;
}

void Executor::AppendOne(CommandQueue& queue, const Arriving& one, const Arrival& arrival,
                         std::vector<QueuePosition>& waits, std::vector<KernelToLoad>* kernels) {
  if (queue.failed()) return AppendToFailed(queue, one, queue.cause);
  if (queue.never_opened) return AppendToFailed(queue, one, {queue.id, 0});
  if (queue.doomed()) {
    // Reported with the error before it, whose task keeps what it costs.
    Unexecuted(queue, one, {queue.id, queue.doomed_from});
    queue.tasks.back()->held.total += one.cost;
    return;
  }
  if (std::holds_alternative<BarrierRequest>(one.request) && queue.recording == nullptr &&
      AppendBarrier(queue, one, arrival.start_by, !waits.empty())) {
    return;
  }
  const uint64_t inline_bytes = InlineBytes(one.request);
  auto task = std::make_unique<Task>();
  task->queue = &queue;
  task->first_value = task->last_value = one.value;
  task->start_by = arrival.start_by;
  task->arrived = arrival.at;
  task->waits = std::exchange(waits, {});
  task->asked_waits = task->waits.size();
  if (Refusal refusal = decoder_.Decode(one.request, task.get())) {
    return AppendRefused(queue, std::move(task), one, *std::move(refusal));
  }
  if (auto* load = std::get_if<LoadKernelTask>(&task->work);
      load != nullptr && load->stage == LoadKernelTask::Stage::kLoading) {
    kernels->push_back({{queue.id, one.value}, load->name, std::move(load->bytes)});
  } else if (inline_bytes > 0) {
    task->held.payload_bytes = inline_bytes;
    task->held.payload = std::min(inline_bytes, one.cost);
  }
  task->held.total = one.cost;
  if (auto* free = std::get_if<FreeTask>(&task->work)) NoteFree(queue, free);
  next_deadline_ = std::min(next_deadline_, arrival.start_by);
  queue.tasks.push_back(std::move(task));
}

void Executor::AppendToFailed(CommandQueue& queue, const Arriving& one, QueuePosition cause) {
  Unexecuted(queue, one, cause);
  outbox_.AddError(queue.id, one.value, one.value, CausedByError(cause));
  queue.failures.Add(one.value, one.value, cause);
  End(queue, one.value, one.cost);
  ++commands_ended_;
}

// Barriers cost no task: they end at once if nothing is before them, or make the one before longer.
bool Executor::AppendBarrier(CommandQueue& queue, const Arriving& one, TimePoint start_by,
                             bool waits) {
  if (waits) return false;
  if (queue.tasks.empty()) {
    End(queue, one.value, one.cost);
    ++commands_ended_;
    return true;
  }
  Task& last = *queue.tasks.back();
  if (!std::holds_alternative<BarrierTask>(last.work) || last.start_by != start_by) return false;
  last.last_value = one.value;
  last.held.total += one.cost;
  return true;
}

void Executor::AppendRefused(CommandQueue& queue, std::unique_ptr<Task> task, const Arriving& one,
                             ErrorReply error) {
  Unexecuted(queue, one, HasCause(error) ? error.cause : QueuePosition{queue.id, one.value});
  task->work = BarrierTask{};
  task->waits.clear();
  task->held.total = one.cost;
  Task* const refused = task.get();
  queue.tasks.push_back(std::move(task));
  queue.Doom(refused, std::move(error));
}

// Its objects' memory returns when what was sent before it, on any queue, has ended.
void Executor::NoteFree(const CommandQueue& own, FreeTask* free) {
  ++frees_unfinished_;
  free->arrival = ++frees_received_;
  SetFreesPending();
  for (const auto& [id, queue] : queues_) {
    if (&queue != &own && !queue.Ended(queue.sent)) free->until.push_back({id, queue.sent});
  }
}

// A command that will not run: what it would have made never comes to be, and says why.
void Executor::Unexecuted(CommandQueue& queue, const Arriving& one, QueuePosition cause) {
  const uint64_t handle = Decoder::CreatedHandle(one.request);
  if (handle == 0) return;
  if (handles_.Bury(handle, {queue.id, one.value}, cause)) queue.failed_handles.push_back(handle);
}

void Executor::ClearError(CommandQueue& queue, uint64_t value) {
  if (!queue.failed() || value < queue.failed_value || value > queue.sent) return;
  queue.failed_value = 0;
  ReclaimFailedHandles(queue);
}

void Executor::ReclaimFailedHandles(CommandQueue& queue) {
  for (const uint64_t handle : std::exchange(queue.failed_handles, {})) handles_.Exhume(handle);
}

// ---- data

Status Executor::Supply(DataChunk& chunk, std::vector<KernelToLoad>* kernels) {
  RETURN_IF_ERROR(CheckQueue(chunk.queue));
  const SessionLimits& limits = environment_.limits;
  if (chunk.payload.size() > limits.chunk_bytes) {
    return ToStatus(LimitError("data.payload", "chunk_bytes", limits.chunk_bytes, 0,
                               fmt::format("a chunk of {} bytes", chunk.payload.size())));
  }
  CommandQueue& queue = queues_.at(chunk.queue);
  Task* const task = queue.Find(chunk.value);
  const bool runs =
      task != nullptr && !task->error && !(queue.doomed() && chunk.value >= queue.doomed_from);
  if (runs) return TakeChunk(queue, *task, chunk, kernels);
  const bool unexecuted =
      chunk.value != 0 && chunk.value <= queue.sent &&
      (!queue.Ended(chunk.value) || queue.failures.CauseOf(chunk.value) != nullptr ||
       queue.failures.OutcomeUnknown(chunk.value));
  if (unexecuted) return OkStatus();  // sent before the client had the error
  return ProtocolError("data.value", "data for command {} of queue {}, which expects none",
                       chunk.value, chunk.queue);
}

Status Executor::TakeChunk(CommandQueue& queue, Task& task, DataChunk& chunk,
                           std::vector<KernelToLoad>* kernels) {
  auto* const write = std::get_if<WriteTask>(&task.work);
  auto* const load = std::get_if<LoadKernelTask>(&task.work);
  const bool streamed = (write != nullptr && write->streamed) ||
                        (load != nullptr && load->stage != LoadKernelTask::Stage::kCached);
  if (!streamed) {
    return ProtocolError("data.value", "data for command {} of queue {}, which expects none",
                         chunk.value, chunk.queue);
  }
  const uint64_t size = write != nullptr ? write->size : load->size;
  const bool complete = load != nullptr && load->stage != LoadKernelTask::Stage::kReceiving;
  const uint64_t received = write != nullptr ? write->received
                            : complete       ? size
                                             : load->bytes.size();
  const uint64_t bytes = chunk.payload.size();
  if (complete || chunk.offset != received || bytes > size - received) {
    return ProtocolError(
        "data.offset",
        "{} bytes at offset {} of command {} of queue {}; it has {} of {} bytes so far, chunks "
        "must be ascending, without gaps and without excess",
        bytes, chunk.offset, chunk.value, chunk.queue, received, size);
  }
  if (write != nullptr) {
    task.held.AddPayload(window_.TakeCost(chunk.cost), bytes);
    AddPayload(*write, std::move(chunk.payload));
    return OkStatus();
  }
  // A kernel's bytes are charged as the kernel is. They would fill a window that is smaller than the file.
  if (Refusal refusal = ChargeKernel(load, bytes)) {
    queue.Doom(&task, *std::move(refusal));
    return OkStatus();
  }
  load->bytes += chunk.payload;
  if (load->bytes.size() < size) return OkStatus();
  load->stage = LoadKernelTask::Stage::kLoading;
  kernels->push_back({{chunk.queue, chunk.value}, load->name, std::move(load->bytes)});
  return OkStatus();
}

Refusal Executor::ChargeKernel(LoadKernelTask* load, uint64_t bytes) {
  Refusal refusal = use_.Take(Resource::kKernelBytes, bytes, "load_kernel",
                              fmt::format("{} bytes of a kernel", bytes));
  if (refusal) return refusal;
  UseHold hold(&use_, Resource::kKernelBytes, bytes);
  load->kept.Add(std::move(hold));
  return std::nullopt;
}

bool Executor::AwaitsKernel(QueuePosition position) const {
  const CommandQueue& queue = queues_.at(position.queue);
  const Task* const task = queue.Find(position.value);
  return task != nullptr && !task->error &&
         !(queue.doomed() && position.value >= queue.doomed_from);
}

void Executor::KernelLoaded(const KernelToLoad& kernel, LoadedKernel loaded) {
  CommandQueue& queue = queues_.at(kernel.position.queue);
  Task* const task = queue.Find(kernel.position.value);
  auto* load = task == nullptr ? nullptr : std::get_if<LoadKernelTask>(&task->work);
  if (load == nullptr) return;  // ended meanwhile
  load->stage = LoadKernelTask::Stage::kLoaded;
  load->image = LoadedImage(*load, loaded);
  load->kept = UseHold();
  if (!load->image.ok()) return;
  if (Refusal refusal = ChargeKernel(load, HeldBytes(**load->image))) {
    load->image = std::shared_ptr<const KernelImage>();
    queue.Doom(task, *std::move(refusal));
  }
}

// ---- the end of input

Status Executor::Cancel(const QueuePosition& from) {
  RETURN_IF_ERROR(CheckQueue(from.queue));
  CommandQueue& queue = queues_.at(from.queue);
  auto found = std::lower_bound(
      queue.tasks.begin(), queue.tasks.end(), from.value,
      [](const auto& known, uint64_t wanted) { return known->last_value < wanted; });
  while (found != queue.tasks.end() && (*found)->started()) ++found;
  if (found == queue.tasks.end()) return OkStatus();
  if ((*found)->first_value < from.value) {
    // In the middle of a run of barriers: cut it.
    Task& before = **found;
    auto rest = std::make_unique<Task>();
    rest->queue = &queue;
    rest->first_value = from.value;
    rest->last_value = std::exchange(before.last_value, from.value - 1);
    rest->start_by = before.start_by;
    rest->last_work = before.last_work;
    if (static_cast<size_t>(found - queue.tasks.begin()) < queue.issued) ++queue.issued;
    found = queue.tasks.insert(found + 1, std::move(rest));
  }
  Task& task = **found;
  if (!task.error) {
    task.error_through = queue.sent;
    queue.Doom(&task, MakeError(StatusCode::kCancelled, reason::kCancelled, "",
                                "cancelled before it started"));
  }
  return OkStatus();
}

bool Executor::LacksData(const Task& task) {
  if (const auto* write = std::get_if<WriteTask>(&task.work)) return write->received < write->size;
  const auto* load = std::get_if<LoadKernelTask>(&task.work);
  return load != nullptr && load->stage == LoadKernelTask::Stage::kReceiving;
}

void Executor::FinishInput() {
  for (auto& [id, queue] : queues_) {
    for (const auto& task : queue.tasks) {
      if (!LacksData(*task)) continue;
      queue.Doom(
          task.get(),
          InvalidError("data", "the client finished before it had sent all data of this command"));
      break;
    }
  }
}

}  // namespace ttfd
