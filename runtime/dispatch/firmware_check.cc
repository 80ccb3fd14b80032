// Compares the firmware in the tiles' L1 with what was loaded.
#include "runtime/dispatch/firmware_check.h"

#include <array>
#include <utility>

#include "runtime/abi/l1_map.h"
#include "runtime/boot/hart_state.h"

namespace ttfd {
namespace {

using Images = std::array<ByteSpan, hw::kHarts>;

bool CheckWords(Window& window, uint32_t address, ByteSpan expected, FirmwareDamage* damage) {
  std::vector<std::byte> found(expected.size());
  if (!window.Read(address, found).ok()) return true;
  for (size_t at = 0; at + sizeof(uint32_t) <= expected.size(); at += sizeof(uint32_t)) {
    damage->expected = LoadAt<uint32_t>(expected.data() + at);
    damage->found = LoadAt<uint32_t>(found.data() + at);
    if (damage->expected == damage->found) continue;
    damage->address = address + static_cast<uint32_t>(at);
    return false;
  }
  return true;
}

// False: it differs, and `damage` says where first.
bool CheckTile(Device& device, hw::Coordinate tile, const Images& images, FirmwareDamage* damage) {
  const StatusOr<std::unique_ptr<Window>> window = device.OpenWindow(UnicastTarget(tile));
  if (!window.ok()) return true;
  damage->tile = tile;
  // What BRISC starts with after a reset.
  const uint32_t jump = hw::JumpToFirmware(abi::kFirmwareAddress[hw::kBrisc]);
  if (!CheckWords(**window, 0, BytesOf(jump), damage)) return false;
  for (damage->hart = 0; damage->hart < hw::kHarts; ++damage->hart) {
    if (!CheckWords(**window, abi::kFirmwareAddress[damage->hart], images[damage->hart], damage)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<FirmwareDamage> FindFirmwareDamage(Device& device, std::span<const BootPlan> plans,
                                               const FirmwareSet& firmware, size_t most) {
  std::vector<FirmwareDamage> damages;
  const auto check = [&](hw::Coordinate tile, const Images& images, std::string name) {
    FirmwareDamage damage;
    if (damages.size() == most || CheckTile(device, tile, images, &damage)) return;
    damage.where = fmt::format("{} ({},{})", name, tile.x, tile.y);
    damages.push_back(std::move(damage));
  };
  for (const BootPlan& plan : plans) {
    const uint32_t queue = plan.block.hardware_queue;
    check(plan.prefetch_tile, {firmware.prefetch}, PrefetchTileName(queue));
    check(plan.dispatch_tile, {firmware.dispatch, firmware.dispatch_s}, DispatchTileName(queue));
  }
  const BootPlan& plan = plans.front();
  const auto columns = static_cast<uint32_t>(plan.worker_columns.size());
  for (uint32_t worker = 0; worker < plan.worker_count(); ++worker) {
    check(plan.WorkerTile(worker), firmware.worker,
          fmt::format("worker ({},{}) tile", worker % columns, worker / columns));
  }
  return damages;
}

std::string ToString(const FirmwareDamage& damage) {
  return fmt::format("{} {} firmware was overwritten at {:#x}: {:#x} instead of {:#x}",
                     damage.where, HartName(damage.hart), damage.address, damage.found,
                     damage.expected);
}

}  // namespace ttfd
