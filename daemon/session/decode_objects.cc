// Decodes the commands that make and free what handles stand for.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "daemon/session/decoder.h"
#include "daemon/session/program_parts.h"
#include "daemon/session/sha256.h"
#include "daemon/session/transfer_checks.h"

namespace ttfd {
namespace {

constexpr size_t kKernelNameBytes = 128;  // in messages
constexpr uint32_t kTransferQueue = 2;    // QueueKind of the API; 0 and 1 are compute

}  // namespace

Refusal Decoder::CheckDevice(uint32_t device, const char* field) const {
  if (device == 0) return std::nullopt;
  return UnsupportedError(field,
                          fmt::format("device {}; this daemon serves one card, device 0", device));
}

Refusal Decoder::DecodeOne(FreeRequest& request, Operation* op) {
  FreeOperation free;
  if (request.handles.empty()) return InvalidError("free.handles", "no handles; name at least one");
  std::unordered_set<uint64_t> seen;
  for (const uint64_t handle : request.handles) {
    std::shared_ptr<Object> object = handles_.Find(handle);
    if (object == nullptr) return UnknownHandleError("free.handles", handle);
    if (object->state == Object::State::kFailed) return CausedByError(object->cause);
    if (!seen.insert(handle).second) {
      return InvalidError("free.handles", "handle {} is named twice", handle);
    }
    if (object->kind == ObjectKind::kTrace) {
      const QueuePosition finished = static_cast<TraceObject&>(*object).finished_by;
      if (finished.value == 0) {
        return InvalidError("free.handles", "trace {} is not recorded to its end yet", handle);
      }
      DependOn(finished, op);
    }
    DependOn(*object, op);
    free.freed.emplace_back(handle, std::move(object));
  }
  for (const auto& [handle, object] : free.freed) {
    handles_.Remove(handle, object.get());
    handles_.Discharge(object.get());
  }
  op->body = std::move(free);
  return std::nullopt;
}

Refusal Decoder::DecodeOne(LoadKernelRequest& request, Operation* op) {
  if (Refusal refusal =
          handles_.CheckNew(request.handle, ObjectKind::kKernel, "load_kernel.handle"))
    return refusal;
  if (!request.sha256.empty() && request.sha256.size() != kSha256Bytes) {
    return InvalidError("load_kernel.sha256", "{} bytes; a SHA-256 has {}", request.sha256.size(),
                        kSha256Bytes);
  }
  if (request.name.size() > kKernelNameBytes) {
    return InvalidError("load_kernel.name", "a name of {} bytes; at most {} are allowed",
                        request.name.size(), kKernelNameBytes);
  }
  if (Refusal refusal = CheckName("load_kernel.name", request.name)) return refusal;
  if (request.unstreamed) return NoSourceError("load_kernel", true);
  const bool has_bytes = request.is_inline || request.streamed;
  if (!has_bytes && request.sha256.empty()) {
    return InvalidError("load_kernel.from",
                        "neither bytes nor a sha256; set inline, streamed or sha256");
  }
  if (has_bytes && request.size == 0)
    return InvalidError("load_kernel.size", "a kernel of 0 bytes");
  if (request.size > environment_.limits.kernel_elf_bytes) {
    return LimitError("load_kernel.size", "kernel_elf_bytes", environment_.limits.kernel_elf_bytes,
                      0, fmt::format("a kernel ELF of {} bytes", request.size));
  }
  if (request.is_inline) {
    if (Refusal refusal = CheckInline(environment_.limits, request.size,
                                      request.inline_bytes.size(), "load_kernel.inline")) {
      return refusal;
    }
  }
  auto kernel = std::make_shared<Kernel>(QueuePosition{op->queue->id, op->first_value});
  LoadKernelOperation load;
  load.handle = request.handle;
  load.kernel = kernel;
  load.sha256 = std::move(request.sha256);
  load.name = std::move(request.name);
  load.size = request.size;
  if (request.is_inline) {
    load.stage = LoadKernelOperation::Stage::kLoading;
    load.bytes = std::move(request.inline_bytes);
  } else if (request.streamed) {
    load.stage = LoadKernelOperation::Stage::kReceiving;
  }
  op->body = std::move(load);
  handles_.Add(request.handle, std::move(kernel));
  return std::nullopt;
}

Refusal Decoder::DecodeOne(CreateProgramRequest& request, Operation* op) {
  if (Refusal refusal =
          handles_.CheckNew(request.handle, ObjectKind::kProgram, "create_program.handle"))
    return refusal;
  CreateProgramOperation create;
  create.handle = request.handle;
  create.program = std::make_shared<ProgramObject>(QueuePosition{op->queue->id, op->first_value});
  if (Refusal refusal = ResolveParts(request, handles_, environment_.card.grid, &create)) {
    return refusal;
  }
  for (const auto& kernel : create.kernels) DependOn(*kernel, op);
  for (const auto& buffer : create.buffers) {
    if (buffer != nullptr) DependOn(*buffer, op);
  }
  create.request = std::move(request);
  handles_.Add(create.handle, create.program);
  op->body = std::move(create);
  return std::nullopt;
}

Refusal Decoder::DecodeQueue(const OpenQueueRequest& request, Route* route) const {
  if (Refusal refusal = CheckDevice(request.device, "open_queue.device")) return refusal;
  if (request.kind > kTransferQueue) {
    return UnsupportedError(
        "open_queue.kind",
        fmt::format("queue kind {}; COMPUTE and TRANSFER are known", request.kind));
  }
  route->hardware_queue = request.kind == kTransferQueue ? 1 : 0;
  if (!request.workers.empty()) {
    if (Refusal refusal =
            CheckCores(request.workers, environment_.card.grid, "open_queue.workers")) {
      return refusal;
    }
  }
  for (const CoreRange& range : request.workers) {
    const TileSet tiles = TilesOf(range, environment_.card.grid);
    if ((route->workers & tiles).any()) {
      return InvalidError("open_queue.workers",
                          "core range ({},{})-({},{}) overlaps another; name each worker once",
                          range.x0, range.y0, range.x1, range.y1);
    }
    route->workers |= tiles;
  }
  if (workers_.any() && (route->workers & ~workers_).any()) {
    return InvalidError("open_queue.workers",
                        "{} of these workers are not in the lease under which this session works",
                        (route->workers & ~workers_).count());
  }
  if (route->workers.none()) route->workers = workers_;
  return std::nullopt;
}

Refusal Decoder::DecodeOne(UnknownRequest&, Operation*) {
  return UnsupportedError("command.op",
                          "a command that is not set, or that this daemon does not know");
}

}  // namespace ttfd
