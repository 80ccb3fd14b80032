// Reads the state that a card shows, once.
#include "runtime/card/card_snapshot.h"

#include <memory>
#include <utility>

#include "runtime/abi/l1_map.h"
#include "runtime/hw/stream.h"

namespace ttfd {
namespace {

// `harts`: how many of them run.
StatusOr<TileSnapshot> ReadTile(Device& device, Window& window, hw::Coordinate tile,
                                uint32_t harts) {
  TileSnapshot snapshot;
  snapshot.tile = tile;
  ASSIGN_OR_RETURN(snapshot.status, ReadTileStatus(window));
  const std::optional<DeviceFault> fault = device.fault();
  for (uint32_t hart = 0; hart < harts; ++hart) {
    const abi::HartStatus& own = snapshot.status[hart];
    snapshot.waits[hart] = device.WaitOf(tile, hart);
    if (fault.has_value() && fault->tile == tile && fault->hart == hart) {
      snapshot.pc[hart] = fault->pc;
    } else if (own.state != abi::kHartReady || own.waypoint != abi::kWaypointGo) {
      snapshot.pc[hart] = ReadPc(device, window, hart);
    }
  }
  return snapshot;
}

Status ReadAll(Device& device, std::span<const BootPlan> plans, CardSnapshot* card) {
  for (const BootPlan& plan : plans) {
    ASSIGN_OR_RETURN(QueueSnapshot queue, ReadQueue(device, plan));
    card->queues.push_back(std::move(queue));
  }
  const BootPlan& plan = plans.front();
  for (uint32_t worker = 0; worker < plan.worker_count(); ++worker) {
    const hw::Coordinate tile = plan.WorkerTile(worker);
    ASSIGN_OR_RETURN(const std::unique_ptr<Window> window, device.OpenWindow(UnicastTarget(tile)));
    ASSIGN_OR_RETURN(TileSnapshot snapshot, ReadTile(device, *window, tile, hw::kHarts));
    card->workers.push_back(snapshot);
  }
  return OkStatus();
}

}  // namespace

StatusOr<QueueSnapshot> ReadQueue(Device& device, const BootPlan& plan) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Window> prefetch,
                   device.OpenWindow(UnicastTarget(plan.prefetch_tile)));
  ASSIGN_OR_RETURN(const std::unique_ptr<Window> dispatch,
                   device.OpenWindow(UnicastTarget(plan.dispatch_tile)));
  QueueSnapshot queue;
  ASSIGN_OR_RETURN(queue.prefetch, ReadTile(device, *prefetch, plan.prefetch_tile, 1));
  ASSIGN_OR_RETURN(queue.dispatch, ReadTile(device, *dispatch, plan.dispatch_tile, 2));
  RETURN_IF_ERROR(prefetch->Read(abi::kControlBlockAddress, MutableBytesOf(queue.prefetch_block)));
  RETURN_IF_ERROR(dispatch->Read(abi::kControlBlockAddress, MutableBytesOf(queue.dispatch_block)));
  for (uint32_t stream = 0; stream < queue.streams.size(); ++stream) {
    ASSIGN_OR_RETURN(queue.streams[stream],
                     ReadWord(*dispatch, hw::StreamRegister(plan.block.first_worker_stream + stream,
                                                            hw::kStreamSpaceAvailable)));
  }
  return queue;
}

CardSnapshot ReadCard(Device& device, std::span<const BootPlan> plans) {
  CardSnapshot card;
  card.columns = static_cast<uint32_t>(plans.front().worker_columns.size());
  card.fault = device.fault();
  card.unreadable = ReadAll(device, plans, &card);
  return card;
}

std::string ToString(const FirmwareDamage& damage) {
  return fmt::format("{} {} was overwritten at {:#x}: {:#x} instead of {:#x}", damage.where,
                     damage.what, damage.address, damage.found, damage.expected);
}

uint64_t ProgressFingerprint(std::span<const QueueSnapshot> queues) {
  // FNV-1a over the words.
  uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&hash](uint64_t value) { hash = (hash ^ value) * 0x100000001b3; };
  for (const QueueSnapshot& queue : queues) {
    for (const TileSnapshot* const tile : {&queue.prefetch, &queue.dispatch}) {
      for (const uint32_t hart : {hw::kBrisc, hw::kNcrisc}) {
        add(tile->status[hart].progress);
        add(tile->status[hart].waypoint);
        add(tile->status[hart].wait_count);
      }
    }
    for (const uint32_t count : queue.streams) add(count);
  }
  return hash;
}

}  // namespace ttfd
