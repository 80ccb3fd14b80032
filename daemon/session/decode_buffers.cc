// Decodes allocations: where a buffer of each layout lies, and what it takes there.
#include <algorithm>
#include <utility>

#include "daemon/session/decode_commands.h"
#include "daemon/session/program_parts.h"
#include "runtime/command/tile_set.h"

namespace ttfd {
namespace {

Refusal CheckShards(const AllocateRequest& request) {
  const struct {
    uint32_t value;
    const char* field;
  } counts[] = {{request.row_pages, "allocate.l1_sharded.row_pages"},
                {request.shard_rows, "allocate.l1_sharded.shard_rows"},
                {request.shard_row_pages, "allocate.l1_sharded.shard_row_pages"}};
  for (const auto& [value, field] : counts) {
    if (value == 0) return InvalidError(field, "0; at least 1 is needed");
  }
  if (request.shard_row_pages > request.row_pages) {
    return InvalidError("allocate.l1_sharded.shard_row_pages",
                        "shards {} pages wide in rows of {}; at most the row is allowed",
                        request.shard_row_pages, request.row_pages);
  }
  return std::nullopt;
}

// Workers in the order of the ranges, each range row by row.
Refusal ListWorkers(const std::vector<CoreRange>& ranges, GridSize grid, const char* field,
                    std::vector<uint32_t>* workers) {
  if (Refusal refusal = CheckCores(ranges, grid, field)) return refusal;
  TileSet named;
  for (const CoreRange& range : ranges) {
    const TileSet tiles = TilesOf(range, grid);
    if ((named & tiles).any()) {
      return InvalidError(field,
                          "core range ({},{})-({},{}) overlaps another; name each worker once",
                          range.x0, range.y0, range.x1, range.y1);
    }
    named |= tiles;
    for (uint32_t y = range.y0; y <= range.y1; ++y) {
      for (uint32_t x = range.x0; x <= range.x1; ++x) workers->push_back(y * grid.x + x);
    }
  }
  return std::nullopt;
}

Refusal PlaceInL1(const AllocateRequest& request, GridSize grid, Buffer* buffer) {
  buffer->memory = MemoryKind::kL1;
  const bool sharded = request.place == BufferPlace::kL1Sharded;
  if (!sharded && request.cores.empty()) return std::nullopt;
  const char* const field = sharded ? "allocate.l1_sharded.cores" : "allocate.l1.cores";
  auto cores = std::make_shared<CoreLayout>();
  if (Refusal refusal = ListWorkers(request.cores, grid, field, &cores->workers)) return refusal;
  buffer->cores = buffer->whole_cores = cores;
  if (!sharded) return std::nullopt;
  if (Refusal refusal = CheckShards(request)) return refusal;
  buffer->whole_cores = std::make_shared<CoreLayout>(*cores);
  cores->row_pages = request.row_pages;
  cores->shard_rows = request.shard_rows;
  cores->shard_row_pages = request.shard_row_pages;
  const uint32_t shards = BanksUsed(buffer->region(), 0);
  if (shards > cores->workers.size()) {
    return InvalidError(field,
                        "{} bytes in pages of {}, rows of {} pages, shards of {} by {} pages make "
                        "{} shards; {} cores are named, one is needed for each",
                        request.size_bytes, request.page_bytes, request.row_pages,
                        request.shard_rows, request.shard_row_pages, shards, cores->workers.size());
  }
  return std::nullopt;
}

Refusal PlaceBuffer(const AllocateRequest& request, const CardDescription& card, Buffer* buffer) {
  switch (request.place) {
    case BufferPlace::kDramInterleaved:
      if (!request.cores.empty()) {
        return InvalidError("allocate.dram.cores",
                            "cores for a buffer in DRAM; they choose the L1 of an l1 buffer");
      }
      break;
    case BufferPlace::kDramBank:
      if (request.dram_bank >= card.dram_banks) {
        return InvalidError("allocate.dram_bank", "DRAM bank {}; the card has banks 0 to {}",
                            request.dram_bank, card.dram_banks - 1);
      }
      buffer->single_bank = static_cast<int32_t>(request.dram_bank);
      break;
    case BufferPlace::kL1Interleaved:
    case BufferPlace::kL1Sharded:
      if (Refusal refusal = PlaceInL1(request, card.grid, buffer)) return refusal;
      break;
    case BufferPlace::kUnset:
      return UnsupportedError("allocate.place",
                              "an unsupported place; set dram, l1, l1_sharded or dram_bank");
  }
  const bool dram = buffer->memory == MemoryKind::kDram;
  const uint32_t banks = dram ? card.dram_banks : card.grid.x * card.grid.y;
  buffer->Measure(banks);
  return std::nullopt;
}

}  // namespace

Refusal DecodeCommand(const DecodeContext& context, AllocateRequest& request) {
  if (Refusal refusal =
          context.handles.CheckNew(request.handle, ObjectKind::kBuffer, "allocate.handle"))
    return refusal;
  if (request.size_bytes == 0 || request.size_bytes > kMaxApiNumber) {
    return InvalidError("allocate.size_bytes", "a buffer of {} bytes; 1 to 2^53 - 1 are allowed",
                        request.size_bytes);
  }
  if (request.page_bytes == 0 || request.page_bytes > kMaxPageBytes) {
    return InvalidError("allocate.page_bytes", "pages of {} bytes; 1 to {} are allowed",
                        request.page_bytes, kMaxPageBytes);
  }
  auto buffer =
      std::make_shared<Buffer>(QueuePosition{context.op.queue->id, context.op.first_value});
  buffer->size_bytes = request.size_bytes;
  buffer->page_bytes = request.page_bytes;
  buffer->card = &context.card;
  buffer->owner = context.handles.OwnerOf(request.handle);
  if (Refusal refusal = PlaceBuffer(request, context.card.description, buffer.get()))
    return refusal;
  // The range is taken in every bank, whichever of them the buffer lies in.
  const bool dram = buffer->memory == MemoryKind::kDram;
  const uint64_t quota = buffer->bank_bytes * (dram ? context.card.description.dram_banks : 1);
  if (Refusal refusal = context.handles.Charge(buffer.get(), quota, "allocate.size_bytes"))
    return refusal;
  // Memory is found now if that is possible, and when the command's turn comes if something is about to be freed.
  if (context.handles.MayHold(*buffer) || !context.frees.pending()) {
    const Status allocated = buffer->Allocate();
    if (allocated.ok()) {
      context.handles.Hold(buffer.get());
    } else if (!context.frees.pending()) {
      context.handles.Discharge(buffer.get());
      return context.card.memory.OutOfMemory(buffer->memory, allocated, "allocate.size_bytes");
    }
  }
  context.handles.Add(request.handle, buffer);
  context.op.body = AllocateOperation{request.handle, std::move(buffer), 0};
  return std::nullopt;
}

}  // namespace ttfd
