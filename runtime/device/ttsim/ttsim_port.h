// The PCIe port of a chip of a simulator library.
//
// A reset of one chip starts the simulator again: the others are lost with it until they are reset, too.
#pragma once

#include <memory>
#include <vector>

#include "runtime/device/pcie_port.h"
#include "runtime/device/ttsim/simulator.h"

namespace ttfd {

class TtsimPort final : public PciePort {
 public:
  using Options = ttsim::Simulator::Options;

  // Starts a simulator; the ports of its chips, one at least. UNAVAILABLE: the simulator does not start, with what it
  // said.
  static StatusOr<std::vector<std::unique_ptr<TtsimPort>>> Start(const Options& options);

  StatusOr<uint32_t> ConfigRead(uint32_t offset) override;
  Status BarRead(int bar, uint64_t offset, MutableByteSpan to) override;
  Status BarWrite(int bar, uint64_t offset, ByteSpan from) override;
  Status MapHostMemory(uint64_t bus_address, const HostPages& pages) override;
  Status Reset() override;
  Status CheckPresence() override;
  StatusOr<AdvanceResult> Advance(uint64_t clocks) override;

  pid_t child() const { return simulator_->child(); }

 private:
  TtsimPort(std::shared_ptr<ttsim::Simulator> simulator, uint32_t number)
      : simulator_(std::move(simulator)), number_(number) {}
  // Begins to use the chip of the simulator's child.
  Status Begin();
  // Whether there is a child, and the chip is that of the one that this port began with.
  Status CheckChip();
  // Physical address of [offset, offset + size) of a BAR.
  StatusOr<uint64_t> Locate(int bar, uint64_t offset, uint64_t size) const;

  const std::shared_ptr<ttsim::Simulator> simulator_;
  const uint32_t number_;    // PCI device
  uint64_t generation_ = 0;  // of the child that has this chip
  bool used_ = false;        // since then
  uint64_t bars_[2] = {};    // physical addresses of BAR 0 and 2
};

}  // namespace ttfd
