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

Executor::Executor(SessionEnvironment& environment, OutputBuffer& output, const Issuer::Flow& flow,
                   const TileSet& workers, std::shared_ptr<UserUse> user)
    : environment_(environment),
      output_(output),
      lease_(flow.lease),
      use_(environment.limits, std::move(user)),
      handles_(environment.limits, use_),
      decoder_(environment, handles_, workers),
      issuer_(environment, output, handles_, flow) {
  queues_.try_emplace(0, 0, Route{0, workers});
  CountQueues();
}

Status Executor::CheckQueue(uint32_t queue) const {
  if (queues_.contains(queue)) return OkStatus();
  return ProtocolError(
      "queue", "queue {} was not opened; queue 0 is there from the start, others by OpenQueue",
      queue);
}

// ---- batches

Status Executor::Append(BatchRequest& batch, std::vector<LoadedKernel>& loaded, TimePoint now) {
  RETURN_IF_ERROR(CheckQueue(batch.queue));
  CommandQueue& queue = queues_.at(batch.queue);
  SkipKnown(queue, &batch, &loaded);
  const uint64_t count = batch.commands.size();
  if (count > 0 && batch.first_value != queue.sent + 1) {
    return ProtocolError("batch.first_value", "value {} on queue {}; values are dense, {} is next",
                         batch.first_value, batch.queue, queue.sent + 1);
  }
  if (batch.clears_error != 0) ClearError(queue, batch.clears_error);
  commands_received_ += count;
  const uint64_t first = queue.sent + 1;
  std::vector<QueuePosition> waits;
  Refusal refusal = CheckBatch(batch, &waits);
  Duration start_within = std::chrono::milliseconds(batch.start_within_ms);
  if (start_within == Duration::zero()) start_within = start_timeout_;
  if (start_within == Duration::zero()) {
    start_within = std::chrono::milliseconds(environment_.start_ms.load(std::memory_order_relaxed));
  }
  const Arrival arrival{now, now + start_within};
  size_t next_loaded = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t value = first + i;
    queue.sent = value;
    if (refusal && !queue.failed() && !queue.doomed()) {
      auto task = std::make_unique<Task>();
      task->queue = &queue;
      task->first_value = task->last_value = value;
      payload_received_ += InlineBytes(batch.commands[i]);
      AppendRefused(queue, std::move(task), batch.commands[i], *refusal);
    } else {
      AppendOne(queue, batch.commands[i], value, arrival, waits, loaded, &next_loaded);
    }
  }
  CountInFlight();
  return OkStatus();
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
  if (Refusal refusal =
          use_.CheckUser(Resource::kCommands, batch.commands.size(), "batch.commands",
                         fmt::format("a batch of {} commands", batch.commands.size()))) {
    return refusal;
  }
  if (Refusal refusal = CheckPayload("batch.commands")) return refusal;
  if (Refusal refusal = CheckMemory()) return refusal;
  if (refuse_new_) return refuse_new_;
  for (const QueuePosition& wait : batch.waits) {
    const auto other = queues_.find(wait.queue);
    if (other == queues_.end() || wait.value > other->second.sent) {
      return InvalidError("batch.waits",
                          "a wait for value {} of queue {}, which was not sent before", wait.value,
                          wait.queue);
    }
    if (wait.queue == batch.queue || wait.value == 0) continue;
    if (const QueuePosition* cause = other->second.failures.CauseOf(wait.value))
      return CausedByError(*cause);
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

void Executor::AppendOne(CommandQueue& queue, Request& request, uint64_t value,
                         const Arrival& arrival, std::vector<QueuePosition>& waits,
                         std::vector<LoadedKernel>& loaded, size_t* next_loaded) {
  const uint64_t inline_bytes = InlineBytes(request);
  payload_received_ += inline_bytes;
  auto* load = std::get_if<LoadKernelRequest>(&request);
  LoadedKernel* const kernel =
      load != nullptr && load->is_inline ? &loaded[(*next_loaded)++] : nullptr;
  if (queue.failed()) {
    payload_used_ += inline_bytes;
    Unexecuted(queue, request, value, queue.cause);
    output_.AddError(queue.id, value, value, CausedByError(queue.cause));
    queue.failures.Add(value, value, queue.cause);
    queue.completed = value;
    output_.SetProgress(queue.id, value);
    ++commands_ended_;
    return;
  }
  if (queue.doomed()) {
    payload_used_ += inline_bytes;
    Unexecuted(queue, request, value, {queue.id, queue.doomed_from});
    return;  // reported with the error before it, when that has its turn
  }
  if (std::holds_alternative<BarrierRequest>(request) && !queue.never_opened &&
      queue.recording == nullptr && AppendBarrier(queue, value, arrival.start_by, !waits.empty())) {
    return;
  }
  auto task = std::make_unique<Task>();
  task->queue = &queue;
  task->first_value = task->last_value = value;
  task->start_by = arrival.start_by;
  task->arrived = arrival.at;
  task->waits = std::exchange(waits, {});
  if (queue.opened_by.value != 0 &&
      !queues_.at(queue.opened_by.queue).Ended(queue.opened_by.value)) {
    task->waits.push_back(queue.opened_by);
  }
  task->asked_waits = task->waits.size();
  Refusal refusal;
  if (queue.never_opened) {
    refusal = CausedByError(queue.never_opened_cause);
  } else {
    refusal = decoder_.Decode(request, task.get());
  }
  if (!refusal && std::holds_alternative<OpenQueueTask>(task->work))
    refusal = Opened(queue, task.get());
  if (refusal) return AppendRefused(queue, std::move(task), request, *std::move(refusal));
  if (kernel != nullptr) {
    auto& wanted = std::get<LoadKernelTask>(task->work);
    wanted.loaded = true;
    wanted.image = LoadedImage(wanted, *kernel);
  }
  task->payload_bytes = inline_bytes;
  Account(*task);
  next_deadline_ = std::min(next_deadline_, arrival.start_by);
  queue.tasks.push_back(std::move(task));
}

// Barriers cost no task: they end at once if nothing is before them, or make the one before longer.
bool Executor::AppendBarrier(CommandQueue& queue, uint64_t value, TimePoint start_by, bool waits) {
  if (waits) return false;
  if (queue.tasks.empty()) {
    if (queue.opened_by.value != 0 &&
        !queues_.at(queue.opened_by.queue).Ended(queue.opened_by.value))
      return false;
    queue.completed = value;
    output_.SetProgress(queue.id, value);
    ++commands_ended_;
    return true;
  }
  Task& last = *queue.tasks.back();
  if (!std::holds_alternative<BarrierTask>(last.work) || last.start_by != start_by) return false;
  last.last_value = value;
  return true;
}

void Executor::AppendRefused(CommandQueue& queue, std::unique_ptr<Task> task,
                             const Request& request, ErrorReply error) {
  const uint64_t value = task->first_value;
  payload_used_ += InlineBytes(request);
  Unexecuted(queue, request, value,
             error.cause.value != 0 ? error.cause : QueuePosition{queue.id, value});
  task->work = BarrierTask{};
  task->waits.clear();
  task->held_bytes = 0;  // not accounted: a queue has one of them
  Task* const refused = task.get();
  queue.tasks.push_back(std::move(task));
  queue.Doom(refused, std::move(error));
}

// What a task holds of its session's windows.
void Executor::Account(Task& task) {
  task.held_bytes += BytesOf(task);
  task_bytes_ += task.held_bytes;
  if (auto* free = std::get_if<FreeTask>(&task.work)) {
    ++frees_unfinished_;
    free->arrival = ++frees_received_;
    SetFreesPending();
    for (const auto& [id, queue] : queues_) {
      if (&queue != task.queue && !queue.Ended(queue.sent)) free->until.push_back({id, queue.sent});
    }
  }
}

Refusal Executor::Opened(CommandQueue& from, Task* task) {
  const auto& [id, route] = std::get<OpenQueueTask>(task->work);
  const auto found = queues_.find(id);
  if (found != queues_.end() && !found->second.never_opened) {
    return MakeError(StatusCode::kAlreadyExists, reason::kInvalid, "open_queue.queue",
                     "queue {} is open already", id);
  }
  if (Refusal refusal = use_.Check(Resource::kQueues, 1, "open_queue.queue", "no more queues")) {
    return refusal;
  }
  CommandQueue& opened = queues_.try_emplace(id, id, route).first->second;
  opened.never_opened = false;
  opened.failed_value = 0;
  opened.opened_by = {from.id, task->first_value};
  opened.track = std::make_shared<WorkTrack>(route);
  opened.works = 0;
  CountQueues();
  return std::nullopt;
}

void Executor::CountQueues() {
  uint64_t open = 0;
  for (const auto& entry : queues_) open += entry.second.never_opened ? 0 : 1;
  use_.Set(Resource::kQueues, open);
}

// A command that will not run: what it would have made never comes to be, and says why.
void Executor::Unexecuted(CommandQueue& queue, const Request& request, uint64_t value,
                          QueuePosition cause) {
  if (const uint64_t handle = Decoder::CreatedHandle(request); handle != 0) {
    if (handles_.Bury(handle, {queue.id, value}, cause)) queue.tombstones.push_back(handle);
  }
  if (const auto* open = std::get_if<OpenQueueRequest>(&request)) {
    // Kept few: a client that goes on opening queues it may not have is told so by protocol errors.
    if (queues_.size() >= 2 * size_t{environment_.limits.queues}) return;
    const auto [entry, added] = queues_.try_emplace(open->queue, open->queue, Route());
    if (!added) return;
    entry->second.never_opened = true;
    entry->second.never_opened_cause = cause;
  }
}

void Executor::ClearError(CommandQueue& queue, uint64_t value) {
  if (!queue.failed() || value < queue.failed_value || value > queue.sent) return;
  queue.failed_value = 0;
  for (const uint64_t handle : std::exchange(queue.tombstones, {})) handles_.Exhume(handle);
}

// ---- data

Status Executor::Supply(DataChunk& chunk, StreamedKernel* kernel) {
  RETURN_IF_ERROR(CheckQueue(chunk.queue));
  const SessionLimits& limits = environment_.limits;
  if (chunk.payload.size() > limits.chunk_bytes) {
    return ToStatus(LimitError("data.payload", "chunk_bytes", limits.chunk_bytes, 0,
                               fmt::format("a chunk of {} bytes", chunk.payload.size())));
  }
  CommandQueue& queue = queues_.at(chunk.queue);
  Task* const task = queue.Find(chunk.value);
  const bool known = chunk.value != 0 && chunk.value <= queue.resumed_at;
  if (known && queue.Ended(chunk.value)) {
    SkipPayload(chunk.payload.size());
    return OkStatus();
  }
  if (task == nullptr || task->error || (queue.doomed() && chunk.value >= queue.doomed_from)) {
    const bool unexecuted =
        chunk.value != 0 && chunk.value <= queue.sent &&
        (!queue.Ended(chunk.value) || queue.failures.CauseOf(chunk.value) != nullptr);
    if (!unexecuted) {
      return ProtocolError("data.value", "data for command {} of queue {}, which asked for none",
                           chunk.value, chunk.queue);
    }
    SkipPayload(chunk.payload.size());
    return OkStatus();
  }
  auto* write = std::get_if<WriteTask>(&task->work);
  auto* load = std::get_if<LoadKernelTask>(&task->work);
  const bool streamed =
      (write != nullptr && write->streamed) || (load != nullptr && load->streamed);
  if (!streamed) {
    return ProtocolError("data.value", "data for command {} of queue {}, which asked for none",
                         chunk.value, chunk.queue);
  }
  const uint64_t received = write != nullptr ? write->received : load->bytes.size();
  const uint64_t size = write != nullptr ? write->size : load->size;
  if (known && load != nullptr && load->loaded) {
    SkipPayload(chunk.payload.size());
    return OkStatus();
  }
  if (known && chunk.offset < received) {
    // It was sent before the session was resumed; what of it is new goes on.
    const uint64_t old = std::min<uint64_t>(received - chunk.offset, chunk.payload.size());
    SkipPayload(old);
    chunk.payload.erase(0, old);
    chunk.offset += old;
    if (chunk.payload.empty()) return OkStatus();
  }
  if ((load != nullptr && load->loaded) || chunk.offset != received ||
      chunk.payload.size() > size - received) {
    return ProtocolError(
        "data.offset",
        "{} bytes at offset {} of command {} of queue {}; it has {} of {} bytes so far, "
        "chunks come ascending, without gaps and without excess",
        chunk.payload.size(), chunk.offset, chunk.value, chunk.queue, received, size);
  }
  // What the first command brings goes to the card, and makes room.
  if (task != queue.tasks.front().get()) {
    if (Refusal refusal = CheckPayload("data.payload")) {
      queue.Doom(task, *std::move(refusal));
      SkipPayload(chunk.payload.size());
      return OkStatus();
    }
  }
  payload_received_ += chunk.payload.size();
  task->payload_bytes += chunk.payload.size();
  if (write != nullptr) {
    AddPayload(*write, std::move(chunk.payload));
  } else {
    load->bytes += chunk.payload;
    if (load->bytes.size() == size) {
      *kernel = {true, chunk.queue, chunk.value, load->name, std::move(load->bytes)};
    }
  }
  return OkStatus();
}

void Executor::KernelLoaded(const StreamedKernel& kernel, LoadedKernel loaded) {
  Task* const task = queues_.at(kernel.queue).Find(kernel.value);
  auto* load = task == nullptr ? nullptr : std::get_if<LoadKernelTask>(&task->work);
  if (load == nullptr) return;  // ended meanwhile
  load->loaded = true;
  load->image = LoadedImage(*load, loaded);
}

// ---- the end of input

Status Executor::Cancel(const CancelRequest& cancel) {
  const QueuePosition from = cancel.from;
  RETURN_IF_ERROR(CheckQueue(from.queue));
  CommandQueue& queue = queues_.at(from.queue);
  size_t index = 0;
  while (index < queue.tasks.size() &&
         (queue.tasks[index]->last_value < from.value || queue.tasks[index]->started)) {
    ++index;
  }
  if (index == queue.tasks.size()) return OkStatus();
  // It comes again after a resume, and what it meant has ended.
  if (cancel.sent_value != 0 && queue.tasks[index]->first_value > cancel.sent_value) {
    return OkStatus();
  }
  if (queue.tasks[index]->first_value < from.value) {
    // In the middle of a run of barriers: cut it.
    auto rest = std::make_unique<Task>();
    rest->queue = &queue;
    rest->first_value = from.value;
    rest->last_value = std::exchange(queue.tasks[index]->last_value, from.value - 1);
    rest->start_by = queue.tasks[index]->start_by;
    rest->last_work = queue.tasks[index]->last_work;
    if (index < queue.issued) ++queue.issued;
    ++index;
    queue.tasks.insert(queue.tasks.begin() + static_cast<ptrdiff_t>(index), std::move(rest));
  }
  Task& task = *queue.tasks[index];
  if (!task.error) {
    task.error_through = queue.sent;
    queue.Doom(&task, MakeError(StatusCode::kCancelled, reason::kCancelled, "",
                                "cancelled before it started"));
  }
  return OkStatus();
}

void Executor::FinishInput() {
  for (auto& [id, queue] : queues_) {
    for (const auto& task : queue.tasks) {
      if (!LacksData(*task)) continue;
      queue.Doom(
          task.get(),
          InvalidError("data", "the call was half-closed before all data of this command came"));
      break;
    }
  }
}

}  // namespace ttfd
