// The embedded device model as a PciePort.
#pragma once

#include <memory>

#include "runtime/debug/gdb_server.h"
#include "runtime/device/pcie_port.h"
#include "runtime/device/sim/sim_bounds.h"
#include "runtime/device/sim/trace_file.h"
#include "runtime/sim/chip.h"

namespace ttfd {

class SimPort final : public PciePort {
 public:
  // `server`, `trace` and `bounds`, which may be null, are of the chip.
  explicit SimPort(std::unique_ptr<sim::Chip> chip,
                   std::unique_ptr<debug::GdbServer> server = nullptr,
                   std::unique_ptr<TraceFile> trace = nullptr,
                   std::unique_ptr<SimBounds> bounds = nullptr)
      : trace_(std::move(trace)),
        bounds_(std::move(bounds)),
        chip_(std::move(chip)),
        server_(std::move(server)) {}

  StatusOr<uint32_t> ConfigRead(uint32_t offset) override { return chip_->ConfigRead(offset); }
  Status BarRead(int bar, uint64_t offset, MutableByteSpan to) override;
  Status BarWrite(int bar, uint64_t offset, ByteSpan from) override;
  Status MapHostMemory(uint64_t bus_address, const HostPages& pages) override;
  Status Reset() override;
  StatusOr<AdvanceResult> Advance(uint64_t clocks) override;
  std::optional<DeviceFault> fault() const override;
  std::optional<EngineWait> WaitOf(hw::Coordinate tile, uint32_t hart) const override;
  KernelBounds* kernel_bounds() override { return bounds_.get(); }
  StatusOr<std::unique_ptr<StackSampler>> SampleStacks(const SampleOptions& options) override;

  const sim::Chip& chip() const { return *chip_; }

 private:
  StatusOr<AdvanceResult> AdvanceChip(uint64_t clocks);

  const std::unique_ptr<TraceFile> trace_;
  const std::unique_ptr<SimBounds> bounds_;
  const std::unique_ptr<sim::Chip> chip_;
  const std::unique_ptr<debug::GdbServer> server_;
};

}  // namespace ttfd
