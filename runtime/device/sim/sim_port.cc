// Passes the port's calls on to the chip.
#include "runtime/device/sim/sim_port.h"

#include "runtime/device/sim/sim_stack_sampler.h"
#include "runtime/sim/engine_wait.h"
#include "runtime/sim/tensix/disassemble.h"
#include "runtime/sim/tensix_tile.h"

namespace ttfd {
namespace {

std::shared_ptr<SimCluster> Alone(std::unique_ptr<sim::Chip> chip) {
  auto cluster = std::make_shared<SimCluster>();
  cluster->chips = std::make_unique<sim::Cluster>(std::move(chip));
  return cluster;
}

}  // namespace

SimPort::SimPort(std::shared_ptr<SimCluster> cluster, uint32_t index,
                 std::unique_ptr<debug::GdbServer> server, std::unique_ptr<TraceFile> trace)
    : trace_(std::move(trace)),
      cluster_(std::move(cluster)),
      index_(index),
      chip_(cluster_->chips->chip(index)),
      server_(std::move(server)) {}

SimPort::SimPort(std::unique_ptr<sim::Chip> chip) : SimPort(Alone(std::move(chip)), 0) {}

KernelBounds* SimPort::kernel_bounds() {
  return cluster_->bounds.empty() ? nullptr : cluster_->bounds[index_].get();
}

Status SimPort::BarRead(int bar, uint64_t offset, MutableByteSpan to) {
  return chip_.BarRead(bar, offset, to);
}

Status SimPort::BarWrite(int bar, uint64_t offset, ByteSpan from) {
  return chip_.BarWrite(bar, offset, from);
}

Status SimPort::MapHostMemory(uint64_t bus_address, const HostPages& pages) {
  return chip_.MapHostMemory(bus_address, pages.bytes);
}

Status SimPort::Reset() {
  if (trace_ != nullptr) trace_->BeforeReset();
  return cluster_->chips->Reset(index_);
}

StatusOr<AdvanceResult> SimPort::Advance(uint64_t clocks) {
  if (trace_ == nullptr) return AdvanceChip(clocks);
  trace_->BeforeAdvance(clocks);
  StatusOr<AdvanceResult> progress = AdvanceChip(clocks);
  trace_->AfterAdvance(progress.ok() && !progress->quiescent && !progress->halted);
  return progress;
}

StatusOr<AdvanceResult> SimPort::AdvanceChip(uint64_t clocks) {
  if (server_ != nullptr) return server_->Advance(clocks);
  ASSIGN_OR_RETURN(const sim::Chip::Progress progress, cluster_->chips->Advance(index_, clocks));
  return AdvanceResult{progress.clocks, progress.quiescent, progress.halted};
}

std::optional<DeviceFault> SimPort::fault() const {
  const std::optional<sim::Fault>& fault = chip_.fault();
  if (!fault.has_value()) return std::nullopt;
  return DeviceFault{fault->translated,
                     fault->hart,
                     fault->pc,
                     fault->return_address,
                     sim::BriefText(*fault),
                     std::string(StatusMessage(sim::ToStatus(*fault)))};
}

std::optional<EngineWait> SimPort::WaitOf(hw::Coordinate tile, uint32_t hart) const {
  const sim::Hart* const found = chip_.FindHart(tile, hart);
  if (found == nullptr) return std::nullopt;
  const sim::ComputeUnit::Wait& wait = found->tile->compute().WaitOf(hart);
  if (wait.events == 0) return std::nullopt;
  return EngineWait{sim::tensix::Disassemble(wait.instruction),
                    sim::DescribeEngineWait(wait.instruction, wait.events)};
}

StatusOr<std::unique_ptr<StackSampler>> SimPort::SampleStacks(const SampleOptions& options) {
  if (options.interval_clocks == 0) return InvalidArgument("samples every 0 clocks");
  return std::unique_ptr<StackSampler>(std::make_unique<SimStackSampler>(chip_, options));
}

}  // namespace ttfd
