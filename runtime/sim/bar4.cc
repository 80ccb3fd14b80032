// Source of the register layout: tt-kmd struct TLB_4G_REG. Multicast, the other NoC, linking and static
// VCs are refused, as the official simulator refuses them.
#include "runtime/sim/bar4.h"

#include "runtime/hw/noc.h"

namespace ttfd::sim {
namespace {

constexpr uint32_t kSupportedWord1 = 0xFFF | 3u << hw::kTlb4GOrderingShift;

}  // namespace

Refusal Bar4::Translate(uint64_t offset, uint64_t length, HostWay* way, uint64_t* address) const {
  if (length == 0) return {FaultKind::kTlbWindow, offset, "an access of no bytes"};
  const uint64_t index = offset / hw::kTlbWindow4GBytes;
  if (index >= windows_.size()) return {FaultKind::kTlbWindow, offset, "BAR4 has eight windows"};
  const auto& [high, word1, word2] = windows_[index];
  if ((word1 & ~kSupportedWord1) != 0 || word2 != 0) {
    return {FaultKind::kTlbWindow, offset,
            "of a 4 GiB window only address, coordinate and ordering are modelled"};
  }
  if (word1 >> hw::kTlb4GOrderingShift == hw::kTlbReservedOrdering) {
    return {FaultKind::kTlbWindow, offset, "ordering 3 is not supported"};
  }
  const uint64_t in_window = offset % hw::kTlbWindow4GBytes;
  if (in_window + length > hw::kTlbWindow4GBytes) {
    return {FaultKind::kTlbWindow, offset, "the access crosses the end of its window"};
  }
  way->window = hw::kTlbWindows2M + static_cast<uint32_t>(index);
  way->ordering = word1 >> hw::kTlb4GOrderingShift;
  way->rectangle.end = {hw::NocX(word1), hw::NocY(word1)};
  *address = uint64_t{high} << 32 | in_window;
  return {};
}

Refusal Bar4::Read(uint64_t offset, MutableByteSpan to) {
  HostWay way;
  uint64_t address = 0;
  if (Refusal refusal = Translate(offset, to.size(), &way, &address)) return refusal;
  return host_.Read(way, address, to);
}

Refusal Bar4::Write(uint64_t offset, ByteSpan from) {
  HostWay way;
  uint64_t address = 0;
  if (Refusal refusal = Translate(offset, from.size(), &way, &address)) return refusal;
  return host_.Write(way, address, from);
}

}  // namespace ttfd::sim
