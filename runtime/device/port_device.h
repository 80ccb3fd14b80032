// The Device of a simulated card: does over a PciePort what a kernel driver does over a real bus.
//
// It programs TLB windows through their registers, gives host memory its bus addresses through the
// outbound iATU, and reads from the ARC's telemetry what the card is. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "runtime/device/device.h"
#include "runtime/hw/pcie.h"

namespace ttfd {

// Properties of a backend that telemetry does not report.
struct PortTraits {
  std::string backend;  // DeviceInfo::backend
  bool memory_is_zero_after_power_on = false;
  bool iommu = false;
  bool memory_survives_reset = true;
  bool reports_quiescence = false;
  // Number of the device among those with the same host memory. Each has bus addresses of its own.
  uint32_t number = 0;
};

class PortDevice final : public Device {
 public:
  // Resets the card and reads what it is. UNAVAILABLE: the card's firmware is not ready;
  // FAILED_PRECONDITION: it is not a Blackhole, or runs without coordinate translation.
  static StatusOr<std::unique_ptr<PortDevice>> Open(std::unique_ptr<PciePort> port,
                                                    const PortTraits& traits);
  ~PortDevice() override;

  const DeviceInfo& info() const override { return info_; }
  StatusOr<std::unique_ptr<Window>> OpenWindow(const WindowTarget& target) override;
  StatusOr<std::unique_ptr<HostMemory>> AllocateHostMemory(uint64_t size_bytes) override;
  Status Reset() override;
  Status CheckPresence() override { return port_->CheckPresence(); }
  uint64_t resets() const override { return resets_; }
  StatusOr<AdvanceResult> Advance(uint64_t clocks) override {
    if (!returned_.ok()) return std::exchange(returned_, OkStatus());
    return port_->Advance(clocks);
  }
  void ReturnFault(const Status& fault) override { returned_ = fault; }
  std::optional<DeviceFault> fault() const override { return port_->fault(); }
  std::optional<EngineWait> WaitOf(hw::Coordinate tile, uint32_t hart) const override {
    return port_->WaitOf(tile, hart);
  }
  KernelBounds* kernel_bounds() override { return port_->kernel_bounds(); }
  StatusOr<std::unique_ptr<StackSampler>> SampleStacks(const SampleOptions& options) override {
    return port_->SampleStacks(options);
  }

  PciePort& port() { return *port_; }

 private:
  class PortWindow;
  class PortHostMemory;

  // Window 201 is the kernel driver's by convention; a model has none, the convention stays.
  static constexpr uint32_t kSlots = hw::kTlbWindowKernel;

  // A hardware window and whose view it holds.
  struct Slot {
    PortWindow* owner = nullptr;
    uint64_t last_use = 0;
    std::array<uint32_t, 3> words{};  // the register's contents
    bool known = false;               // false after a reset: write all words
  };

  PortDevice(std::unique_ptr<PciePort> port, uint32_t number)
      : port_(std::move(port)), number_(number) {}
  // Points a hardware window of `window` at the 2 MiB that start at `base`; takes the least recently
  // used one if all are in use.
  Status Point(PortWindow& window, uint64_t base);
  uint32_t ChooseSlot() const;
  Status WriteTlbRegister(uint32_t slot, const std::array<uint32_t, 3>& words);
  Status WriteTranslation(uint32_t region, bool enable);
  Status WriteBar2(uint64_t offset, uint32_t value);

  const std::unique_ptr<PciePort> port_;
  const uint32_t number_;  // PortTraits::number
  DeviceInfo info_;
  std::array<Slot, kSlots> slots_{};
  uint64_t uses_ = 0;
  uint64_t resets_ = 0;
  Status returned_;  // the result of the next Advance; OK: none
  std::array<PortHostMemory*, hw::kIatuRegions> regions_{};  // one allocation a region; null: free
};

}  // namespace ttfd
