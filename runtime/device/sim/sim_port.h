// The embedded device model as a PciePort.
#pragma once

#include <memory>

#include "runtime/debug/gdb_server.h"
#include "runtime/device/pcie_port.h"
#include "runtime/device/sim/sim_cluster.h"
#include "runtime/device/sim/trace_file.h"
#include "runtime/sim/chip.h"

namespace ttfd {

class SimPort final : public PciePort {
 public:
  // The port of chip `index`. `server` and `trace`, which may be null, are of that chip, which then has no neighbours.
  SimPort(std::shared_ptr<SimCluster> cluster, uint32_t index,
          std::unique_ptr<debug::GdbServer> server = nullptr,
          std::unique_ptr<TraceFile> trace = nullptr);
  explicit SimPort(std::unique_ptr<sim::Chip> chip);

  StatusOr<uint32_t> ConfigRead(uint32_t offset) override { return chip_.ConfigRead(offset); }
  Status BarRead(int bar, uint64_t offset, MutableByteSpan to) override;
  Status BarWrite(int bar, uint64_t offset, ByteSpan from) override;
  Status MapHostMemory(uint64_t bus_address, const HostPages& pages) override;
  Status Reset() override;
  StatusOr<AdvanceResult> Advance(uint64_t clocks) override;
  std::optional<DeviceFault> fault() const override;
  std::optional<EngineWait> WaitOf(hw::Coordinate tile, uint32_t hart) const override;
  KernelBounds* kernel_bounds() override;
  StatusOr<std::unique_ptr<StackSampler>> SampleStacks(const SampleOptions& options) override;

  const sim::Chip& chip() const { return chip_; }

 private:
  StatusOr<AdvanceResult> AdvanceChip(uint64_t clocks);

  const std::unique_ptr<TraceFile> trace_;
  const std::shared_ptr<SimCluster> cluster_;
  const uint32_t index_;
  sim::Chip& chip_;
  const std::unique_ptr<debug::GdbServer> server_;
};

}  // namespace ttfd
