// The stand-in's pinned pages: bus addresses behind an IOMMU, and NoC addresses through the outbound iATU.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/device/kmd/abi.h"
#include "runtime/device/kmd/driver_version.h"
#include "runtime/device/pcie_port.h"
#include "tests/support/kmd_standin_memory.h"

namespace ttfd {

// Owners are descriptors. Results are errnos, 0: done.
class StandinPins {
 public:
  StandinPins(PciePort& port, const StandinMemory& memory, bool iommu,
              const kmd::DriverVersion& version)
      : port_(port), memory_(memory), iommu_(iommu), version_(version) {}

  int Pin(int owner, kmd::PinPagesCall* call);
  int Unpin(int owner, const kmd::UnpinPagesCall& call);
  void ReleaseAllOf(int owner);
  // The card after a reset: no region leads anywhere. The pages stay pinned until their owner closes.
  void DiscardRegions();
  // NoC addresses from offset `begin` to `end` belong to another process from now on.
  void Take(uint64_t begin, uint64_t end) { taken_.push_back({begin, end}); }
  // Bus addresses start here, in place of a value of the stand-in's own.
  void StartBusAddressesAt(uint64_t address) { next_bus_address_ = address; }

  size_t count() const { return pins_.size(); }
  // The byte of this process that a NoC address leads to, null if none.
  std::byte* Translate(uint64_t noc_address) const;

 private:
  struct PinnedPages {
    int owner;
    uint64_t address;
    uint64_t bytes;
    uint64_t bus_address;
    int region;  // of the iATU, -1: none
    uint64_t offset;
  };

  int PlaceRegion(PinnedPages* pin, bool top_down) const;
  void WriteRegion(const PinnedPages& pin, bool enable);
  void Release(const PinnedPages& pin);

  PciePort& port_;
  const StandinMemory& memory_;
  const bool iommu_;
  const kmd::DriverVersion version_;
  std::vector<PinnedPages> pins_;
  uint64_t next_bus_address_ = uint64_t{1} << 40;
  std::vector<std::pair<uint64_t, uint64_t>> taken_;  // begin, end
};

}  // namespace ttfd
