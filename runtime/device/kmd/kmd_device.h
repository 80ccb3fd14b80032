// A card behind the vendor's kernel driver (tt-kmd 2.0 or later).
//
// The driver owns the hardware windows, the pinning of host memory and the outbound iATU; this process holds one
// open node and requests them (docs/adr/0032). Never run against silicon: tests run it over a stand-in for the
// driver.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/device/kmd/exit_guard.h"
#include "runtime/device/kmd/host_arena.h"
#include "runtime/device/kmd/node.h"
#include "runtime/device/kmd/presence.h"
#include "runtime/device/kmd/system.h"
#include "runtime/device/kmd/window_pool.h"
#include "runtime/device/telemetry.h"

namespace ttfd {

class KmdDevice final : public Device {
 public:
  // `which`: as CheckCardName. Holds every hart in reset, and pins `host_bytes` for all host memory together. Logs what
  // the driver's version lacks. Errors are sentences that name the remedy (errors.h).
  static StatusOr<std::unique_ptr<KmdDevice>> Open(const std::string& which,
                                                   const kmd::System& system,
                                                   uint64_t host_bytes = kmd::kDefaultArenaBytes);

  const DeviceInfo& info() const override { return info_; }
  StatusOr<std::unique_ptr<Window>> OpenWindow(const WindowTarget& target) override;
  // A part of the pinned memory.
  StatusOr<std::unique_ptr<HostMemory>> AllocateHostMemory(uint64_t size_bytes) override {
    return arena_->Allocate(size_bytes);
  }
  // Holds the harts through SOFT_RESET_0 of every Tensix tile, and resets its Tensix engine. Streams and NIUs keep
  // their state.
  Status Reset() override;
  Status ResetChip(Clock& clock, Tick tick) override;
  Status HoldOnExit(std::span<const hw::Coordinate> tiles) override { return guard_.Set(tiles); }
  // By a request to the driver, which passes it on to the card's firmware.
  void SetInUse(bool in_use) override {
    if (std::exchange(in_use_, in_use) != in_use) RequestClock();
  }
  std::optional<CardHealth> ReadHealth() override;
  // Without a window for the check the card is not lost, as far as this process can say.
  Status CheckPresence() override {
    presence_.Check().IgnoreError();
    return node_->lost();
  }
  uint64_t resets() const override { return resets_; }
  StatusOr<AdvanceResult> Advance(uint64_t clocks) override;

 private:
  explicit KmdDevice(std::unique_ptr<kmd::Node> node)
      : node_(std::move(node)), guard_(*node_), windows_(*node_), presence_(*node_, windows_) {}

  // Also finds the card's telemetry.
  StatusOr<DeviceInfo> ReadInfo();
  // Gives a card that was lost, and is back, what the device holds of it.
  Status Restore();
  Status HoldHarts();
  void RequestClock();
  // Until the chip's firmware answers after a reset.
  Status AwaitFirmware(Clock& clock, Tick tick);

  const std::unique_ptr<kmd::Node> node_;
  std::unique_ptr<kmd::HostArena> arena_;
  kmd::ExitGuard guard_;
  kmd::WindowPool windows_;
  kmd::Presence presence_;
  DeviceInfo info_;
  Telemetry telemetry_;
  bool in_use_ = false;
  uint64_t resets_ = 0;
};

}  // namespace ttfd
