// Segments of traces: put into device memory, patched there, replayed.
#include <algorithm>
#include <bit>
#include <utility>

#include "runtime/abi/dispatch_commands.h"
#include "runtime/card/launch_state.h"
#include "runtime/command/record_writer.h"
#include "runtime/command/transfer_encoder.h"

namespace ttfd {

Status LaunchState::PlanRecord(const Route& route, const RecordTraceCommand& command) {
  edit_.Begin(command.trace, command.segment, true);
  const TraceSegment& segment = edit_.segment();
  edit_.region = command.region;
  edit_.region.base_address +=
      static_cast<uint32_t>(segment.offset / card_.Banks(MemoryKind::kDram));
  edit_.region.size_bytes = segment.shadow.size();
  RETURN_IF_ERROR(PlanPlacing(route));
  PlanWrites(route);
  return OkStatus();
}

// Sub-device that the segments recorded since the boot name: the others name the same, so that a replay need not move
// the set.
std::optional<uint32_t> LaunchState::NumberOf(const Trace& trace) const {
  for (const TraceSegment& segment : trace.segments) {
    if (segment.boot == boot_) return segment.sub_device;
  }
  return std::nullopt;
}

// Gives the segment's kernels places for good, and its records the addresses.
Status LaunchState::PlanPlacing(const Route& route) {
  const TraceSegment& segment = edit_.segment();
  KernelCache& cache = cache_.Change();
  std::vector<KernelCache::Placement> placements;
  for (const std::shared_ptr<const Program>& program : segment.programs) {
    ASSIGN_OR_RETURN(KernelCache::Placement placed,
                     cache.Place(*program, WorkersOf(route), Ended()));
    cache.Pin(*program, edit_.trace());
    programs_.Add(program);
    placements.push_back(std::move(placed));
  }
  edit_.sub_device = PlanEnter(route, NumberOf(*edit_.trace()));
  CardQueue& queue = queues_[route.hardware_queue];
  for (size_t i = 0; i < placements.size(); ++i) {
    const Program& program = *segment.programs[i];
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
  for (const TraceLaunch& launch : edit_.trace()->LaunchesOf(segment)) {
    place.slot = launch.slot;
    place.config_address = launch.config_address;
    place.wait_workers = launch.wait_workers;
    place.go_first = launch.go_first;
    place.image_addresses = cache.AddressesOf(*launch.program);  // for good: they are pinned
    launch.records->PatchPlace(place, card_,
                               edit_.records().subspan(launch.offset, launch.records->bytes()));
  }
  for (const uint32_t wait : segment.waits) {
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

uint32_t LaunchState::PlanPrints(const Trace& trace, const TraceSegment& segment) {
  if (!segment.prints) return 0;
  std::vector<PrintRings::Launch> launches;
  uint32_t number = segment.first_launch;
  for (const TraceLaunch& launch : trace.LaunchesOf(segment)) {
    launches.push_back({launch.program, cache_->AddressesOf(*launch.program), number++});
  }
  return PlanPrints(std::move(launches));
}

Status LaunchState::PlanReplay(const Route& route, const ReplayTraceCommand& command) {
  const Trace& trace = *command.trace;
  const TraceSegment& segment = trace.segments[command.segment];
  edit_.Begin(command.trace, command.segment, segment.boot != boot_);
  if (edit_.whole()) RETURN_IF_ERROR(PlanPlacing(route));
  for (const TracePatch& patch : command.patches) edit_.Patch(patch);
  uint32_t tag = PlanPrints(trace, segment);
  for (const TraceLaunch& launch : trace.LaunchesOf(segment)) {
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
  RecordWriter(batch.Append(abi::kEntryAlignment))
      .ExecBuf(edit_.region.base_address, static_cast<uint32_t>(std::countr_zero(trace.page_bytes)),
               static_cast<uint32_t>(segment.shadow.size() / trace.page_bytes));
  batch.Stall();
  ordering.Launched(set, segment.workers, segment.launches);
  const uint64_t ended = ordering.launched_workers(set);
  rings_[set].Change().Fill(ended);
  for (const auto& program : segment.programs) uses_.push_back({program.get(), set, ended});
  if (segment.sends_go_table) queue.go_table.Change() = segment.go_table;
  return OkStatus();
}

}  // namespace ttfd
