// Everything about launches that outlasts one of them.
#include "runtime/card/launch_state.h"

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
      layouts_(card),
      cache_(KernelCache(abi::kKernelCacheAddress, abi::kKernelCacheBytes)),
      sets_(WorkerSets(AllWorkers(card))) {}

void LaunchState::Restart(uint32_t boot) {
  Drop();
  cache_.now().Clear();
  sets_.now().Clear();
  for (Staged<LaunchRing>& ring : rings_) ring.now().Clear();
  rearranged_.now() = {};
  boot_ = boot;
}

std::unique_ptr<TraceUndo> LaunchState::Commit(const Ticket& ticket) {
  cache_.Commit();
  sets_.Commit();
  for (Staged<LaunchRing>& ring : rings_) ring.Commit();
  rearranged_.Commit();
  for (const Use& use : uses_) {
    cache_.now().Used(*use.program, ticket.hardware_queue, use.set, use.workers);
  }
  uses_.clear();
  prints_.Expect(ticket, std::exchange(print_tag_, 0u), std::move(printing_));
  printing_.clear();
  return edit_.Commit();
}

void LaunchState::Drop() {
  cache_.Drop();
  sets_.Drop();
  for (Staged<LaunchRing>& ring : rings_) ring.Drop();
  rearranged_.Drop();
  uses_.clear();
  print_tag_ = 0;
  printing_.clear();
  edit_.Drop();
}

Ordering::StreamMask LaunchState::KernelsOf(const Route& route) const {
  return route.workers.none() ? Ordering::kAllStreams : sets_->Overlapping(route.workers);
}

WorkerCounts LaunchState::LaunchedOn(uint32_t sets) const {
  WorkerCounts counts;
  for (uint32_t queue = 0; queue < kHardwareQueues; ++queue) {
    for (uint32_t set = 0; set < abi::kMaxSubDevices; ++set) {
      if ((sets >> set & 1) == 0) continue;
      counts.Raise(queue, set, queues_[queue].ordering->launched_workers(set));
    }
  }
  return counts;
}

WorkerCounts LaunchState::Ended() const {
  WorkerCounts counts;
  for (uint32_t queue = 0; queue < kHardwareQueues; ++queue) {
    for (uint32_t stream = 0; stream < abi::kMaxSubDevices; ++stream) {
      counts.Raise(queue, stream, queues_[queue].ordering->seen_workers(stream));
    }
  }
  return counts;
}

uint32_t LaunchState::PlanEnter(const Route& route, std::optional<uint32_t> number) {
  const uint32_t queue = route.hardware_queue;
  const TileSet& tiles = WorkersOf(route);
  const std::optional<uint32_t> found = sets_->Find(tiles);
  if (!found.has_value() || (number.has_value() && *number != *found)) {
    const WorkerSets::Change change = sets_->Plan(tiles, number);
    PlanRearrangement(queue, tiles, change);
    sets_.Change().Apply(change, tiles, queue);
    for (uint32_t set = 0; set < rings_.size(); ++set) {
      if ((change.ended >> set & 1) != 0 || set == change.number) rings_[set].Change().Clear();
    }
    PlanOwn(route, change.number);
    return change.number;
  }
  if ((*sets_)[*found].hardware_queue != queue) {
    RecordBatch& batch = queues_[queue].plan.batch;
    // The other queue's launches have ended before this one's begin, so nothing of theirs is in use.
    queues_.PlanAwait(queue, batch, LaunchedOn(1u << *found));
    // The set may be new, without a launch: its workers must listen to its go word by now.
    queues_.PlanAwait(queue, batch, rearranged_->by, rearranged_->mark);
    rings_[*found].Change().Clear();
    sets_.Change()[*found].hardware_queue = queue;
    PlanOwn(route, *found);
  } else if (route.workers.any() && !(*sets_)[*found].publishes) {
    PlanOwn(route, *found);
  }
  sets_.Change().Touch(*found);
  return *found;
}

