// Compares what the tiles' firmware runs on with what the host put there.
#include "runtime/dispatch/firmware_check.h"

#include <utility>

#include "runtime/abi/boot_block.h"
#include "runtime/abi/control_block.h"
#include "runtime/abi/hart_status.h"
#include "runtime/abi/l1_map.h"
#include "runtime/boot/hart_state.h"
#include "runtime/hw/noc.h"

namespace ttfd {
namespace {

using Images = std::array<ByteSpan, hw::kHarts>;

// One tile. Each check is false where something differs, and `damage` then says where first.
class TileCheck {
 public:
  TileCheck(Window& window, FirmwareDamage* damage) : window_(window), damage_(*damage) {}

  bool Firmware(const Images& images) {
    // What BRISC starts with after a reset.
    const uint32_t jump = hw::JumpToFirmware(abi::kFirmwareAddress[hw::kBrisc]);
    if (!Words("BRISC firmware", 0, BytesOf(jump))) return false;
    for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
      const std::string what = fmt::format("{} firmware", HartName(hart));
      if (!Words(what, abi::kFirmwareAddress[hart], images[hart])) return false;
    }
    return true;
  }

  bool Boot(const BootPlan& plan, abi::Role role, uint32_t nonce) {
    abi::BootBlock block = plan.block;
    block.role = role;
    block.own_xy = hw::NocXy(damage_.tile.x, damage_.tile.y);
    block.boot_nonce = nonce;
    return Words("boot block", abi::kBootBlockAddress, BytesOf(block)) &&
           Words("bank table", abi::kBankTableAddress, BytesOf(plan.banks));
  }

  bool PrefetchCounts(const QueueSnapshot& queue) {
    const abi::ControlBlock& block = queue.prefetch_block;
    const abi::HartStatus& own = queue.prefetch.status[hw::kBrisc];
    const bool rests = queue.dispatch.status[hw::kBrisc].waypoint == abi::kWaypointIdle;
    if (!Padding(block)) return false;
    return !rests || own.waypoint != abi::kWaypointStall ||
           Count(offsetof(abi::ControlBlock, sync), own.wait_count, block.sync.value);
  }

  bool DispatchCounts(const QueueSnapshot& queue, const QueueState& host) {
    const abi::ControlBlock& block = queue.dispatch_block;
    return Padding(block) && Count(offsetof(abi::ControlBlock, completion_pages_read),
                                   host.completion_pages_read, block.completion_pages_read.value);
  }

 private:
  // Only the counters themselves are ever written.
  bool Padding(const abi::ControlBlock& block) {
    const ByteSpan bytes = BytesOf(block);
    for (size_t at = 0; at < offsetof(abi::ControlBlock, completion_staging);
         at += sizeof(abi::Counter)) {
      for (size_t word = at + sizeof(uint32_t); word < at + sizeof(abi::Counter);
           word += sizeof(uint32_t)) {
        const auto found = LoadAt<uint32_t>(bytes.data() + word);
        if (found != 0) return Count(word, 0, found);
      }
    }
    return true;
  }

  bool Count(size_t offset, uint32_t expected, uint32_t found) {
    if (expected == found) return true;
    damage_.what = "control block";
    damage_.address = abi::kControlBlockAddress + static_cast<uint32_t>(offset);
    damage_.expected = expected;
    damage_.found = found;
    return false;
  }

  bool Words(const std::string& what, uint32_t address, ByteSpan expected) {
    std::vector<std::byte> found(expected.size());
    if (!window_.Read(address, found).ok()) return true;
    for (size_t at = 0; at + sizeof(uint32_t) <= expected.size(); at += sizeof(uint32_t)) {
      damage_.expected = LoadAt<uint32_t>(expected.data() + at);
      damage_.found = LoadAt<uint32_t>(found.data() + at);
      if (damage_.expected == damage_.found) continue;
      damage_.what = what;
      damage_.address = address + static_cast<uint32_t>(at);
      return false;
    }
    return true;
  }

  Window& window_;
  FirmwareDamage& damage_;
};

}  // namespace

std::vector<FirmwareDamage> FindFirmwareDamage(Device& device, std::span<const BootPlan> plans,
                                               const CardSnapshot& card,
                                               std::span<const QueueState> hosts,
                                               const FirmwareSet& firmware, uint32_t boot_nonce,
                                               size_t most) {
  std::vector<FirmwareDamage> damages;
  const auto check = [&](const BootPlan& plan, hw::Coordinate tile, abi::Role role,
                         const Images& images, std::string name, const auto& counts) {
    const StatusOr<std::unique_ptr<Window>> window = device.OpenWindow(UnicastTarget(tile));
    if (damages.size() == most || !window.ok()) return;
    FirmwareDamage damage;
    damage.where = fmt::format("{} ({},{})", name, tile.x, tile.y);
    damage.tile = tile;
    if (role != abi::kRoleWorker) damage.hardware_queue = plan.block.hardware_queue;
    TileCheck tile_check(**window, &damage);
    if (!tile_check.Firmware(images) || !tile_check.Boot(plan, role, boot_nonce) ||
        !counts(tile_check)) {
      damages.push_back(std::move(damage));
    }
  };
  for (const BootPlan& plan : plans) {
    const uint32_t queue = plan.block.hardware_queue;
    const QueueSnapshot* const shows = queue < card.queues.size() ? &card.queues[queue] : nullptr;
    check(plan, plan.prefetch_tile, abi::kRolePrefetch, {firmware.prefetch},
          PrefetchTileName(queue),
          [&](TileCheck& tile) { return shows == nullptr || tile.PrefetchCounts(*shows); });
    check(plan, plan.dispatch_tile, abi::kRoleDispatch, {firmware.dispatch, firmware.dispatch_s},
          DispatchTileName(queue), [&](TileCheck& tile) {
            return shows == nullptr || tile.DispatchCounts(*shows, hosts[queue]);
          });
  }
  const BootPlan& plan = plans.front();
  const auto columns = static_cast<uint32_t>(plan.worker_columns.size());
  for (uint32_t worker = 0; worker < plan.worker_count(); ++worker) {
    check(plan, plan.WorkerTile(worker), abi::kRoleWorker, firmware.worker,
          fmt::format("worker ({},{}) tile", worker % columns, worker / columns),
          [](TileCheck&) { return true; });
  }
  return damages;
}

}  // namespace ttfd
