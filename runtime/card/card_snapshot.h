// Snapshot of a card's state, read once. Values only: what they mean is decided without the card, and again in tests.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/abi/control_block.h"
#include "runtime/base/status.h"
#include "runtime/boot/boot_plan.h"
#include "runtime/boot/hart_state.h"
#include "runtime/device/device.h"

namespace ttfd {

struct TileSnapshot {
  hw::Coordinate tile = {0, 0};  // translated
  TileStatus status{};
  std::array<uint32_t, hw::kHarts> pc{};  // 0: not known, or of a hart that is idle
  std::array<std::optional<EngineWait>, hw::kHarts> waits{};  // where the device can say
};

// The two tiles of a hardware queue.
struct QueueSnapshot {
  TileSnapshot prefetch;
  TileSnapshot dispatch;
  abi::ControlBlock prefetch_block{};
  abi::ControlBlock dispatch_block{};
  std::array<uint32_t, abi::kMaxSubDevices>
      streams{};  // what the counters of the dispatch tile show
};

// Firmware, what the host wrote for it, or a kernel that was overwritten; or harts that are held.
struct FirmwareDamage {
  std::string where;               // "worker (3,2) tile (4,4)"
  std::string what = {};           // "BRISC firmware", "boot block", "TRISC0 kernel"
  int32_t hardware_queue = kNone;  // whose tile it is, if it prefetches or dispatches
  int32_t worker = kNone;          // else its number, row by row
  hw::Coordinate tile = {0, 0};
  uint32_t address = 0;  // of the first word that differs
  uint32_t expected = 0;
  uint32_t found = 0;

  static constexpr int32_t kNone = -1;
};

// "worker (3,2) tile (4,4) BRISC firmware was overwritten at 0x1040: 0x0 instead of 0x13"
std::string ToString(const FirmwareDamage& damage);

struct CardSnapshot {
  std::vector<QueueSnapshot> queues;
  std::vector<TileSnapshot> workers;  // row by row
  uint32_t columns = 1;               // of the workers' grid
  std::optional<DeviceFault> fault;   // why the card stopped, where the device can say
  Status unreadable;  // why the reading ended before everything was read; OK if it did not
  std::vector<FirmwareDamage> damage;  // FindFirmwareDamage
};

// A few PCIe reads for each tile. What is not idle has a pc where the device can read it.
StatusOr<QueueSnapshot> ReadQueue(Device& device, const BootPlan& plan);
// All but `damage`.
CardSnapshot ReadCard(Device& device, std::span<const BootPlan> plans);

// One number made of everything that moves while the queues make progress: progress words and waypoints of their harts,
// worker counts.
uint64_t ProgressFingerprint(std::span<const QueueSnapshot> queues);

}  // namespace ttfd
