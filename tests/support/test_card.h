// A KmdDevice for suites that let a device have clocks: over a stand-in for the driver, or on a card.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "runtime/device/kmd/kmd_device.h"

namespace ttfd {

class TestCard final : public Device {
 public:
  // `let_time_pass` returns when the card has run so many clocks; `after`, if any, is called when the device is closed.
  TestCard(std::unique_ptr<KmdDevice> device, std::function<void(uint64_t clocks)> let_time_pass,
           std::function<void()> after)
      : device_(std::move(device)),
        let_time_pass_(std::move(let_time_pass)),
        after_(std::move(after)) {}
  ~TestCard() override {
    device_->Reset().IgnoreError();  // of a card that was lost nothing is left to hold
    device_.reset();
    if (after_) after_();
  }

  const DeviceInfo& info() const override { return device_->info(); }
  StatusOr<std::unique_ptr<Window>> OpenWindow(const WindowTarget& target) override {
    return device_->OpenWindow(target);
  }
  StatusOr<std::unique_ptr<HostMemory>> AllocateHostMemory(uint64_t size_bytes) override {
    return device_->AllocateHostMemory(size_bytes);
  }
  Status Reset() override { return device_->Reset(); }
  Status ResetChip(Clock& clock, Tick tick) override { return device_->ResetChip(clock, tick); }
  Status HoldOnExit(std::span<const hw::Coordinate> tiles) override {
    return device_->HoldOnExit(tiles);
  }
  void SetInUse(bool in_use) override { device_->SetInUse(in_use); }
  std::optional<CardHealth> ReadHealth() override { return device_->ReadHealth(); }
  Status CheckPresence() override { return device_->CheckPresence(); }
  StatusOr<AdvanceResult> Advance(uint64_t clocks) override {
    let_time_pass_(clocks);
    ASSIGN_OR_RETURN(AdvanceResult advanced, device_->Advance(clocks));
    advanced.clocks = clocks;
    return advanced;
  }

 private:
  std::unique_ptr<KmdDevice> device_;
  const std::function<void(uint64_t)> let_time_pass_;
  const std::function<void()> after_;
};

// The card that `which` names (kmd::CheckCardName), through the system's own driver. Never run on silicon.
StatusOr<std::unique_ptr<Device>> OpenTestCard(const std::string& which);

}  // namespace ttfd
