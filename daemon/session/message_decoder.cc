// Queues, data, cancellations.
#include "daemon/session/message_decoder.h"

#include <algorithm>
#include <utility>

#include "daemon/session/payload.h"

namespace ttfd {
namespace {

// A protocol error: it ends the call.
template <typename... Args>
Status ProtocolError(const char* field, fmt::format_string<Args...> format, Args&&... args) {
  return ToStatus(InvalidError(field, format, std::forward<Args>(args)...));
}

}  // namespace

MessageDecoder::MessageDecoder(const DecoderParts& parts)
    : limits_(parts.limits),
      cards_(parts.cards),
      outbox_(parts.outbox),
      use_(parts.use),
      window_(parts.window),
      queues_(parts.queues),
      preparer_(parts.preparer),
      decoder_(parts.limits, parts.cards, parts.handles, parts.frees),
      batches_(parts, decoder_) {}

// ---- messages

void MessageDecoder::Begin(MessageRequest message) {
  message_.emplace(OpenMessage{std::move(message)});
  window_.BeginMessage(message_->message.cost);
}

void MessageDecoder::Drop() {
  message_.reset();
  batches_.Drop();
}

StatusOr<MessageDecoder::End> MessageDecoder::Continue(InputBudget* budget) {
  OpenMessage& open = *message_;
  MessageRequest& message = open.message;
  for (; open.queues < message.open_queues.size(); ++open.queues) {
    if (!budget->Spend(1, 0)) return End::kMore;
    RETURN_IF_ERROR(OpenQueue(message.open_queues[open.queues]));
  }
  for (; open.batches < message.batches.size(); ++open.batches) {
    ASSIGN_OR_RETURN(const bool all,
                     batches_.Append(message.batches[open.batches], message.arrived, budget));
    if (!all) return End::kMore;
  }
  for (; open.chunks < message.data.size(); ++open.chunks) {
    DataChunk& chunk = message.data[open.chunks];
    if (!budget->Spend(1, chunk.payload.size() >> 10)) return End::kMore;
    RETURN_IF_ERROR(Supply(chunk));
  }
  for (; open.cancels < message.cancels.size(); ++open.cancels) {
    if (!budget->Spend(1, 0)) return End::kMore;
    RETURN_IF_ERROR(Cancel(message.cancels[open.cancels]));
  }
  if (message.finish) FinishInput();
  window_.EndMessage();
  const End end = message.leave ? End::kLeave : message.finish ? End::kFinish : End::kAll;
  message_.reset();
  return end;
}

// ---- queues

Status MessageDecoder::OpenQueue(const OpenQueueRequest& request) {
  const SessionQueue* const known = queues_.Find(request.queue);
  Refusal refusal;
  if (known != nullptr && !known->errors.never_opened()) {
    refusal = MakeError(StatusCode::kAlreadyExists, reason::kInvalid, "open_queue.queue",
                        "queue {} is open already, and stays as it is", request.queue);
  } else {
    refusal = OpenNow(request);
  }
  if (!refusal) return OkStatus();
  if (known == nullptr) {
    // Commands for it may follow, sent before the client has the error.
    const uint64_t most = uint64_t{2} * limits_.queues;
    if (queues_.all().size() >= most) {
      return ToStatus(
          LimitError("open_queue.queue", "queues", limits_.queues, use_.used(Resource::kQueues),
                     fmt::format("{} queues open or refused", queues_.all().size() + 1)));
    }
    queues_.Open(request.queue, *cards_.all[cards_.device], Route()).errors.set_never_opened(true);
  }
  outbox_.SetOpenError(request.queue, *refusal);
  return OkStatus();
}

Refusal MessageDecoder::OpenNow(const OpenQueueRequest& request) {
  CardResources* card = nullptr;
  Route route;
  if (Refusal refusal = decoder_.DecodeQueue(request, &card, &route)) return refusal;
  if (Refusal refusal = use_.Check(Resource::kQueues, 1, "open_queue.queue", "no more queues")) {
    return refusal;
  }
  SessionQueue& queue = queues_.Open(request.queue, *card, route);
  queue.errors.set_never_opened(false);
  batches_.ReclaimFailedHandles(queue);
  CountQueues();
  return std::nullopt;
}

void MessageDecoder::CountQueues() {
  uint64_t open = 0;
  for (const auto& entry : queues_.all()) open += entry.second.errors.never_opened() ? 0 : 1;
  use_.Set(Resource::kQueues, open);
}

// ---- data

Status MessageDecoder::Supply(DataChunk& chunk) {
  SessionQueue* const found = queues_.Find(chunk.queue);
  if (found == nullptr) return UnknownQueue(chunk.queue);
  const SessionLimits& limits = limits_;
  if (chunk.payload.size() > limits.chunk_bytes) {
    return ToStatus(LimitError("data.payload", "chunk_bytes", limits.chunk_bytes, 0,
                               fmt::format("a chunk of {} bytes", chunk.payload.size())));
  }
  SessionQueue& queue = *found;
  Operation* const op = queue.timeline.Find(chunk.value);
  const bool runs = op != nullptr && !op->error && !queue.errors.IsFailing(chunk.value);
  if (runs) return TakeChunk(queue, *op, chunk);
  const bool unexecuted =
      chunk.value != 0 && chunk.value <= queue.sent &&
      (!queue.Ended(chunk.value) || queue.errors.history().CauseOf(chunk.value) != nullptr ||
       queue.errors.history().OutcomeUnknown(chunk.value));
  if (unexecuted) return OkStatus();  // sent before the client had the error
  return ProtocolError("data.value", "data for command {} of queue {}, which expects none",
                       chunk.value, chunk.queue);
}

Status MessageDecoder::TakeChunk(SessionQueue& queue, Operation& op, DataChunk& chunk) {
  auto* const write = std::get_if<WriteOperation>(&op.body);
  auto* const load = std::get_if<LoadKernelOperation>(&op.body);
  const bool streamed = (write != nullptr && write->streamed) ||
                        (load != nullptr && load->stage != LoadKernelOperation::Stage::kCached);
  if (!streamed) {
    return ProtocolError("data.value", "data for command {} of queue {}, which expects none",
                         chunk.value, chunk.queue);
  }
  const uint64_t size = write != nullptr ? write->size : load->size;
  const bool complete = load != nullptr && load->stage != LoadKernelOperation::Stage::kReceiving;
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
    op.held.AddPayload(window_.TakeCost(chunk.cost), bytes);
    AddPayload(*write, std::move(chunk.payload));
    return OkStatus();
  }
  // A kernel's bytes are charged as the kernel is. They would fill a window that is smaller than the file.
  if (Refusal refusal = ChargeKernel(load, bytes)) {
    queue.MarkFailed(&op, *std::move(refusal));
    return OkStatus();
  }
  load->bytes += chunk.payload;
  if (load->bytes.size() < size) return OkStatus();
  preparer_.LoadOnHost(op, *load);
  return OkStatus();
}

