// Compares what the tiles' firmware runs on with what the host put there.
#include "runtime/card/firmware_check.h"

#include <algorithm>
#include <utility>

#include "runtime/abi/boot_block.h"
#include "runtime/abi/control_block.h"
#include "runtime/abi/hart_status.h"
#include "runtime/abi/kernel_image.h"
#include "runtime/abi/l1_map.h"
#include "runtime/boot/hart_state.h"
#include "runtime/hw/noc.h"
#include "runtime/hw/tensix.h"

namespace ttfd {
namespace {

using Images = std::array<ByteSpan, hw::kHarts>;

// One tile. Each check is false where something differs, and `damage` then says where first.
class TileCheck {
 public:
  TileCheck(Window& window, FirmwareDamage* damage) : window_(window), damage_(*damage) {}

  bool Firmware(const Images& images) {
    // Instruction that BRISC starts with after a reset.
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

  // Harts that are held run nothing.
  bool Running() {
    const StatusOr<uint32_t> reset = ReadWord(window_, hw::kSoftReset0);
    if (!reset.ok() || (*reset & hw::kSoftResetAllHarts) == 0) return true;
    return Differs("reset register", hw::kSoftReset0, 0, *reset);
  }

  // All but the data, which the kernel changes.
  bool Kernel(const KernelCache::HeldImage& held) {
    const ByteSpan bytes = held.image->bytes;
    const auto header = LoadAt<abi::KernelImageHeader>(bytes.data());
    const std::string what = fmt::format("{} kernel", HartName(held.image->hart));
    return Words(what, held.address, bytes.first(header.data_offset)) &&
           Words(what, held.address + header.pristine_offset,
                 bytes.subspan(header.pristine_offset));
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
    return expected == found ||
           Differs("control block", abi::kControlBlockAddress + static_cast<uint32_t>(offset),
                   expected, found);
  }

  // Returns false.
  bool Differs(std::string what, uint32_t address, uint32_t expected, uint32_t found) {
    damage_.what = std::move(what);
    damage_.address = address;
    damage_.expected = expected;
    damage_.found = found;
    return false;
  }

  bool Words(const std::string& what, uint32_t address, ByteSpan expected) {
    std::vector<std::byte> found(expected.size());
    if (!window_.Read(address, found).ok()) return true;
    for (size_t at = 0; at + sizeof(uint32_t) <= expected.size(); at += sizeof(uint32_t)) {
      const auto want = LoadAt<uint32_t>(expected.data() + at);
      const auto has = LoadAt<uint32_t>(found.data() + at);
      if (want != has) return Differs(what, address + static_cast<uint32_t>(at), want, has);
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
                                               const KernelCache& kernels,
                                               const ProgramRegistry& programs) {
  std::vector<FirmwareDamage> damages;
  // `damage` says which tile.
  const auto check = [&](const BootPlan& plan, FirmwareDamage damage, abi::Role role,
                         const Images& images, const auto& rest) {
    const StatusOr<std::unique_ptr<Window>> window = device.OpenWindow(UnicastTarget(damage.tile));
    if (!window.ok()) return;
    damage.where = fmt::format("{} ({},{})", damage.where, damage.tile.x, damage.tile.y);
    TileCheck tile(**window, &damage);
    if (!tile.Firmware(images) || !tile.Boot(plan, role, boot_nonce) || !rest(tile)) {
      damages.push_back(std::move(damage));
    }
  };
  for (const BootPlan& plan : plans) {
    const uint32_t queue = plan.block.hardware_queue;
    const QueueSnapshot* const shows = queue < card.queues.size() ? &card.queues[queue] : nullptr;
    check(plan,
          {.where = PrefetchTileName(queue),
           .hardware_queue = static_cast<int32_t>(queue),
           .tile = plan.prefetch_tile},
          abi::kRolePrefetch, {firmware.prefetch},
          [&](TileCheck& tile) { return shows == nullptr || tile.PrefetchCounts(*shows); });
    check(plan,
          {.where = DispatchTileName(queue),
           .hardware_queue = static_cast<int32_t>(queue),
           .tile = plan.dispatch_tile},
          abi::kRoleDispatch, {firmware.dispatch, firmware.dispatch_s}, [&](TileCheck& tile) {
            return shows == nullptr || tile.DispatchCounts(*shows, hosts[queue]);
          });
  }
  const BootPlan& plan = plans.front();
  const auto columns = static_cast<uint32_t>(plan.worker_columns.size());
  for (uint32_t worker = 0; worker < plan.worker_count(); ++worker) {
    const std::string name = fmt::format("worker ({},{}) tile", worker % columns, worker / columns);
    check(plan,
          {.where = name, .worker = static_cast<int32_t>(worker), .tile = plan.WorkerTile(worker)},
          abi::kRoleWorker, firmware.worker, [&](TileCheck& tile) {
            if (!tile.Running()) return false;
            if (worker >= card.workers.size()) return true;
            const abi::HartStatus& brisc = card.workers[worker].status[hw::kBrisc];
            const bool faulted =
                card.fault.has_value() && card.fault->tile == plan.WorkerTile(worker);
            if (brisc.waypoint == abi::kWaypointGo && !faulted) return true;
            const std::shared_ptr<const Program> program = programs.Find(ProgramOf(brisc));
            if (program == nullptr) return true;
            return std::ranges::all_of(kernels.ImagesOn(worker, *program),
                                       [&](const auto& held) { return tile.Kernel(held); });
          });
  }
  return damages;
}

}  // namespace ttfd
