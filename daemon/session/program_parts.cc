// Parts of programs.
#include "daemon/session/program_parts.h"

#include <utility>

#include "runtime/base/first_line.h"
#include "runtime/boot/hart_state.h"

namespace ttfd {
namespace {

std::string Field(const char* list, size_t index, const char* name) {
  return fmt::format("create_program.{}[{}].{}", list, index, name);
}

Refusal ResolveKernel(const KernelUseRequest& use, size_t index, const HandleTable& handles,
                      const CardResources& card, CreateProgramOperation* create) {
  if (!use.processor_known) {
    return UnsupportedError(
        Field("kernels", index, "processor"),
        "a processor this daemon does not know; BRISC, NCRISC and TRISC0 to 2 are");
  }
  if (Refusal refusal =
          CheckCores(use.cores, card.description.grid, Field("kernels", index, "cores"))) {
    return refusal;
  }
  return handles.Get(use.kernel, ObjectKind::kKernel, card, "create_program.kernels.kernel",
                     &create->kernels.emplace_back());
}

// Whether the buffer has memory for the circular buffer on all its cores.
Refusal CheckPlace(const CircularBufferRequest& use, const Buffer& buffer, GridSize grid,
                   const std::string& field) {
  if (buffer.memory != MemoryKind::kL1) {
    return InvalidError(field,
                        "buffer {} lies in DRAM; a circular buffer lies on one in L1, which l1 or "
                        "l1_sharded of Allocate makes",
                        *use.buffer);
  }
  const uint32_t workers = grid.x * grid.y;
  const uint64_t bytes = uint64_t{use.pages} * use.page_bytes;
  const uint64_t part = buffer.PartBytes(workers);
  if (bytes > part) {
    return InvalidError(field,
                        "{} pages of {} bytes take {} bytes; buffer {} has {} bytes on a core",
                        use.pages, use.page_bytes, bytes, *use.buffer, part);
  }
  const TileSet parts = buffer.PartWorkers(workers);
  for (const CoreRange& range : use.cores) {
    const TileSet outside = TilesOf(range, grid) & ~parts;
    if (outside.none()) continue;
    size_t first = 0;
    while (!outside.test(first)) ++first;
    return InvalidError(field,
                        "core ({},{}) has no part of buffer {}, which lies on {} cores; every core "
                        "of the circular buffer needs one",
                        first % grid.x, first / grid.x, *use.buffer, parts.count());
  }
  return std::nullopt;
}

Refusal ResolveCircularBuffer(const CircularBufferRequest& use, size_t index,
                              const HandleTable& handles, const CardResources& card,
                              CreateProgramOperation* create) {
  const GridSize grid = card.description.grid;
  if (Refusal refusal = CheckCores(use.cores, grid, Field("circular_buffers", index, "cores"))) {
    return refusal;
  }
  std::shared_ptr<Buffer>& buffer = create->buffers.emplace_back();
  if (!use.buffer) return std::nullopt;
  const std::string field = Field("circular_buffers", index, "buffer");
  if (Refusal refusal =
          handles.Get(*use.buffer, ObjectKind::kBuffer, card, field.c_str(), &buffer)) {
    return refusal;
  }
  if (Refusal refusal = CheckPlace(use, *buffer, grid, field)) return refusal;
  auto& places = create->program->places;
  places[*use.buffer] = buffer;
  if (places.size() <= abi::kMaxCircularBuffers) return std::nullopt;
  return InvalidError(
      field,
      "circular buffers on more than {} different buffers; that many are allowed in "
      "one program",
      abi::kMaxCircularBuffers);
}

}  // namespace

Refusal CheckCores(const std::vector<CoreRange>& cores, GridSize grid, const std::string& field) {
  if (cores.empty()) return InvalidError(field, "no cores; name at least one range of workers");
  for (const CoreRange& range : cores) {
    if (range.x0 > range.x1 || range.y0 > range.y1 || range.x1 >= grid.x || range.y1 >= grid.y) {
      return InvalidError(field,
                          "core range ({},{})-({},{}) is not a rectangle inside the worker grid "
                          "(0,0)-({},{})",
                          range.x0, range.y0, range.x1, range.y1, grid.x - 1, grid.y - 1);
    }
  }
  return std::nullopt;
}

Refusal ResolveParts(const CreateProgramRequest& request, const HandleTable& handles,
                     const CardResources& card, CreateProgramOperation* create) {
  const GridSize grid = card.description.grid;
  if (request.kernels.empty())
    return InvalidError("create_program.kernels", "a program needs at least one kernel");
  create->kernels.reserve(request.kernels.size());
  create->buffers.reserve(request.circular_buffers.size());
  for (size_t i = 0; i < request.kernels.size(); ++i) {
    if (Refusal refusal = ResolveKernel(request.kernels[i], i, handles, card, create))
      return refusal;
  }
  for (size_t i = 0; i < request.circular_buffers.size(); ++i) {
    if (Refusal refusal =
            ResolveCircularBuffer(request.circular_buffers[i], i, handles, card, create)) {
      return refusal;
    }
  }
  for (size_t i = 0; i < request.semaphores.size(); ++i) {
    if (Refusal refusal =
            CheckCores(request.semaphores[i].cores, grid, Field("semaphores", i, "cores"))) {
      return refusal;
    }
  }
  for (const KernelUseRequest& use : request.kernels) {
    // More ranges than workers are refused when the program is built.
    if (use.cores.size() > abi::kMaxL1Banks) break;
    for (const CoreRange& range : use.cores) create->program->tiles |= TilesOf(range, grid);
  }
  return std::nullopt;
}

Refusal MakeSpec(CreateProgramOperation& create, ProgramSpec* spec) {
  for (size_t i = 0; i < create.kernels.size(); ++i) {
    KernelUseRequest& use = create.request.kernels[i];
    const KernelImage& image = *create.kernels[i]->image;
    if (image.hart != use.hart) {
      return MakeError(
          StatusCode::kInvalidArgument, reason::kKernelRefused, Field("kernels", i, "processor"),
          "{}\nbuild it once for each processor (PROCESSOR of ttfd_add_kernel)",
          KernelFirstLine(image.name, fmt::format(" was built for {} and is used on {}",
                                                  HartName(image.hart), HartName(use.hart))));
    }
    spec->kernels.push_back(
        {create.kernels[i]->image, use.hart, std::move(use.cores), use.callable, use.configured});
  }
  for (size_t i = 0; i < create.buffers.size(); ++i) {
    CircularBufferRequest& use = create.request.circular_buffers[i];
    const Buffer* const buffer = create.buffers[i].get();
    const uint32_t address = buffer == nullptr ? 0 : buffer->allocation.address();
    spec->circular_buffers.push_back(
        {use.index, use.pages, use.page_bytes, std::move(use.cores), use.format, address});
  }
  spec->semaphores = std::move(create.request.semaphores);
  return std::nullopt;
}

Refusal AddPlaces(const ProgramObject& program, const HandleTable& handles,
                  std::vector<std::shared_ptr<Buffer>>* buffers) {
  for (const auto& [handle, place] : program.places) {
    std::shared_ptr<Buffer> buffer = place.lock();
    if (buffer != nullptr && buffer->state == Object::State::kFailed) {
      return CausedByError(buffer->cause);
    }
    if (buffer == nullptr || handles.Find(handle) != buffer) {
      return MakeError(
          StatusCode::kNotFound, reason::kUnknownHandle, "launch.program",
          "a circular buffer of the program lies on buffer {}, which was freed; create "
          "the program again with a buffer that exists",
          handle);
    }
    buffers->push_back(std::move(buffer));
  }
  return std::nullopt;
}

}  // namespace ttfd
