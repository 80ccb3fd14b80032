// Commands of batches.
#include "daemon/session/batch_decoder.h"

#include <algorithm>
#include <utility>

#include "daemon/session/payload.h"
#include "daemon/session/quarantine.h"

namespace ttfd {

Status UnknownQueue(uint32_t queue) {
  return ToStatus(InvalidError("queue", "queue {} was not opened; send OpenQueue first", queue));
}

BatchDecoder::BatchDecoder(const DecoderParts& parts, Decoder& decoder)
    : parts_(parts), decoder_(decoder) {}

StatusOr<bool> BatchDecoder::Append(BatchRequest& batch, TimePoint arrived, InputBudget* budget) {
  SessionQueue* const found = parts_.queues.Find(batch.queue);
  if (found == nullptr) return UnknownQueue(batch.queue);
  SessionQueue& queue = *found;
  if (!batch_) {
    if (!budget->Spend(1, batch.waits.size())) return false;
    RETURN_IF_ERROR(BeginBatch(queue, batch, arrived));
  }
  for (size_t& next = batch_->next; next < batch.commands.size(); ++next) {
    if (!budget->Spend(1, InlineBytes(batch.commands[next]) >> 10)) return false;
    const uint64_t cost = parts_.window.TakeCost(next < batch.costs.size() ? batch.costs[next] : 0);
    const Arriving one{batch.commands[next], queue.sent + 1, cost};
    if (!AppendOne(queue, one, budget)) {
      parts_.window.PutCostBack(cost);
      return false;
    }
    queue.sent = one.value;
    batch_->progress = {};
  }
  batch_.reset();
  return true;
}

Status BatchDecoder::BeginBatch(SessionQueue& queue, const BatchRequest& batch, TimePoint arrived) {
  if (!batch.commands.empty() && batch.first_value != queue.sent + 1) {
    return ToStatus(InvalidError("batch.first_value",
                                 "value {} on queue {}; values are dense, {} is next",
                                 batch.first_value, batch.queue, queue.sent + 1));
  }
  if (batch.clears_error != 0) ClearError(queue, batch.clears_error);
  batch_.emplace(OpenBatch());
  batch_->arrival = {arrived, arrived + StartWithin(batch)};
  batch_->refusal = CheckBatch(batch, &batch_->waits);
  return OkStatus();
}

Duration BatchDecoder::StartWithin(const BatchRequest& batch) const {
  if (batch.start_within_ms) return std::chrono::milliseconds(*batch.start_within_ms);
  return parts_.timeouts.start();
}

Refusal BatchDecoder::CheckBatch(const BatchRequest& batch,
                                 std::vector<QueuePosition>* waits) const {
  const SessionLimits& limits = parts_.limits;
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
    const SessionQueue* const other = parts_.queues.Find(wait.queue);
    if (other == nullptr || wait.value > other->sent) {
      return InvalidError("batch.waits",
                          "a wait for value {} of queue {}, which was not sent before", wait.value,
                          wait.queue);
    }
    if (wait.queue == batch.queue || wait.value == 0) continue;
    if (Refusal refusal = parts_.queues.CheckWait(wait)) return refusal;
    if (other->Ended(wait.value)) continue;
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

std::shared_ptr<Operation> BatchDecoder::MakeOperation(SessionQueue& queue, uint64_t value) {
  auto op = std::make_shared<Operation>();
  op->queue = &queue;
  op->first_value = op->last_value = value;
  return op;
}

bool BatchDecoder::AppendOne(SessionQueue& queue, const Arriving& one, InputBudget* budget) {
  std::shared_ptr<Operation> op = std::move(batch_->op);
  if (!queue.errors.accepts()) {
    AppendUnexecuted(queue, one);
    return true;
  }
  const bool passes = !quarantined_ || PassesInQuarantine(one.request);
  if (const Refusal& refusal = batch_->refusal || passes ? batch_->refusal : quarantined_) {
    AppendRefused(queue, MakeOperation(queue, one.value), one, *refusal);
    return true;
  }
  const TimePoint start_by = batch_->arrival.start_by;
  if (std::holds_alternative<BarrierRequest>(one.request) && queue.recording == nullptr &&
      AppendBarrier(queue, one, start_by, !batch_->waits.empty())) {
    return true;
  }
  const uint64_t inline_bytes = InlineBytes(one.request);
  if (op == nullptr) {
    op = MakeOperation(queue, one.value);
    op->start_by = start_by;
    op->arrived = batch_->arrival.at;
    op->waits = std::exchange(batch_->waits, {});
    op->asked_waits = op->waits.size();
  }
  if (Refusal refusal = decoder_.Decode(one.request, op.get(), &batch_->progress, budget)) {
    AppendRefused(queue, std::move(op), one, *std::move(refusal));
    return true;
  }
  if (batch_->progress.partly) {
    batch_->op = std::move(op);
    return false;
  }
  if (auto* load = std::get_if<LoadKernelOperation>(&op->body);
      load != nullptr && load->stage == LoadKernelOperation::Stage::kLoading) {
    parts_.preparer.LoadOnHost(*op, *load);
  } else if (inline_bytes > 0) {
    op->held.payload_bytes = inline_bytes;
    op->held.payload = std::min(inline_bytes, one.cost);
  }
  op->held.total = one.cost;
  if (auto* free = std::get_if<FreeOperation>(&op->body))
    parts_.frees.Add(free, queue, parts_.queues);
  parts_.queues.AddDeadline(start_by);
  queue.timeline.Append(std::move(op));
  return true;
}

// To a queue that has failed, or will with the command before.
void BatchDecoder::AppendUnexecuted(SessionQueue& queue, const Arriving& one) {
  if (queue.errors.failed()) return AppendToFailed(queue, one, queue.errors.cause());
  if (queue.errors.never_opened()) return AppendToFailed(queue, one, {queue.id, 0});
  // Reported with the error before it, whose operation keeps what it costs.
  Unexecuted(queue, one, {queue.id, queue.errors.failing_from()});
  queue.timeline.back()->held.total += one.cost;
}

void BatchDecoder::AppendToFailed(SessionQueue& queue, const Arriving& one, QueuePosition cause) {
  Unexecuted(queue, one, cause);
  parts_.outbox.AddError(queue.id, one.value, one.value, CausedByError(cause));
  queue.errors.history().Add(one.value, one.value, cause);
  parts_.queues.End(queue, one.value, 1, one.cost);
}

// Barriers cost no operation: they end at once if nothing is before them, or make the one before longer.
bool BatchDecoder::AppendBarrier(SessionQueue& queue, const Arriving& one, TimePoint start_by,
                                 bool waits) {
  if (waits) return false;
  if (queue.timeline.empty()) {
    parts_.queues.End(queue, one.value, 1, one.cost);
    return true;
  }
  Operation& last = *queue.timeline.back();
  if (!std::holds_alternative<BarrierOperation>(last.body) || last.start_by != start_by)
    return false;
  last.last_value = one.value;
  last.held.total += one.cost;
  return true;
}

void BatchDecoder::AppendRefused(SessionQueue& queue, std::shared_ptr<Operation> op,
                                 const Arriving& one, ErrorReply error) {
  Unexecuted(queue, one, HasCause(error) ? error.cause : QueuePosition{queue.id, one.value});
  op->body = BarrierOperation{};
  op->waits.clear();
  op->held.total = one.cost;
  Operation* const refused = op.get();
  queue.timeline.Append(std::move(op));
  queue.MarkFailed(refused, std::move(error));
}

// A command that will not run: what it would have made never comes to be, and says why.
void BatchDecoder::Unexecuted(SessionQueue& queue, const Arriving& one, QueuePosition cause) {
  const uint64_t handle = Decoder::CreatedHandle(one.request);
  if (handle == 0) return;
  if (parts_.handles.MarkFailed(handle, {queue.id, one.value}, cause))
    queue.errors.AddFailedHandle(handle);
}

void BatchDecoder::ClearError(SessionQueue& queue, uint64_t value) {
  if (!queue.errors.failed() || value < queue.errors.failed_value() || value > queue.sent) return;
  queue.errors.Clear();
  ReclaimFailedHandles(queue);
}

void BatchDecoder::ReclaimFailedHandles(SessionQueue& queue) {
  for (const uint64_t handle : queue.errors.TakeFailedHandles())
    parts_.handles.RemoveFailed(handle);
}

}  // namespace ttfd
