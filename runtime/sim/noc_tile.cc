// Registers of a tile's NIUs.
#include "runtime/sim/noc_tile.h"

#include "runtime/hw/noc.h"
#include "runtime/sim/hart.h"
#include "runtime/sim/hart_access.h"
#include "runtime/sim/noc.h"
#include "runtime/sim/scheduler.h"

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

Refusal NocTile::WriteNiu(Accessor who, Hart* hart, uint32_t address, uint32_t value) {
  const uint32_t niu = (address - hw::kNiuAddress) / hw::kNiuStride;
  const uint32_t offset = (address - hw::kNiuAddress) % hw::kNiuStride;
  if (who.from_noc() && offset % hw::kNiuCommandBufferStride == hw::kNocCommand) {
    return {FaultKind::kUnsupportedRegister, nius_[niu].address(offset),
            "NoC commands are issued by the tile's own harts, and by the peer of an Ethernet tile"};
  }
  uint32_t issue = 0;
  Refusal refusal = nius_[niu].Write(offset, value, &issue);
  if (refusal) return refusal;
  if (issue < hw::kNiuCommandBuffers) return machine_->noc->Issue(*this, hart, niu, issue);
  RegisterChanged(nius_[niu].address(offset));
  if (offset == hw::kNocClearOutstanding) {
    for (uint32_t id = 0; id < 16; ++id) {
      RegisterChanged(nius_[niu].CounterAddress(hw::kNocRequestsOutstanding + id));
    }
  }
  return {};
}

void NocTile::Fail(Hart* hart, uint32_t pc, const Refusal& refusal) {
  Fault fault = {.kind = refusal.kind,
                 .translated = translated_,
                 .physical = physical_,
                 .hart = hart != nullptr ? hart->index : Fault::kNoHart,
                 .pc = pc,
                 .address = refusal.address,
                 .clock = machine_->scheduler->now(),
                 .reason = refusal.reason};
  if (hart != nullptr) return StopFaulted(*hart, std::move(fault));
  fault.reason = CommandOrigin() + fault.reason;
  if (!machine_->fault) machine_->fault = std::move(fault);
}

}  // namespace ttfd::sim
