// Traces: put into device memory, patched there, replayed.
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "runtime/abi/dispatch_commands.h"
#include "runtime/command/record_writer.h"
#include "runtime/command/transfer_encoder.h"
#include "runtime/dispatch/launch_state.h"
#include "runtime/hw/tensix.h"

namespace ttfd {

Status LaunchState::Record(const Route& route, const RecordTraceCommand& command) {
  const Region before = std::exchange(command.trace->region, command.region);
  Status placed = PlaceTrace(route, command.trace);
  if (!placed.ok()) command.trace->region = before;
  return placed;
}

Status LaunchState::PlaceTrace(const Route& route, const std::shared_ptr<Trace>& trace) {
  std::vector<KernelCache::Placement> placements;
  RETURN_IF_ERROR(PinImages(route, trace, &placements));
  ASSIGN_OR_RETURN(trace->sub_device, Enter(route, std::nullopt));
  CardQueue& queue = queues_[route.hardware_queue];
  for (size_t i = 0; i < placements.size(); ++i) {
    const Program& program = *trace->programs[i];
    const std::vector<ImagePlacement>& images = placements[i].images;
    RETURN_IF_ERROR(queues_.Await(route.hardware_queue, placements[i].wait));
    RETURN_IF_ERROR(EncodeImages(program, images, card_, *queue.link));
    // A launch of a trace is the same at every replay, so the first cannot drop instruction caches.
    if (std::any_of(images.begin(), images.end(),
                    [](const ImagePlacement& image) { return image.new_code; })) {
      RETURN_IF_ERROR(DropInstructionCaches(route, trace->sub_device, program));
    }
  }
  LaunchPlace place;
  place.hardware_queue = route.hardware_queue;
  place.sub_device = trace->sub_device;
  for (const TraceLaunch& launch : trace->launches) {
    place.slot = launch.slot;
    place.config_address = launch.config_address;
    place.wait_workers = launch.wait_workers;
    place.go_first = launch.go_first;
    place.image_addresses = cache_.AddressesOf(*launch.program);  // for good: they are pinned
    launch.records->PatchPlace(
        place, card_,
        MutableByteSpan(trace->shadow).subspan(launch.offset, launch.records->bytes()));
  }
  for (const uint32_t wait : trace->waits) {
    StoreAt(trace->shadow.data() + wait + offsetof(abi::Wait, stream),
            static_cast<uint16_t>(abi::kFirstWorkerStream + trace->sub_device));
  }
  RETURN_IF_ERROR(WriteTrace(route, *trace, 0, trace->shadow.size()));
  trace->boot = boot_;
  return OkStatus();
}

Status LaunchState::PinImages(const Route& route, const std::shared_ptr<Trace>& trace,
                              std::vector<KernelCache::Placement>* placements) {
  for (const std::shared_ptr<const Program>& program : trace->programs) {
    StatusOr<KernelCache::Placement> placed = cache_.Place(*program, WorkersOf(route), Ended());
    if (!placed.ok()) {
      for (size_t i = 0; i < placements->size(); ++i) {
        cache_.Forget(*trace->programs[i], (*placements)[i]);
        cache_.Unpin(*trace->programs[i], trace);
      }
      return placed.status();
    }
    cache_.Pin(*program, trace);
    placements->push_back(*std::move(placed));
  }
  return OkStatus();
}

Status LaunchState::DropInstructionCaches(const Route& route, uint32_t set,
                                          const Program& program) {
  Program nothing;
  nothing.grid = program.grid;
  nothing.workers = program.workers;
  ProgramGroup group;
  group.kernel.fill(kNoKernel);
  group.rectangles = CoverWithRectangles(program.tiles, program.grid);
  nothing.groups.push_back(std::move(group));
  const LaunchRecords records(nothing, {}, program.workers.size() > kMaxUnicastGoTargets, card_);
  return Send(route, {nothing, records, {}, set, {}, true, 0}, nullptr);
}

Status LaunchState::WriteTrace(const Route& route, Trace& trace, uint64_t begin, uint64_t end) {
  CardQueue& queue = queues_[route.hardware_queue];
  const WriteCommand write{trace.region, begin, ByteSpan(trace.shadow).subspan(begin, end - begin)};
  RETURN_IF_ERROR(EncodeWrite(write, card_, *queue.link));
  queue.ordering.Wrote();
  trace.written = queue.ordering.Now().writes;
  return OkStatus();
}

// A replay that runs now does not see the new words: the prefetcher has read the whole trace before the
// dispatcher comes to the write.
Status LaunchState::PatchTrace(const Route& route, const ReplayTraceCommand& command,
                               uint32_t print_tag) {
  Trace& trace = *command.trace;
  std::unique_ptr<TraceUndo>& undo = queues_[route.hardware_queue].undo;
  if (!command.patches.empty()) undo = std::make_unique<TraceUndo>(command.trace);
  struct Range {
    uint64_t begin = 0;
    uint64_t end = 0;
  };
  std::vector<Range> ranges;
  for (const TracePatch& patch : command.patches) {
    const TraceLaunch& launch = trace.launches[patch.launch];
    launch.records->ForEachArgument(patch.kernel, [&](uint32_t offset, uint32_t size) {
      const uint64_t begin = launch.offset + offset;
      undo->Keep(begin, size);
      ranges.push_back({begin & ~uint64_t{hw::kL1Alignment - 1},
                        AlignUp<uint64_t>(begin + size, hw::kL1Alignment)});
    });
    launch.records->PatchArguments(
        patch.kernel, patch.arguments,
        MutableByteSpan(trace.shadow).subspan(launch.offset, launch.records->bytes()));
  }
  for (uint32_t i = 0; print_tag != 0 && i < trace.launches.size(); ++i) {
    const TraceLaunch& launch = trace.launches[i];
    if (launch.program->printing.none()) continue;
    launch.records->PatchPrintTag(
        print_tag + i,
        MutableByteSpan(trace.shadow).subspan(launch.offset, launch.records->bytes()));
    launch.records->ForEachPrintTag([&](uint32_t offset) {
      const uint64_t begin = (launch.offset + offset) & ~uint64_t{hw::kL1Alignment - 1};
      ranges.push_back({begin, begin + hw::kL1Alignment});
    });
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  for (size_t i = 0; i < ranges.size();) {
    // A write of its own costs about as much as this many bytes more.
    constexpr uint64_t kWorthWriting = 128;
    Range range = ranges[i++];
    for (; i < ranges.size() && ranges[i].begin <= range.end + kWorthWriting; ++i) {
      range.end = std::max(range.end, ranges[i].end);
    }
    RETURN_IF_ERROR(WriteTrace(route, trace, range.begin, range.end));
  }
  return OkStatus();
}

uint32_t LaunchState::ExpectPrints(const Route& route, const Trace& trace) {
  if (!trace.prints) return 0;
  std::vector<PrintRings::Launch> launches;
  for (const TraceLaunch& launch : trace.launches) {
    launches.push_back({launch.program, cache_.AddressesOf(*launch.program)});
  }
  return ExpectPrints(route, std::move(launches));
}

Status LaunchState::Replay(const Route& route, const ReplayTraceCommand& command) {
  Trace& trace = *command.trace;
  if (NeedsPlacing(trace)) RETURN_IF_ERROR(PlaceTrace(route, command.trace));
  RETURN_IF_ERROR(PatchTrace(route, command, ExpectPrints(route, trace)));
  ASSIGN_OR_RETURN(const uint32_t set, Enter(route, trace.sub_device));
  CardQueue& queue = queues_[route.hardware_queue];
  Ordering& ordering = queue.ordering;
  if (!ordering.PrefetcherSaw(trace.written)) {
    RETURN_IF_ERROR(ordering.BeforeRead(*queue.link, 0));
  }
  RETURN_IF_ERROR(ordering.Restart(*queue.link, set));
  if (route.workers.any() && !ordering.Cleared(set)) {
    RETURN_IF_ERROR(queue.EventOfRestart(route.hardware_queue, set));
  }
  ASSIGN_OR_RETURN(MutableByteSpan memory, queue.link->Append(abi::kEntryAlignment));
  RecordWriter writer(memory);
  writer.ExecBuf(trace.region.base_address,
                 static_cast<uint32_t>(std::countr_zero(trace.page_bytes)),
                 static_cast<uint32_t>(trace.shadow.size() / trace.page_bytes));
  RETURN_IF_ERROR(queue.link->FlushStalled());
  ordering.Launched(set, trace.workers);
  const uint64_t ended = ordering.launched_workers(set);
  sets_[set].ring.Fill(ended);
  for (const auto& program : trace.programs) {
    cache_.Used(*program, route.hardware_queue, set, ended);
  }
  if (trace.sends_go_table) queue.go_table = trace.go_table;
  return OkStatus();
}

}  // namespace ttfd