Refusal MessageDecoder::ChargeKernel(LoadKernelOperation* load, uint64_t bytes) {
  Refusal refusal = use_.Take(Resource::kKernelBytes, bytes, "load_kernel",
                              fmt::format("{} bytes of a kernel", bytes));
  if (refusal) return refusal;
  UseHold hold(&use_, Resource::kKernelBytes, bytes);
  load->kept.Add(std::move(hold));
  return std::nullopt;
}

void MessageDecoder::KernelLoaded(Operation& op, LoadKernelOperation& load) {
  load.stage = LoadKernelOperation::Stage::kLoaded;
  auto& image = load.loaded->image;
  if (!load.sha256.empty() && load.sha256 != load.loaded->sha256) {
    image = InvalidArgument("the bytes do not have the sha256 that came with them");
  }
  load.kept = UseHold();
  if (!image.ok()) return;
  if (Refusal refusal = ChargeKernel(&load, HeldBytes(**image))) {
    image = std::shared_ptr<const KernelImage>();
    op.queue->MarkFailed(&op, *std::move(refusal));
  }
}

// ---- the end of input

Status MessageDecoder::Cancel(const QueuePosition& from) {
  SessionQueue* const known = queues_.Find(from.queue);
  if (known == nullptr) return UnknownQueue(from.queue);
  SessionQueue& queue = *known;
  QueueTimeline& timeline = queue.timeline;
  size_t index = timeline.IndexOf(from.value);
  while (index < timeline.size() && timeline.at(index)->started()) ++index;
  if (index == timeline.size()) return OkStatus();
  // In the middle of a run of barriers: cut it.
  if (timeline.at(index)->first_value < from.value) timeline.Split(index++, from.value);
  Operation& op = *timeline.at(index);
  if (!op.error) {
    op.error_through = queue.sent;
    queue.MarkFailed(&op, MakeError(StatusCode::kCancelled, reason::kCancelled, "",
                                    "cancelled before it started"));
  }
  return OkStatus();
}

void MessageDecoder::FinishInput() {
  for (auto& [id, queue] : queues_.all()) {
    for (const auto& op : queue.timeline.all()) {
      if (!op->LacksData()) continue;
      queue.MarkFailed(
          op.get(),
          InvalidError("data", "the client finished before it had sent all data of this command"));
      break;
    }
  }
}

}  // namespace ttfd
