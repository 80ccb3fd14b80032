// Puts node, windows and pinned memory together.
#include "runtime/device/kmd/kmd_device.h"

#include <cstring>

#include "runtime/base/log.h"
#include "runtime/device/card_info.h"
#include "runtime/device/kmd/errors.h"
#include "runtime/device/kmd/window.h"
#include "runtime/device/problem.h"
#include "runtime/device/wait.h"
#include "runtime/hw/tensix.h"

namespace ttfd {

StatusOr<std::unique_ptr<KmdDevice>> KmdDevice::Open(const std::string& which,
                                                     const kmd::System& system,
                                                     uint64_t host_bytes) {
  ASSIGN_OR_RETURN(std::unique_ptr<kmd::Node> opened, kmd::Node::Open(system, which));
  for (const std::string& limit : kmd::LimitsOf(opened->version())) LogWarning("{}", limit);
  std::unique_ptr<KmdDevice> device(new KmdDevice(std::move(opened)));
  ASSIGN_OR_RETURN(device->info_, device->ReadInfo());
  // Memory first, which may be missing; it is pinned when no hart can reach it any more.
  ASSIGN_OR_RETURN(device->arena_, kmd::HostArena::Open(*device->node_, host_bytes));
  RETURN_IF_ERROR(device->Reset());
  RETURN_IF_ERROR(device->arena_->Pin());
  return device;
}

StatusOr<DeviceInfo> KmdDevice::ReadInfo() {
  ASSIGN_OR_RETURN(const std::unique_ptr<Window> arc, OpenWindow(UnicastTarget(hw::kArc)));
  ASSIGN_OR_RETURN(telemetry_, Telemetry::Find(*arc));
  RETURN_IF_ERROR(CheckReportsGrid(telemetry_));
  ASSIGN_OR_RETURN(DeviceInfo info, ReadCardInfo(telemetry_, *arc));
  info.backend = "kmd";
  info.iommu = node_->iommu();
  info.runs_by_itself = true;
  info.resets_chip = node_->version() >= kmd::kFirstReset;
  return info;
}

StatusOr<std::unique_ptr<Window>> KmdDevice::OpenWindow(const WindowTarget& target) {
  RETURN_IF_ERROR(CheckTarget(target));
  return std::make_unique<kmd::KmdWindow>(*node_, windows_, presence_, target);
}

std::optional<CardHealth> KmdDevice::ReadHealth() {
  CardHealth health = node_->ReadHealth();
  const StatusOr<std::unique_ptr<Window>> arc = OpenWindow(UnicastTarget(hw::kArc));
  if (arc.ok()) ReadHealthOf(telemetry_, **arc, &health);
  return health;
}

Status KmdDevice::Reset() {
  ++resets_;
  if (node_->lost().ok()) return HoldHarts();
  guard_.Clear();
  windows_.Clear();
  RETURN_IF_ERROR(node_->Reopen());
  return node_->EndRestore(Restore());
}

Status KmdDevice::ResetChip(Clock& clock, Tick tick) {
  if (!info_.resets_chip) return kmd::ResetUnknown(node_->version());
  ++resets_;
  if (!node_->silent()) RETURN_IF_ERROR(node_->lost());
  guard_.Clear();
  windows_.Clear();
  RETURN_IF_ERROR(node_->BeginReset());
  RETURN_IF_ERROR(node_->EndReset(clock, tick));
  Status restored = AwaitFirmware(clock, tick);
  if (restored.ok()) restored = Restore();
  return node_->EndRestore(restored);
}

Status KmdDevice::AwaitFirmware(Clock& clock, Tick tick) {
  constexpr Duration kLimit = std::chrono::seconds(10);
  constexpr Duration kPoll = std::chrono::milliseconds(10);
  const TimePoint deadline = clock.Now() + kLimit;
  Status answered;
  const auto answers = [&]() -> StatusOr<bool> {
    answered = ReadInfo().status();
    RETURN_IF_ERROR(node_->lost());
    return answered.ok();
  };
  const auto step = [&]() -> StatusOr<bool> {
    clock.Sleep(kPoll);
    return true;
  };
  const auto late = [&] { return clock.Now() >= deadline; };
  RETURN_IF_ERROR(WaitUntil(answers, step, late, tick, Pacing(DeviceInfo(), clock)).status());
  return answered;
}

void KmdDevice::RequestClock() {
  if (node_->version() < kmd::kFirstPower || !node_->lost().ok()) return;
  const int clock = in_use_ ? kmd::kPowerHighClock : 0;
  kmd::PowerStateCall call = {
      .bytes = sizeof(kmd::PowerStateCall),
      .validity = kmd::kPowerFlags,
      .power_flags = static_cast<uint16_t>(kmd::kPowerOfAnOpenNode | clock)};
  const int error = node_->Call(kmd::kSetPowerState, &call);
  if (error != 0 && node_->lost().ok()) {
    LogWarning("the card at {} keeps its clock, though it is {} use: the driver answers {}",
               node_->path(), in_use_ ? "in" : "out of", std::strerror(error));
  }
}

Status KmdDevice::Restore() {
  ASSIGN_OR_RETURN(DeviceInfo info, ReadInfo());
  info.clock_hz = info_.clock_hz;
  if (info != info_) return kmd::AnotherCard(node_->path());
  RETURN_IF_ERROR(HoldHarts());
  if (in_use_) RequestClock();
  return arena_->Pin();
}

Status KmdDevice::HoldHarts() {
  for (const uint32_t x : info_.tensix_columns) {
    for (uint32_t row = 0; row < hw::kTensixRows; ++row) {
      const hw::Coordinate tile = {x, hw::kTensixFirstRow + row};
      kmd::KmdWindow window(*node_, windows_, presence_, UnicastTarget(tile));
      RETURN_IF_ERROR(WriteWord(window, hw::kSoftReset0, hw::kSoftResetEverything));
      RETURN_IF_ERROR(WriteWord(window, hw::kSoftReset0, hw::kSoftResetAllHarts));
      // The answer comes behind the write, which is otherwise still on its way.
      ASSIGN_OR_RETURN(const uint32_t held, ReadWord(window, hw::kSoftReset0));
      if (held != hw::kSoftResetAllHarts) {
        return ProblemError(
            Problem::kCardLost, StatusCode::kUnavailable,
            "tile ({},{}) does not hold its harts (SOFT_RESET_0 is {:#x}): reset the card", tile.x,
            tile.y, held);
      }
    }
  }
  return OkStatus();
}

StatusOr<AdvanceResult> KmdDevice::Advance(uint64_t /*clocks*/) {
  RETURN_IF_ERROR(node_->lost());
  return AdvanceResult{};
}

}  // namespace ttfd
