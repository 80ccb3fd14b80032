// Everything about launches that outlasts one of them.
#include "runtime/dispatch/launch_state.h"

#include <utility>

#include "runtime/abi/l1_map.h"
#include "runtime/command/queue_encoder.h"

namespace ttfd {
namespace {

TileSet AllWorkers(const CardGeometry& card) {
  TileSet all;
  for (uint32_t worker = 0; worker < card.worker_count(); ++worker) all.set(worker);
  return all;
}

}  // namespace

LaunchState::LaunchState(const CardGeometry& card, CardQueues& queues, PrintRings& prints)
    : card_(card),
      queues_(queues),
      prints_(prints),
      cache_(abi::kKernelCacheAddress, abi::kKernelCacheBytes),
      sets_(AllWorkers(card)),
      layouts_(card) {}

void LaunchState::Restart(uint32_t boot) {
  cache_.Clear();
  sets_.Clear();
  boot_ = boot;
  rearranged_by_ = 0;
  rearranged_ = {};
}

Ordering::StreamMask LaunchState::KernelsOf(const Route& route) const {
  return route.workers.none() ? Ordering::kAllStreams : sets_.Overlapping(route.workers);
}

WorkerCounts LaunchState::LaunchedOn(uint32_t sets) const {
  WorkerCounts counts;
  for (uint32_t queue = 0; queue < kHardwareQueues; ++queue) {
    for (uint32_t set = 0; set < abi::kMaxSubDevices; ++set) {
      if ((sets >> set & 1) == 0) continue;
      counts.Raise(queue, set, queues_[queue].ordering.launched_workers(set));
    }
  }
  return counts;
}

WorkerCounts LaunchState::Ended() const {
  WorkerCounts counts;
  for (uint32_t queue = 0; queue < kHardwareQueues; ++queue) {
    for (uint32_t stream = 0; stream < abi::kMaxSubDevices; ++stream) {
      counts.Raise(queue, stream, queues_[queue].ordering.seen_workers(stream));
    }
  }
  return counts;
}

StatusOr<uint32_t> LaunchState::Enter(const Route& route, std::optional<uint32_t> number) {
  const uint32_t queue = route.hardware_queue;
  const TileSet& tiles = WorkersOf(route);
  const std::optional<uint32_t> found = sets_.Find(tiles);
  if (!found.has_value() || (number.has_value() && *number != *found)) {
    const WorkerSets::Change change = sets_.Plan(tiles, number);
    RETURN_IF_ERROR(Rearrange(queue, tiles, change));
    sets_.Apply(change, tiles, queue);
    return change.number;
  }
  WorkerSet& set = sets_[*found];
  if (set.hardware_queue != queue) {
    // The other queue's launches have ended before this one's begin, so nothing of theirs is in use.
    RETURN_IF_ERROR(queues_.Await(queue, LaunchedOn(1u << *found)));
    // The set may be new, without a launch: its workers must listen to its go word by now.
    RETURN_IF_ERROR(queues_.Await(queue, rearranged_by_, rearranged_));
    set.ring.Clear();
    set.hardware_queue = queue;
  }
  sets_.Touch(*found);
  return *found;
}

Status LaunchState::Rearrange(uint32_t hardware_queue, const TileSet& tiles,
                              const WorkerSets::Change& change) {
  CardQueue& queue = queues_[hardware_queue];
  RETURN_IF_ERROR(queues_.Await(hardware_queue, LaunchedOn(change.ended | 1u << change.number)));
  RETURN_IF_ERROR(queues_.Await(hardware_queue, rearranged_by_, rearranged_));
  const GridSize grid = card_.grid();
  RETURN_IF_ERROR(
      EncodeListen(CoverWithRectangles(tiles, grid), change.number, card_, *queue.link));
  if (change.orphans.any()) {
    RETURN_IF_ERROR(
        EncodeListen(CoverWithRectangles(change.orphans, grid), kNoSubDevice, card_, *queue.link));
  }
  queue.ordering.Wrote();
  rearranged_by_ = hardware_queue;
  rearranged_ = {queue.ordering.Now().writes, {}, 0};
  return OkStatus();
}

uint64_t LaunchState::MaxEnterBytes(const Route& route, std::optional<uint32_t> number) const {
  const std::optional<uint32_t> found = sets_.Find(WorkersOf(route));
  if (found.has_value() && number.value_or(*found) == *found) return 256;
  // Two rectangles for every three workers is the worst a covering can do; each is named twice, for the
  // workers that enter and for those that are left over.
  return 1024 + 4 * 8 * card_.worker_count();
}

Status LaunchState::Launch(const Route& route, const LaunchCommand& command) {
  const Program& program = *command.program;
  ASSIGN_OR_RETURN(const KernelCache::Placement placement,
                   cache_.Place(program, WorkersOf(route), Ended()));
  const std::shared_ptr<const LaunchRecords> records =
      layouts_.Get(command.program, command.arguments);
  ASSIGN_OR_RETURN(const uint32_t set, Enter(route, std::nullopt));
  Prepared launch{program, *records, command.arguments, set, {}, false, 0};
  for (const ImagePlacement& image : placement.images) {
    launch.image_addresses.push_back(image.address);
    launch.new_code |= image.new_code;
  }
  if (program.printing.any()) {
    launch.print_tag = ExpectPrints(route, {{command.program, launch.image_addresses}});
  }
  RETURN_IF_ERROR(Send(route, launch, &placement));
  cache_.Used(program, route.hardware_queue, set,
              queues_[route.hardware_queue].ordering.launched_workers(set));
  return OkStatus();
}

Status LaunchState::LaunchNothing(const Route& route) {
  Program everywhere;
  everywhere.grid = card_.grid();
  everywhere.tiles = sets_.all();
  for (uint32_t worker = 0; worker < card_.worker_count(); ++worker) {
    everywhere.workers.push_back(static_cast<uint16_t>(worker));
  }
  ASSIGN_OR_RETURN(const uint32_t set, Enter(route, std::nullopt));
  return DropInstructionCaches(route, set, everywhere);
}

uint32_t LaunchState::ExpectPrints(const Route& route, std::vector<PrintRings::Launch> launches) {
  const uint64_t number = queues_[route.hardware_queue].timeline.submitted() + 1;
  return prints_.Expect({route.hardware_queue, number}, std::move(launches));
}

Status LaunchState::Send(const Route& route, const Prepared& launch,
                         const KernelCache::Placement* images) {
  CardQueue& queue = queues_[route.hardware_queue];
  Ordering& ordering = queue.ordering;
  WorkerSet& set = sets_[launch.set];
  const LaunchRing::Place taken =
      set.ring.Take(launch.records.config_bytes(), ordering.waited_workers(launch.set));
  RETURN_IF_ERROR(ordering.WaitForWorkers(*queue.link, launch.set, taken.wait_workers));
  if (images != nullptr) {
    RETURN_IF_ERROR(queues_.Await(route.hardware_queue, images->wait));
    RETURN_IF_ERROR(EncodeImages(launch.program, images->images, card_, *queue.link));
  }
  const GoPlan go = PlanGo(queue.go_table, launch.program, card_);
  RETURN_IF_ERROR(EncodeGoTable(go, *queue.link));
  LaunchPlace place;
  place.hardware_queue = route.hardware_queue;
  place.sub_device = launch.set;
  place.slot = taken.slot;
  place.config_address = taken.config_address;
  place.image_addresses = launch.image_addresses;
  place.new_code = launch.new_code;
  place.print_tag = launch.print_tag;
  place.wait_workers = ordering.OnWire(launch.set, ordering.launched_workers(launch.set));
  place.go_first = go.first;
  RETURN_IF_ERROR(launch.records.Append(place, launch.arguments, card_, *queue.link));
  ordering.Launched(launch.set, go.multicast ? set.tiles.count() : go.count);
  set.ring.Used(ordering.launched_workers(launch.set));
  return OkStatus();
}

}  // namespace ttfd
