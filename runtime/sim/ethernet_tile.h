// An Ethernet tile: 512 KiB of memory, two NIUs, and the words that its link firmware publishes.
//
// Its harts do not run here. E0 is the link firmware's, of which the model has only the published words; E1 stays in
// reset, and releasing it is refused. Multicasts never reach the tile.
#pragma once

#include <cstdint>

#include "runtime/sim/noc_tile.h"
#include "runtime/sim/options.h"

namespace ttfd::sim {

class EthernetTile final : public NocTile {
 public:
  struct Place {
    uint32_t channel;
    uint32_t logical_channel;  // rank among the enabled ones
  };
  void Init(Machine& machine, TileMemory memory, const Place& place, const ChipIdentity& chip);

  Refusal ReadRegister(Accessor who, uint32_t address, uint32_t* value) override;
  Refusal WriteRegister(Accessor who, uint32_t address, uint32_t value) override;
  // The fundamental reset; memory keeps its contents.
  void Reset() { ResetNius(); }

 private:
  void OnWatchedWrite(uint32_t /*address*/, uint32_t /*length*/) override {}
  void WakeRegisterReaders(uint32_t /*address*/) override {}
  // A word of the link firmware. False: it publishes none there.
  bool Published(uint32_t address, uint32_t* value) const;

  Place place_{};
  ChipIdentity chip_;
};

}  // namespace ttfd::sim
