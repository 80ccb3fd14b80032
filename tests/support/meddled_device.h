// A device with somebody who interferes with it: after every little bit of its time he may do what he likes.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/device/device.h"

namespace ttfd {

class MeddledDevice final : public Device {
 public:
  explicit MeddledDevice(std::unique_ptr<Device> device) : device_(std::move(device)) {}

  const DeviceInfo& info() const override { return device_->info(); }
  bool reaches_host_memory() const override { return device_->reaches_host_memory(); }
  uint64_t resets() const override { return device_->resets(); }
  StatusOr<std::unique_ptr<Window>> OpenWindow(const WindowTarget& target) override {
    ++windows;
    return device_->OpenWindow(target);
  }
  StatusOr<std::unique_ptr<HostMemory>> AllocateHostMemory(uint64_t size_bytes) override {
    auto memory = device_->AllocateHostMemory(size_bytes);
    if (memory.ok()) host_memory.push_back((*memory)->bytes());
    return memory;
  }
  Status Reset() override { return device_->Reset(); }
  StatusOr<AdvanceResult> Advance(uint64_t clocks) override {
    constexpr uint64_t kLittle = 100;
    while (meddle && clocks > kLittle) {
      ASSIGN_OR_RETURN(const AdvanceResult advanced, device_->Advance(kLittle));
      meddle(*device_);
      clocks -= kLittle;
      if (advanced.quiescent) return advanced;
    }
    return device_->Advance(clocks);
  }
  std::optional<DeviceFault> fault() const override { return device_->fault(); }

  std::function<void(Device&)> meddle;
  int windows = 0;                           // opened so far
  std::vector<MutableByteSpan> host_memory;  // that was asked for

 private:
  const std::unique_ptr<Device> device_;
};

}  // namespace ttfd
