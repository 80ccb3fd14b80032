// A device whose host accesses take time: writes may arrive late, the card runs while the host accesses it, and a test
// may act before a write or a reset. The model by itself completes every access at once.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/device/device.h"

namespace ttfd {

class LateDevice final : public Device {
 public:
  explicit LateDevice(std::unique_ptr<Device> device) : device_(std::move(device)) {}

  const DeviceInfo& info() const override { return device_->info(); }
  bool reaches_host_memory() const override { return device_->reaches_host_memory(); }
  uint64_t resets() const override { return device_->resets(); }
  StatusOr<std::unique_ptr<Window>> OpenWindow(const WindowTarget& target) override {
    ASSIGN_OR_RETURN(std::unique_ptr<Window> window, device_->OpenWindow(target));
    return std::make_unique<LateWindow>(*this, target, std::move(window));
  }
  StatusOr<std::unique_ptr<HostMemory>> AllocateHostMemory(uint64_t size_bytes) override {
    auto memory = device_->AllocateHostMemory(size_bytes);
    if (memory.ok()) host_memory.push_back((*memory)->bytes());
    return memory;
  }
  Status Reset() override {
    if (before_reset) before_reset();
    return device_->Reset();
  }
  StatusOr<AdvanceResult> Advance(uint64_t clocks) override {
    ++advances_;
    while (!held_.empty() && held_.front().due <= advances_) {
      const Held write = std::move(held_.front());
      held_.pop_front();
      RETURN_IF_ERROR(write.window->Write(write.address, write.bytes));
    }
    ASSIGN_OR_RETURN(AdvanceResult advanced, device_->Advance(clocks));
    advanced.quiescent = advanced.quiescent && held_.empty();
    return advanced;
  }
  std::optional<DeviceFault> fault() const override { return device_->fault(); }

  // Writes to these targets arrive `late` calls of Advance later, in their order. Reads do not wait for them.
  std::function<bool(const WindowTarget&)> holds;
  uint64_t late = 1;
  uint64_t access_clocks = 0;                    // that the card runs after each access
  uint64_t reads = 0;                            // through windows
  std::function<Status(uint64_t)> before_write;  // gets the address; an error fails the write
  std::function<void()> before_reset;
  std::vector<MutableByteSpan> host_memory;  // that was asked for

 private:
  struct Held {
    std::shared_ptr<Window> window;
    uint64_t address = 0;
    std::vector<std::byte> bytes;
    uint64_t due = 0;
  };

  class LateWindow final : public Window {
   public:
    LateWindow(LateDevice& device, const WindowTarget& target, std::unique_ptr<Window> window)
        : device_(device), target_(target), window_(std::move(window)) {}

    Status Read(uint64_t address, MutableByteSpan to) override {
      ++device_.reads;
      RETURN_IF_ERROR(window_->Read(address, to));
      return device_.TakeTime();
    }
    Status Write(uint64_t address, ByteSpan from) override {
      if (device_.before_write) RETURN_IF_ERROR(device_.before_write(address));
      if (device_.holds && device_.holds(target_)) {
        device_.held_.push_back(
            {window_, address, {from.begin(), from.end()}, device_.advances_ + device_.late});
        return OkStatus();
      }
      RETURN_IF_ERROR(window_->Write(address, from));
      return device_.TakeTime();
    }

   private:
    LateDevice& device_;
    const WindowTarget target_;
    const std::shared_ptr<Window> window_;
  };

  Status TakeTime() {
    return access_clocks == 0 ? OkStatus() : device_->Advance(access_clocks).status();
  }

  const std::unique_ptr<Device> device_;
  std::deque<Held> held_;
  uint64_t advances_ = 0;
};

}  // namespace ttfd
