// Address translation on the way from the chip to the host.
//
// Sources: tt-kmd blackhole.c (iATU register order, 16 regions, 1 TiB), enumerate.c (58-bit windows).
#include "runtime/sim/host_memory.h"

#include <algorithm>
#include <cstring>

namespace ttfd::sim {
namespace {

constexpr uint32_t kWindowShift = 58;
constexpr uint64_t kWindowMask = (uint64_t{1} << kWindowShift) - 1;
constexpr uint64_t kFirstTranslatedWindow = 4;
constexpr uint64_t kWindowsToHost = 8;
constexpr uint64_t kMaxRequestBytes = 4096;
constexpr uint64_t kMaxRegionBytes = uint64_t{1} << 40;
constexpr uint32_t kRegionRegisters = 9 * 4;

}  // namespace

Status HostMemoryMap::Map(uint64_t bus_address, MutableByteSpan memory) {
  if (memory.empty()) {
    const auto found = std::find_if(mappings_.begin(), mappings_.end(),
                                    [&](const Mapping& m) { return m.bus_address == bus_address; });
    if (found == mappings_.end()) {
      return InvalidArgument("no host memory is mapped at bus address {:#x}", bus_address);
    }
    mappings_.erase(found);
    return OkStatus();
  }
  if (bus_address + memory.size() - 1 > kWindowMask || bus_address + memory.size() < bus_address) {
    return InvalidArgument("bus addresses have 58 bits: {:#x} + {:#x}", bus_address, memory.size());
  }
  for (const Mapping& m : mappings_) {
    if (bus_address < m.bus_address + m.memory.size() &&
        m.bus_address < bus_address + memory.size()) {
      return InvalidArgument("host memory at bus address {:#x} overlaps what is mapped at {:#x}",
                             bus_address, m.bus_address);
    }
  }
  mappings_.push_back({bus_address, memory});
  return OkStatus();
}

Refusal HostMemoryMap::ReadTranslation(uint64_t offset, uint32_t* value) const {
  const uint64_t in_table = offset - hw::kIatuOutbound;
  if (offset < hw::kIatuOutbound || in_table / hw::kIatuStride >= hw::kIatuRegions ||
      in_table % hw::kIatuStride >= kRegionRegisters) {
    return {FaultKind::kUnsupportedRegister, offset, "of BAR2 the outbound iATU is modelled"};
  }
  *value = regions_[in_table / hw::kIatuStride].words[in_table % hw::kIatuStride / 4];
  return {};
}

Refusal HostMemoryMap::WriteTranslation(uint64_t offset, uint32_t value) {
  uint32_t old = 0;
  if (const Refusal refusal = ReadTranslation(offset, &old)) return refusal;
  Region& region = regions_[(offset - hw::kIatuOutbound) / hw::kIatuStride];
  const uint32_t reg = static_cast<uint32_t>((offset - hw::kIatuOutbound) % hw::kIatuStride);
  const uint32_t allowed = reg == hw::kIatuControl1   ? hw::kIatuControl1IncreaseSize
                           : reg == hw::kIatuControl2 ? hw::kIatuControl2Enable
                           : reg == hw::kIatuControl3 ? 0
                                                      : ~0u;
  if ((value & ~allowed) != 0) {
    return {FaultKind::kUnsupportedValue, offset,
            "iATU control: bit 13 of ctrl1, bit 31 of ctrl2, nothing of ctrl3"};
  }
  Region changed = region;
  changed.words[reg / 4] = value;
  if (changed.enabled()) {
    if (const Refusal refusal = CheckEnable(changed, offset)) return refusal;
  }
  region = changed;
  return {};
}

Refusal HostMemoryMap::CheckEnable(const Region& region, uint64_t offset) const {
  if (region.base() > region.limit()) {
    return {FaultKind::kAddressTranslation, offset,
            "an enabled region with its base above its limit"};
  }
  if (region.limit() > kWindowMask) {
    return {FaultKind::kAddressTranslation, offset,
            "regions lie inside the 2^58 bytes of a window"};
  }
  const uint64_t size_less_1 = region.limit() - region.base();
  const bool large = (region.words[0] & hw::kIatuControl1IncreaseSize) != 0;
  if (size_less_1 >= kMaxRegionBytes || (!large && size_less_1 >> 32 != 0)) {
    return {FaultKind::kAddressTranslation, offset,
            "a region has at most 1 TiB, and at most 4 GiB without bit 13 of ctrl1"};
  }
  const size_t own = (offset - hw::kIatuOutbound) / hw::kIatuStride;
  for (size_t i = 0; i < regions_.size(); ++i) {
    const Region& other = regions_[i];
    if (i != own && other.enabled() && region.base() <= other.limit() &&
        other.base() <= region.limit()) {
      return {FaultKind::kAddressTranslation, offset, "two enabled regions overlap"};
    }
  }
  return {};
}

Refusal HostMemoryMap::ToBus(uint64_t address, uint32_t length, uint64_t* bus,
                             uint32_t* part) const {
  const uint64_t window = address >> kWindowShift;
  const uint64_t first = address & kWindowMask;
  const uint64_t last = first + length - 1;
  if (window >= kWindowsToHost || last > kWindowMask) {
    return {FaultKind::kHostMemory, address,
            "only windows 0 to 7 of the PCIe tile lead to the host"};
  }
  *bus = first;
  *part = length;
  if (window < kFirstTranslatedWindow) return {};
  bool crosses = false;
  for (const Region& region : regions_) {
    if (!region.enabled() || last < region.base() || first > region.limit()) continue;
    crosses = first < region.base() || (last > region.limit() && !Continues(region.limit() + 1));
    if (first < region.base()) continue;
    *bus = first - region.base() + region.target();
    *part = static_cast<uint32_t>(std::min<uint64_t>(length, region.limit() + 1 - first));
    break;
  }
  if (!crosses) return {};  // without a region: the address itself
  return {FaultKind::kAddressTranslation, address, "a packet crosses the end of an iATU region"};
}

bool HostMemoryMap::Continues(uint64_t end) const {
  return end % kMaxRequestBytes == 0 &&
         std::any_of(regions_.begin(), regions_.end(), [end](const Region& region) {
           return region.enabled() && region.base() == end;
         });
}

Refusal HostMemoryMap::ForEachPart(
    uint64_t address, uint32_t length,
    absl::FunctionRef<Refusal(uint64_t bus, uint32_t offset, uint32_t part)> visit) const {
  for (uint32_t offset = 0, part = 0; offset < length; offset += part) {
    uint64_t bus = 0;
    if (const Refusal refusal = ToBus(address + offset, length - offset, &bus, &part)) {
      return refusal;
    }
    if (const Refusal refusal = visit(bus, offset, part)) return refusal;
  }
  return {};
}

Refusal HostMemoryMap::Read(uint64_t address, std::byte* to, uint32_t length) const {
  return ForEachPart(address, length, [&](uint64_t bus, uint32_t offset, uint32_t part) -> Refusal {
    if (access_ != nullptr) return access_->Read(bus, {to + offset, part});
    std::byte* memory = nullptr;
    const Refusal refusal = Find(address + offset, bus, part, &memory);
    if (!refusal) std::memmove(to + offset, memory, part);
    return refusal;
  });
}

Refusal HostMemoryMap::Check(uint64_t address, uint32_t length) const {
  return ForEachPart(address, length, [&](uint64_t bus, uint32_t offset, uint32_t part) -> Refusal {
    std::byte* memory = nullptr;
    return access_ != nullptr ? Refusal() : Find(address + offset, bus, part, &memory);
  });
}

Refusal HostMemoryMap::Write(uint64_t address, const std::byte* from, uint32_t length) const {
  return ForEachPart(address, length, [&](uint64_t bus, uint32_t offset, uint32_t part) -> Refusal {
    if (access_ != nullptr) return access_->Write(bus, {from + offset, part});
    std::byte* memory = nullptr;
    const Refusal refusal = Find(address + offset, bus, part, &memory);
    if (!refusal) std::memmove(memory, from + offset, part);
    return refusal;
  });
}

Refusal HostMemoryMap::Find(uint64_t address, uint64_t bus, uint32_t length,
                            std::byte** memory) const {
  for (const Mapping& m : mappings_) {
    if (bus >= m.bus_address && bus - m.bus_address < m.memory.size() &&
        m.memory.size() - (bus - m.bus_address) >= length) {
      *memory = m.memory.data() + (bus - m.bus_address);
      return {};
    }
  }
  return {FaultKind::kHostMemory, address,
          "the host has mapped no memory there, or the access leaves what it has mapped"};
}

}  // namespace ttfd::sim
