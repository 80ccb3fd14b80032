// Host memory as the chip's PCIe tile reaches it: windows of the NoC address, the outbound iATU, and
// the memory that was mapped at bus addresses, or somebody who is asked for every packet.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "runtime/base/bytes.h"
#include "runtime/hw/pcie.h"
#include "runtime/sim/fault.h"

namespace ttfd::sim {

// Host memory behind functions. Called on the thread of the chip's caller, inside the call that moves
// the data, and must not call the chip.
class HostAccess {
 public:
  virtual ~HostAccess() = default;
  virtual Refusal Read(uint64_t bus_address, MutableByteSpan to) = 0;
  virtual Refusal Write(uint64_t bus_address, ByteSpan from) = 0;
};

class HostMemoryMap {
 public:
  // From now on `access`, which outlives the map, serves every packet and mapped memory none. Null:
  // mapped memory again.
  void SetAccess(HostAccess* access) { access_ = access; }

  // Lets the chip reach `memory`; an empty span forgets the mapping that starts at `bus_address`.
  Status Map(uint64_t bus_address, MutableByteSpan memory);

  // One 4-byte access to an outbound iATU register at BAR2 offset `offset`.
  Refusal ReadTranslation(uint64_t offset, uint32_t* value) const;
  Refusal WriteTranslation(uint64_t offset, uint32_t value);

  // One packet; `address` is a NoC address at the PCIe tile. Mapped bytes must lie in one mapping.
  Refusal Read(uint64_t address, std::byte* to, uint32_t length) const;
  Refusal Write(uint64_t address, const std::byte* from, uint32_t length) const;

  // Would a packet reach mapped memory now? Who serves packets by functions is not asked.
  Refusal Check(uint64_t address, uint32_t length) const;

  // Forgets the iATU regions; mapped memory stays.
  void Reset() { regions_ = {}; }

 private:
  struct Mapping {
    uint64_t bus_address;
    MutableByteSpan memory;
  };
  struct Region {
    uint32_t words[9];
    bool enabled() const { return (words[1] & hw::kIatuControl2Enable) != 0; }
    uint64_t base() const { return Pair(hw::kIatuBaseLow, hw::kIatuBaseHigh); }
    uint64_t limit() const { return Pair(hw::kIatuLimitLow, hw::kIatuLimitHigh); }
    uint64_t target() const { return Pair(hw::kIatuTargetLow, hw::kIatuTargetHigh); }

   private:
    uint64_t Pair(uint32_t low, uint32_t high) const {
      return words[low / 4] | uint64_t{words[high / 4]} << 32;
    }
  };

  Refusal CheckEnable(const Region& region, uint64_t offset) const;
  // Where a packet leads, and how many of its bytes. Requests on the bus do not cross 4 KiB, so a packet may continue
  // in another region where that begins on a multiple.
  Refusal ToBus(uint64_t address, uint32_t length, uint64_t* bus, uint32_t* part) const;
  // Is there a region that begins where another one ends?
  bool Continues(uint64_t end) const;
  // Calls `visit` for each part of a packet, with the offset in it.
  Refusal ForEachPart(
      uint64_t address, uint32_t length,
      absl::FunctionRef<Refusal(uint64_t bus, uint32_t offset, uint32_t part)> visit) const;
  Refusal Find(uint64_t address, uint64_t bus, uint32_t length, std::byte** memory) const;

  HostAccess* access_ = nullptr;
  std::vector<Mapping> mappings_;
  std::array<Region, hw::kIatuRegions> regions_{};
};

}  // namespace ttfd::sim
