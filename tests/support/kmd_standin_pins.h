// The stand-in's pinned pages: bus addresses behind an IOMMU, and NoC addresses through the outbound iATU.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/device/kmd/abi.h"
#include "runtime/device/pcie_port.h"

namespace ttfd {

// Owners are descriptors. Results are errnos, 0: done.
class StandinPins {
 public:
  StandinPins(PciePort& port, bool iommu) : port_(port), iommu_(iommu) {}

  int Pin(int owner, kmd::PinPagesCall* call);
  int Unpin(int owner, const kmd::UnpinPagesCall& call);
  void ReleaseAllOf(int owner);
  // The card after a reset: no region leads anywhere. The pages stay pinned until their owner closes.
  void DiscardRegions();
  // NoC addresses below this offset belong to another process from now on.
  void TakeBelow(uint64_t offset) { taken_below_ = offset; }
  // Bus addresses start here, in place of a value of the stand-in's own.
  void StartBusAddressesAt(uint64_t address) { next_bus_address_ = address; }

  size_t count() const { return pins_.size(); }

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
  const bool iommu_;
  std::vector<PinnedPages> pins_;
  uint64_t next_bus_address_ = uint64_t{1} << 40;
  uint64_t taken_below_ = 0;
};

}  // namespace ttfd
