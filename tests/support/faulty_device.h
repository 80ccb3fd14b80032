// A device with a fault at its seam, and a port with one at its own.
//
// Device: windows, host memory, reset, time: what runtime/ calls. Killed, every call says UNAVAILABLE.
// Port: bars, configuration space, mappings, reset, time: what the bus does. Killed, it is silent, as a card that fell
// off the bus: reads are all ones, writes go nowhere, time passes for nobody.
// Completion memory: what the card tells the host (RingFault). Every change of a completion pointer is an operation.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/device/pcie_port.h"
#include "tests/support/fault_point.h"

namespace ttfd {

// How late a delayed operation is, in clocks of the card.
inline constexpr uint64_t kFaultDelayClocks = 200'000;

class FaultyPort final : public PciePort {
 public:
  // `point` outlives the port.
  FaultyPort(std::unique_ptr<PciePort> port, FaultPoint* point)
      : port_(std::move(port)), point_(*point) {}

  StatusOr<uint32_t> ConfigRead(uint32_t offset) override;
  Status BarRead(int bar, uint64_t offset, MutableByteSpan to) override;
  Status BarWrite(int bar, uint64_t offset, ByteSpan from) override;
  Status MapHostMemory(uint64_t bus_address, const HostPages& pages) override;
  Status Reset() override;
  StatusOr<AdvanceResult> Advance(uint64_t clocks) override;
  std::optional<DeviceFault> fault() const override { return port_->fault(); }

 private:
  const std::unique_ptr<PciePort> port_;
  FaultPoint& point_;
};

// Where a hardware queue's completions lie in its host memory.
struct CompletionPlace {
  uint64_t pointer = 0;
  uint64_t ring = 0;
  uint32_t pages = 0;
  uint32_t page_bytes = 0;
};

// Fails, hides, corrupts or stops what the card published in one queue's host memory.
class RingFault {
 public:
  RingFault(MutableByteSpan memory, const CompletionPlace& place)
      : memory_(memory), place_(place) {}

  // After the card may have written.
  void Look(FaultPoint* point);
  bool hides() const { return hide_ > 0; }

 private:
  uint32_t Pointer() const;
  void SetPointer(uint32_t pages);
  void Spoil(uint64_t nth, uint32_t first_page);

  const MutableByteSpan memory_;
  const CompletionPlace place_;
  uint32_t told_ = 0;    // the pointer that the host sees
  uint32_t hidden_ = 0;  // what the card published meanwhile
  int hide_ = 0;         // so many more looks
};

class FaultyDevice final : public Device {
 public:
  // `device_point` and `ring_point` (each may be null) outlive the device.
  FaultyDevice(std::unique_ptr<Device> device, FaultPoint* device_point, FaultPoint* ring_point,
               const CompletionPlace& completions = {})
      : device_(std::move(device)),
        point_(device_point),
        ring_point_(ring_point),
        completions_(completions) {}

  const DeviceInfo& info() const override { return device_->info(); }
  bool reaches_host_memory() const override { return device_->reaches_host_memory(); }
  uint64_t resets() const override { return device_->resets(); }
  StatusOr<std::unique_ptr<Window>> OpenWindow(const WindowTarget& target) override;
  StatusOr<std::unique_ptr<HostMemory>> AllocateHostMemory(uint64_t size_bytes) override;
  Status Reset() override;
  StatusOr<AdvanceResult> Advance(uint64_t clocks) override;
  std::optional<DeviceFault> fault() const override { return device_->fault(); }

  // All host memory that was ever asked for.
  const std::vector<MutableByteSpan>& host_memory() const { return host_memory_; }

 private:
  class FaultyWindow;
  FaultAction Next() { return point_ == nullptr ? FaultAction::kNone : point_->Next(); }
  // Lets time pass before a delayed operation.
  Status Late();

  const std::unique_ptr<Device> device_;
  FaultPoint* const point_;
  FaultPoint* const ring_point_;
  const CompletionPlace completions_;
  std::vector<MutableByteSpan> host_memory_;
  std::vector<RingFault> rings_;
};

}  // namespace ttfd
