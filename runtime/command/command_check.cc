// The rules of command.h, checked.
#include "runtime/command/command_check.h"

#include "runtime/command/launch_check.h"
#include "runtime/command/trace_layout.h"
#include "runtime/hw/tensix.h"

namespace ttfd {
namespace {

Status CheckCores(const Region& region, const CardGeometry& card) {
  const CoreLayout& cores = *region.cores;
  if (region.kind != MemoryKind::kL1 || region.single_bank >= 0) {
    return InvalidArgument("workers named for a region that is not in their L1");
  }
  TileSet named;
  for (const uint32_t worker : cores.workers) {
    if (worker >= card.worker_count()) {
      return InvalidArgument("worker {}; there are {}", worker, card.worker_count());
    }
    if (named[worker]) {
      return InvalidArgument(
          "worker {} is named twice; shards on one worker would share their bytes", worker);
    }
    named.set(worker);
  }
  if (cores.shard_rows != 0 && (cores.shard_row_pages == 0 || cores.row_pages == 0)) {
    return InvalidArgument("shards of {} pages in rows of {}", cores.shard_row_pages,
                           cores.row_pages);
  }
  if (cores.workers.empty() || BanksUsed(region, 0) > cores.workers.size()) {
    return InvalidArgument("a region in more shards than its {} workers", cores.workers.size());
  }
  return OkStatus();
}

Status CheckRegion(const Region& region, const CardGeometry& card) {
  const uint32_t banks = card.Banks(region.kind);
  if (region.single_bank >= 0 && static_cast<uint32_t>(region.single_bank) >= banks) {
    return InvalidArgument("bank {}; there are {}", region.single_bank, banks);
  }
  if (region.page_bytes == 0 || region.page_bytes > kMaxPageBytes) {
    return InvalidArgument("a region in pages of {} bytes; 1 to {} are allowed", region.page_bytes,
                           kMaxPageBytes);
  }
  const uint32_t alignment = SlotAlignment(region.kind);
  if (region.base_address % alignment != 0) {
    return InvalidArgument("a region at {:#x}, which is not a multiple of {}", region.base_address,
                           alignment);
  }
  if (region.cores != nullptr) RETURN_IF_ERROR(CheckCores(region, card));
  // Divided, because the product could wrap.
  const uint64_t room = (uint64_t{1} << 32) - region.base_address;
  if (SlotsPerBank(region, banks) > room / StrideOf(region.kind, region.page_bytes)) {
    return InvalidArgument("a region at {:#x} of {} bytes in pages of {} leaves its banks",
                           region.base_address, region.size_bytes, region.page_bytes);
  }
  return OkStatus();
}

Status CheckRange(const Region& region, uint64_t offset, uint64_t size, const CardGeometry& card) {
  RETURN_IF_ERROR(CheckRegion(region, card));
  if (size == 0 || size > kMaxTransferBytes) {
    return InvalidArgument("a transfer of {} bytes; 1 to {} are allowed", size, kMaxTransferBytes);
  }
  if (offset > region.size_bytes || size > region.size_bytes - offset) {
    return InvalidArgument("bytes {} to {} of a region of {}", offset, offset + size,
                           region.size_bytes);
  }
  return OkStatus();
}

Status CheckUnits(const Region& region, uint64_t offset, uint64_t size, const CardGeometry& card) {
  RETURN_IF_ERROR(CheckRange(region, offset, size, card));
  if (!IsUnitBoundary(region.page_bytes, region.size_bytes, offset) ||
      !IsUnitBoundary(region.page_bytes, region.size_bytes, offset + size)) {
    return InvalidArgument(
        "bytes {} to {} of pages of {}; a range begins and ends a multiple of {} bytes from the "
        "start of a page, or at the end of a page or of the region",
        offset, offset + size, region.page_bytes, hw::kL1Alignment);
  }
  return OkStatus();
}

Status CheckCopy(const CopyCommand& copy, const CardGeometry& card) {
  RETURN_IF_ERROR(CheckUnits(copy.from, copy.from_offset, copy.size, card));
  RETURN_IF_ERROR(CheckUnits(copy.to, copy.to_offset, copy.size, card));
  if (!CopyKeepsUnits(copy.from.page_bytes, copy.from_offset, copy.to.page_bytes, copy.to_offset,
                      copy.size)) {
    return InvalidArgument(
        "a copy from offset {} in pages of {} to offset {} in pages of {} would shift bytes within "
        "units of {}",
        copy.from_offset, copy.from.page_bytes, copy.to_offset, copy.to.page_bytes,
        hw::kL1Alignment);
  }
  return OkStatus();
}

Status CheckRoute(const Route& route, const CardGeometry& card) {
  if (route.hardware_queue >= kHardwareQueues) {
    return InvalidArgument("hardware queue {}; there are {}", route.hardware_queue,
                           kHardwareQueues);
  }
  if ((route.workers >> card.worker_count()).any()) {
    return InvalidArgument("the route names workers beyond the {} of the card",
                           card.worker_count());
  }
  return OkStatus();
}

Status CheckTrace(const Route& route, const Trace* trace, uint32_t segment) {
  if (trace == nullptr) return InvalidArgument("no trace");
  if (segment >= trace->segments.size()) {
    return InvalidArgument("segment {} of a trace of {}", segment, trace->segments.size());
  }
  if (trace->route == route) return OkStatus();
  return InvalidArgument("the trace was built for another hardware queue or other workers");
}

Status CheckRecord(const Route& route, const RecordTraceCommand& record) {
  RETURN_IF_ERROR(CheckTrace(route, record.trace.get(), record.segment));
  const Region& region = record.region;
  const Trace& trace = *record.trace;
  if (region.kind == MemoryKind::kDram && region.single_bank < 0 && region.cores == nullptr &&
      region.page_bytes == TracePageBytes(trace) && region.size_bytes >= TraceBytes(trace)) {
    return OkStatus();
  }
  return InvalidArgument(
      "a trace of {} bytes needs that much DRAM, interleaved over all banks in pages of {}",
      TraceBytes(trace), TracePageBytes(trace));
}

Status CheckReplay(const Route& route, const ReplayTraceCommand& replay) {
  RETURN_IF_ERROR(CheckTrace(route, replay.trace.get(), replay.segment));
  const TraceSegment& segment = replay.trace->segments[replay.segment];
  if (segment.boot == 0) return InvalidArgument("the trace was never recorded");
  for (size_t i = 0; i < replay.patches.size(); ++i) {
    Status checked = CheckTracePatch(*replay.trace, replay.patches[i]);
    if (checked.ok() && replay.patches[i].launch - segment.first_launch >= segment.launches) {
      checked = InvalidArgument("launch {} is not in segment {}", replay.patches[i].launch,
                                replay.segment);
    }
    if (!checked.ok()) return Annotate(checked, fmt::format("patch {}", i));
  }
  return OkStatus();
}

}  // namespace

Status CheckCommand(const Route& route, const Command& command, const CardGeometry& card) {
  RETURN_IF_ERROR(CheckRoute(route, card));
  if (const auto* write = std::get_if<WriteCommand>(&command)) {
    return CheckUnits(write->region, write->offset, write->data.size(), card);
  }
  if (const auto* fill = std::get_if<FillCommand>(&command)) {
    return CheckUnits(fill->region, fill->offset, fill->size, card);
  }
  if (const auto* read = std::get_if<ReadCommand>(&command)) {
    if (!read->sink) return InvalidArgument("a read without a place for its data");
    return CheckRange(read->region, read->offset, read->size, card);
  }
  if (const auto* copy = std::get_if<CopyCommand>(&command)) return CheckCopy(*copy, card);
  if (const auto* launch = std::get_if<LaunchCommand>(&command)) {
    return CheckLaunch(route, *launch, card);
  }
  if (const auto* record = std::get_if<RecordTraceCommand>(&command)) {
    return CheckRecord(route, *record);
  }
  return CheckReplay(route, std::get<ReplayTraceCommand>(command));
}

}  // namespace ttfd
