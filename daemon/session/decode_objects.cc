// Decodes the commands that make and free what handles stand for.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "daemon/session/decode_commands.h"
#include "daemon/session/program_parts.h"
#include "daemon/session/sha256.h"
#include "daemon/session/transfer_checks.h"

namespace ttfd {
namespace {

constexpr size_t kKernelNameBytes = 128;  // in messages

}  // namespace

Refusal DecodeCommand(const DecodeContext& context, FreeRequest& request) {
  FreeOperation free;
  if (request.handles.empty()) return InvalidError("free.handles", "no handles; name at least one");
  std::unordered_set<uint64_t> seen;
  for (const uint64_t handle : request.handles) {
    std::shared_ptr<Object> object = context.handles.Find(handle);
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
      context.DependOn(finished);
    }
    context.DependOn(*object);
    free.freed.emplace_back(handle, std::move(object));
  }
  for (const auto& [handle, object] : free.freed) {
    context.handles.Remove(handle, object.get());
    context.handles.Discharge(object.get());
  }
  context.op.body = std::move(free);
  return std::nullopt;
}

Refusal DecodeCommand(const DecodeContext& context, LoadKernelRequest& request) {
  if (Refusal refusal =
          context.handles.CheckNew(request.handle, ObjectKind::kKernel, "load_kernel.handle"))
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
  if (request.size > context.limits.kernel_elf_bytes) {
    return LimitError("load_kernel.size", "kernel_elf_bytes", context.limits.kernel_elf_bytes, 0,
                      fmt::format("a kernel ELF of {} bytes", request.size));
  }
  if (request.is_inline) {
    if (Refusal refusal = CheckInline(context.limits, request.size, request.inline_bytes.size(),
                                      "load_kernel.inline")) {
      return refusal;
    }
  }
  auto kernel =
      std::make_shared<Kernel>(QueuePosition{context.op.queue->id, context.op.first_value});
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
  context.op.body = std::move(load);
  context.handles.Add(request.handle, std::move(kernel));
  return std::nullopt;
}

Refusal DecodeCommand(const DecodeContext& context, CreateProgramRequest& request) {
  if (Refusal refusal =
          context.handles.CheckNew(request.handle, ObjectKind::kProgram, "create_program.handle"))
    return refusal;
  CreateProgramOperation create;
  create.handle = request.handle;
  create.program =
      std::make_shared<ProgramObject>(QueuePosition{context.op.queue->id, context.op.first_value});
  create.program->card = &context.card;
  if (Refusal refusal = ResolveParts(request, context.handles, context.card, &create)) {
    return refusal;
  }
  for (const auto& kernel : create.kernels) context.DependOn(*kernel);
  for (const auto& buffer : create.buffers) {
    if (buffer != nullptr) context.DependOn(*buffer);
  }
  create.request = std::move(request);
  context.handles.Add(create.handle, create.program);
  context.op.body = std::move(create);
  return std::nullopt;
}

}  // namespace ttfd
