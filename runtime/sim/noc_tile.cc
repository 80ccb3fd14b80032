// Registers of a tile's NIUs.
#include "runtime/sim/noc_tile.h"

#include "runtime/hw/noc.h"
#include "runtime/sim/noc.h"

namespace ttfd::sim {

void NocTile::InitTile(Machine& machine, TileMemory memory, uint32_t l1_bytes,
                       hw::Coordinate translated, hw::Coordinate physical) {
  machine_ = &machine;
  memory_ = memory;
  l1_bytes_ = l1_bytes;
  translated_ = translated;
  physical_ = physical;
  for (uint32_t i = 0; i < kNius; ++i) nius_[i].Init(i, physical, translated);
}

void NocTile::ResetNius() {
  for (Niu& niu : nius_) niu.Reset();
}

Refusal NocTile::ReadNiu(uint32_t address, uint32_t* value) const {
  const uint32_t offset = address - hw::kNiuAddress;
  return nius_[offset / hw::kNiuStride].Read(offset % hw::kNiuStride, value);
}

Refusal NocTile::WriteNiu(Hart* hart, uint32_t address, uint32_t value) {
  const uint32_t niu = (address - hw::kNiuAddress) / hw::kNiuStride;
  const uint32_t offset = (address - hw::kNiuAddress) % hw::kNiuStride;
  if (hart == nullptr && offset % hw::kNiuCommandBufferStride == hw::kNocCommand) {
    return {FaultKind::kUnsupportedRegister, nius_[niu].address(offset),
            "NoC commands are issued by the tile's own harts"};
  }
  uint32_t issue = 0;
  Refusal refusal = nius_[niu].Write(offset, value, &issue);
  if (refusal) return refusal;
  if (issue < hw::kNiuCommandBuffers) return machine_->noc->Issue(*this, *hart, niu, issue);
  RegisterChanged(nius_[niu].address(offset));
  if (offset == hw::kNocClearOutstanding) {
    for (uint32_t id = 0; id < 16; ++id) {
      RegisterChanged(nius_[niu].CounterAddress(hw::kNocRequestsOutstanding + id));
    }
  }
  return {};
}

}  // namespace ttfd::sim