void LaunchState::PlanOwn(const Route& route, uint32_t number) {
  WorkerSet& set = sets_.Change()[number];
  set.publishes = route.workers.any();
  CardQueue& queue = queues_[route.hardware_queue];
  EncodeSubDevice(route.hardware_queue, number,
                  {set.generation, static_cast<uint32_t>(set.tiles.count()), set.publishes}, card_,
                  queue.plan.batch);
  queue.ordering.Change().Wrote();
}

void LaunchState::PlanRearrangement(uint32_t hardware_queue, const TileSet& tiles,
                                    const WorkerSets::Change& change) {
  CardQueue& queue = queues_[hardware_queue];
  RecordBatch& batch = queue.plan.batch;
  queues_.PlanAwait(hardware_queue, batch, LaunchedOn(change.ended | 1u << change.number));
  queues_.PlanAwait(hardware_queue, batch, rearranged_->by, rearranged_->mark);
  const GridSize grid = card_.grid();
  EncodeListen(CoverWithRectangles(tiles, grid), change.number, change.generation, card_, batch);
  if (change.orphans.any()) {
    EncodeListen(CoverWithRectangles(change.orphans, grid), kNoSubDevice, 0, card_, batch);
  }
  queue.ordering.Change().Wrote();
  rearranged_.Change() = {hardware_queue, {queue.ordering->Now().writes, {}, 0}};
}

Status LaunchState::PlanLaunch(const Route& route, const LaunchCommand& command) {
  const Program& program = *command.program;
  std::optional<KernelCache::Placement> placement = cache_.now().PlaceResident(program);
  if (!placement.has_value()) {
    ASSIGN_OR_RETURN(placement, cache_.Change().Place(program, WorkersOf(route), Ended()));
  }
  programs_.Add(command.program);
  const std::shared_ptr<const LaunchRecords> records =
      layouts_.Get(command.program, command.arguments);
  const uint32_t set = PlanEnter(route, std::nullopt);
  Prepared launch{program, *records, command.arguments, set, {}, false, 0};
  for (const ImagePlacement& image : placement->images) {
    launch.image_addresses.push_back(image.address);
    launch.new_code |= image.new_code;
  }
  if (program.printing.any()) {
    launch.print_tag = PlanPrints({{command.program, launch.image_addresses}});
  }
  PlanSend(route, launch, &*placement);
  uses_.push_back({&program, set, queues_[route.hardware_queue].ordering->launched_workers(set)});
  return OkStatus();
}

void LaunchState::PlanNothing(const Route& route) {
  Program everywhere;
  everywhere.grid = card_.grid();
  everywhere.tiles = sets_->all();
  for (uint32_t worker = 0; worker < card_.worker_count(); ++worker) {
    everywhere.workers.push_back(static_cast<uint16_t>(worker));
  }
  PlanDropOfInstructionCaches(route, PlanEnter(route, std::nullopt), everywhere);
}

uint32_t LaunchState::PlanPrints(std::vector<PrintRings::Launch> launches) {
  print_tag_ = prints_.NextTag(launches.size());
  printing_ = std::move(launches);
  return print_tag_;
}

void LaunchState::PlanSend(const Route& route, const Prepared& launch,
                           const KernelCache::Placement* images) {
  CardQueue& queue = queues_[route.hardware_queue];
  Ordering& ordering = queue.ordering.Change();
  RecordBatch& batch = queue.plan.batch;
  LaunchRing& ring = rings_[launch.set].Change();
  const LaunchRing::Place taken =
      ring.Take(launch.records.config_bytes(), ordering.waited_workers(launch.set));
  ordering.WaitForWorkers(batch, launch.set, taken.wait_workers);
  if (images != nullptr) {
    queues_.PlanAwait(route.hardware_queue, batch, images->wait);
    EncodeImages(launch.program, images->images, card_, batch);
  }
  const GoPlan go = PlanGo(queue.go_table.Change(), launch.program, card_);
  EncodeGoTable(go, batch);
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
  launch.records.Append(place, launch.arguments, card_, batch);
  ordering.Launched(launch.set, go.multicast ? (*sets_)[launch.set].tiles.count() : go.count);
  ring.Used(ordering.launched_workers(launch.set));
}

}  // namespace ttfd
