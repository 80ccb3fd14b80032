// Decodes the commands that move data and run programs.
#include "daemon/session/decoder.h"

#include <algorithm>
#include <span>
#include <utility>

#include "daemon/session/launch_arguments.h"
#include "daemon/session/payload.h"
#include "daemon/session/program_parts.h"
#include "daemon/session/transfer_checks.h"
#include "runtime/command/command.h"

namespace ttfd {
namespace {

// Limit of one launch: the device thread looks each up and waits for it.
constexpr size_t kMaxLaunchBuffers = 4096;

}  // namespace

Refusal Decoder::Decode(Request& request, Operation* op, DecodeProgress* progress,
                        InputBudget* budget) {
  progress_ = progress;
  budget_ = budget;
  const TraceObject* const recording = op->queue->recording.get();
  const auto* const record = std::get_if<RecordTraceRequest>(&request);
  if (recording != nullptr && (record == nullptr || record->handle != recording->handle)) {
    return InvalidError("record_trace.more",
                        "trace {} was to continue in this command, which does something else",
                        recording->handle);
  }
  if (!std::exchange(progress->partly, false)) {
    if (Refusal refusal = CheckAnyWords(request)) return refusal;
  }
  return std::visit([this, op](auto& one) { return DecodeOne(one, op); }, request);
}

uint64_t Decoder::CreatedHandle(const Request& request) {
  if (const auto* allocate = std::get_if<AllocateRequest>(&request)) return allocate->handle;
  if (const auto* load = std::get_if<LoadKernelRequest>(&request)) return load->handle;
  if (const auto* create = std::get_if<CreateProgramRequest>(&request)) return create->handle;
  if (const auto* record = std::get_if<RecordTraceRequest>(&request)) return record->handle;
  return 0;
}

// One wait a queue: a value stands for all before it.
void Decoder::DependOn(QueuePosition creator, Operation* op) {
  if (creator.queue == op->queue->id) return;  // ran before, by the order of the queue
  const auto own = op->waits.begin() + static_cast<ptrdiff_t>(op->asked_waits);
  const auto known = std::find_if(own, op->waits.end(), [creator](const QueuePosition& wait) {
    return wait.queue == creator.queue;
  });
  if (known == op->waits.end()) {
    op->waits.push_back(creator);
  } else {
    known->value = std::max(known->value, creator.value);
  }
}

Refusal Decoder::GetBuffer(uint64_t handle, const char* field, Operation* op,
                           std::shared_ptr<Buffer>* buffer) const {
  if (Refusal refusal = handles_.Get(handle, ObjectKind::kBuffer, field, buffer)) return refusal;
  DependOn(**buffer, op);
  return std::nullopt;
}

Refusal Decoder::DecodeOne(BarrierRequest&, Operation* op) {
  op->body = BarrierOperation{};
  return std::nullopt;
}

Refusal Decoder::DecodeOne(WriteRequest& request, Operation* op) {
  WriteOperation write;
  if (Refusal refusal = GetBuffer(request.buffer, "write.buffer", op, &write.buffer))
    return refusal;
  if (!request.is_inline && !request.streamed) return NoSourceError("write", request.unstreamed);
  if (Refusal refusal = CheckUnits(environment_.limits, *write.buffer, request.offset, request.size,
                                   "write.offset", "write.size")) {
    return refusal;
  }
  write.offset = request.offset;
  write.size = request.size;
  if (request.is_inline) {
    if (Refusal refusal = CheckInline(environment_.limits, request.size,
                                      request.inline_bytes.size(), "write.inline"))
      return refusal;
    AddPayload(write, std::move(request.inline_bytes));
  } else {
    write.streamed = true;
  }
  op->body = std::move(write);
  return std::nullopt;
}

Refusal Decoder::DecodeOne(ReadRequest& request, Operation* op) {
  ReadOperation read;
  if (Refusal refusal = GetBuffer(request.buffer, "read.buffer", op, &read.buffer)) return refusal;
  if (Refusal refusal = CheckRange(environment_.limits, *read.buffer, request.offset, request.size,
                                   "read.offset", "read.size")) {
    return refusal;
  }
  read.offset = request.offset;
  read.size = request.size;
  op->body = std::move(read);
  return std::nullopt;
}

Refusal Decoder::DecodeOne(FillRequest& request, Operation* op) {
  FillOperation fill;
  if (Refusal refusal = GetBuffer(request.buffer, "fill.buffer", op, &fill.buffer)) return refusal;
  if (Refusal refusal = CheckUnits(environment_.limits, *fill.buffer, request.offset, request.size,
                                   "fill.offset", "fill.size")) {
    return refusal;
  }
  fill.offset = request.offset;
  fill.size = request.size;
  fill.word = request.word;
  op->body = std::move(fill);
  return std::nullopt;
}

Refusal Decoder::DecodeOne(CopyRequest& request, Operation* op) {
  CopyOperation copy;
  if (Refusal refusal = GetBuffer(request.from, "copy.from", op, &copy.from)) return refusal;
  if (Refusal refusal = GetBuffer(request.to, "copy.to", op, &copy.to)) return refusal;
  if (Refusal refusal = CheckUnits(environment_.limits, *copy.from, request.from_offset,
                                   request.size, "copy.from_offset", "copy.size")) {
    return refusal;
  }
  if (Refusal refusal = CheckUnits(environment_.limits, *copy.to, request.to_offset, request.size,
                                   "copy.to_offset", "copy.size")) {
    return refusal;
  }
  if (!CopyKeepsUnits(copy.from->page_bytes, request.from_offset, copy.to->page_bytes,
                      request.to_offset, request.size)) {
    return InvalidError("copy.to_offset",
                        "from offset {} in pages of {} to offset {} in pages of {} bytes would "
                        "shift bytes within units of {}; pages that are no multiples of it are "
                        "copied within one page, or to pages of the same size and from the same "
                        "place in them",
                        request.from_offset, copy.from->page_bytes, request.to_offset,
                        copy.to->page_bytes, hw::kL1Alignment);
  }
  // Sliced copies would read what they have written.
  if (copy.from == copy.to && request.from_offset < request.to_offset + request.size &&
      request.to_offset < request.from_offset + request.size) {
    return InvalidError("copy.to_offset", "the two ranges of one buffer overlap");
  }
  copy.from_offset = request.from_offset;
  copy.to_offset = request.to_offset;
  copy.size = request.size;
  op->body = std::move(copy);
  return std::nullopt;
}

// A queue on a sub-device runs nothing outside it.
Refusal Decoder::CheckWorkers(const ProgramObject& program, const SessionQueue& queue,
                              const char* field) const {
  const TileSet& workers = queue.route.workers;
  const TileSet outside = program.tiles & ~workers;
  if (workers.none() || outside.none()) return std::nullopt;
  size_t first = 0;
  while (!outside.test(first)) ++first;
  return InvalidError(field,
                      "the program runs on {} workers outside the sub-device of queue {}, such as "
                      "({},{}); send it to a queue that was opened with them",
                      outside.count(), queue.id, first % environment_.card.grid.x,
                      first / environment_.card.grid.x);
}

Refusal Decoder::ResolveBuffers(const ArgumentsRequest& arguments, const char* field, Operation* op,
                                std::vector<std::shared_ptr<Buffer>>* buffers) const {
  budget_->Spend(0, 1 + arguments.buffers.size());
  for (const BufferArgumentRequest& argument : arguments.buffers) {
    if (buffers->size() == kMaxLaunchBuffers) {
      return InvalidError(field, "more than {} buffer arguments in one launch", kMaxLaunchBuffers);
    }
    if (Refusal refusal = GetBuffer(argument.buffer, field, op, &buffers->emplace_back())) {
      return refusal;
    }
  }
  return std::nullopt;
}

// The arguments are checked against the program by the issuer: the program may still be to come.
Refusal Decoder::ResolveLaunch(const LaunchRequest& request, Operation* op,
                               LaunchParts* parts) const {
  if (request.timeout_ms && *request.timeout_ms == 0) {
    return InvalidError("launch.timeout_ms", "a timeout of 0 ms; leave it unset, or at least 1");
  }
  if (Refusal refusal =
          handles_.Get(request.program, ObjectKind::kProgram, "launch.program", &parts->program)) {
    return refusal;
  }
  if (Refusal refusal = CheckWorkers(*parts->program, *op->queue, "launch.program")) {
    return refusal;
  }
  DependOn(*parts->program, op);
  for (const ArgumentsRequest& arguments : request.arguments) {
    parts->held_bytes += HeldBytes(arguments);
    if (Refusal refusal =
            ResolveBuffers(arguments, "launch.arguments.buffers.buffer", op, &parts->buffers)) {
      return refusal;
    }
  }
  const size_t named = parts->buffers.size();
  if (Refusal refusal = AddPlaces(*parts->program, handles_, &parts->buffers)) return refusal;
  for (const auto& buffer : std::span(parts->buffers).subspan(named)) DependOn(*buffer, op);
  return std::nullopt;
}

Refusal Decoder::DecodeOne(LaunchRequest& request, Operation* op) {
  LaunchParts parts;
  if (Refusal refusal = ResolveLaunch(request, op, &parts)) return refusal;
  LaunchOperation launch;
  launch.program = std::move(parts.program);
  launch.buffers = std::move(parts.buffers);
  launch.arguments = std::move(request.arguments);
  launch.timeout = std::chrono::milliseconds(request.timeout_ms.value_or(0));
  op->body = std::move(launch);
  return std::nullopt;
}

}  // namespace ttfd
