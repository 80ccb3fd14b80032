// Traces: put into device memory, patched there, replayed.
#include <algorithm>
#include <bit>
#include <utility>

#include "runtime/abi/dispatch_commands.h"
#include "runtime/command/record_writer.h"
#include "runtime/command/transfer_encoder.h"
#include "runtime/dispatch/launch_state.h"

namespace ttfd {

uint64_t LaunchState::TraceBytesToSend(const Command& command) const {
  if (const auto* record = std::get_if<RecordTraceCommand>(&command)) {
    return TraceBytes(*record->trace);
  }
  const auto* replay = std::get_if<ReplayTraceCommand>(&command);
  return replay != nullptr && replay->trace->boot != boot_ ? TraceBytes(*replay->trace) : 0;
}

Status LaunchState::PlanRecord(const Route& route, const RecordTraceCommand& command) {
  edit_.Begin(command.trace, true);
  edit_.region = command.region;
  RETURN_IF_ERROR(PlanPlacing(route));
  PlanWrites(route);
  return OkStatus();
}

// Gives the trace's kernels places for good, and its records the addresses.
Status LaunchState::PlanPlacing(const Route& route) {
  const std::shared_ptr<Trace>& trace = edit_.trace();
  KernelCache& cache = cache_.Change();
  std::vector<KernelCache::Placement> placements;
  for (const std::shared_ptr<const Program>& program : trace->programs) {
    ASSIGN_OR_RETURN(KernelCache::Placement placed,
                     cache.Place(*program, WorkersOf(route), Ended()));
    cache.Pin(*program, trace);
    placements.push_back(std::move(placed));
  }
  edit_.sub_device = PlanEnter(route, std::nullopt);
  CardQueue& queue = queues_[route.hardware_queue];
  for (size_t i = 0; i < placements.size(); ++i) {
    const Program& program = *trace->programs[i];
    const std::vector<ImagePlacement>& images = placements[i].images;
    queues_.PlanAwait(route.hardware_queue, queue.plan.batch, placements[i].wait);
    EncodeImages(program, images, card_, queue.plan.batch);
    // A launch of a trace is the same at every replay, so the first cannot drop instruction caches.
    if (std::any_of(images.begin(), images.end(),
                    [](const ImagePlacement& image) { return image.new_code; })) {
      PlanDropOfInstructionCaches(route, edit_.sub_device, program);
    }
  }
  LaunchPlace place;
  place.hardware_queue = route.hardware_queue;
  place.sub_device = edit_.sub_device;
  for (const TraceLaunch& launch : trace->launches) {
    place.slot = launch.slot;
    place.config_address = launch.config_address;
    place.wait_workers = launch.wait_workers;
    place.go_first = launch.go_first;
    place.image_addresses = cache.AddressesOf(*launch.program);  // for good: they are pinned
    launch.records->PatchPlace(place, card_,
                               edit_.records().subspan(launch.offset, launch.records->bytes()));
  }
  for (const uint32_t wait : trace->waits) {
    StoreAt(edit_.records().data() + wait + offsetof(abi::Wait, stream),
            static_cast<uint16_t>(abi::kFirstWorkerStream + edit_.sub_device));
  }
  edit_.boot = boot_;
  return OkStatus();
}

void LaunchState::PlanDropOfInstructionCaches(const Route& route, uint32_t set,
                                              const Program& program) {
  Program nothing;
  nothing.grid = program.grid;
  nothing.workers = program.workers;
  ProgramGroup group;
  group.kernel.fill(kNoKernel);
  group.rectangles = CoverWithRectangles(program.tiles, program.grid);
  nothing.groups.push_back(std::move(group));
  const LaunchRecords records(nothing, {}, program.workers.size() > kMaxUnicastGoTargets, card_);
  PlanSend(route, {nothing, records, {}, set, {}, true, 0}, nullptr);
}

// A replay that runs now does not see the new words: the prefetcher has read the whole trace before the
// dispatcher comes to the write.
void LaunchState::PlanWrites(const Route& route) {
  CardQueue& queue = queues_[route.hardware_queue];
  for (const TraceEdit::Range& range : edit_.Ranges()) {
    EncodeWrite({edit_.region, range.begin, range.bytes}, card_, queue.plan.batch);
    queue.ordering.Change().Wrote();
    edit_.written = queue.ordering->Now().writes;
  }
}

uint32_t LaunchState::PlanPrints(const Trace& trace) {
  if (!trace.prints) return 0;
  std::vector<PrintRings::Launch> launches;
  for (const TraceLaunch& launch : trace.launches) {
    launches.push_back({launch.program, cache_->AddressesOf(*launch.program)});
  }
  return PlanPrints(std::move(launches));
}

Status LaunchState::PlanReplay(const Route& route, const ReplayTraceCommand& command) {
  const Trace& trace = *command.trace;
  edit_.Begin(command.trace, trace.boot != boot_);
  if (edit_.whole()) RETURN_IF_ERROR(PlanPlacing(route));
  for (const TracePatch& patch : command.patches) edit_.Patch(patch);
  uint32_t tag = PlanPrints(trace);
  for (const TraceLaunch& launch : trace.launches) {
    if (tag == 0) break;
    if (launch.program->printing.any()) edit_.Tag(launch, tag);
    ++tag;
  }
  PlanWrites(route);
  const uint32_t set = PlanEnter(route, edit_.sub_device);
  CardQueue& queue = queues_[route.hardware_queue];
  Ordering& ordering = queue.ordering.Change();
  RecordBatch& batch = queue.plan.batch;
  if (!ordering.PrefetcherSaw(edit_.written)) ordering.BeforeRead(batch, 0);
  ordering.Restart(batch, set);
  if (route.workers.any() && !ordering.Cleared(set)) {
    queue.PlanEventOfRestart(route.hardware_queue, set);
  }
  RecordWriter(batch.Append(abi::kEntryAlignment))
      .ExecBuf(edit_.region.base_address, static_cast<uint32_t>(std::countr_zero(trace.page_bytes)),
               static_cast<uint32_t>(trace.shadow.size() / trace.page_bytes));
  batch.Stall();
  ordering.Launched(set, trace.workers);
  const uint64_t ended = ordering.launched_workers(set);
  rings_[set].Change().Fill(ended);
  for (const auto& program : trace.programs) uses_.push_back({program.get(), set, ended});
  if (trace.sends_go_table) queue.go_table.Change() = trace.go_table;
  return OkStatus();
}

}  // namespace ttfd
