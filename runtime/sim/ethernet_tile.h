// An Ethernet tile: 512 KiB of memory, two NIUs, transmit queues, one end of a link, and the words that its link
// firmware publishes.
//
// Its harts do not run here. E0 is the link firmware's, of which the model has only the published words; E1 stays in
// reset, and releasing it is refused. Multicasts never reach the tile.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "runtime/sim/noc_tile.h"
#include "runtime/sim/options.h"
#include "runtime/sim/transmit_queues.h"

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
  // The fundamental reset; memory keeps its contents, the link is up as before. What was under way to the tile is lost.
  void Reset();

  // The link is up from now on. `peer`, whose name faults have ("1.9": channel 9 of chip 1), outlives this tile's use.
  void Connect(EthernetTile& peer, std::string name, uint32_t latency);
  uint32_t channel() const { return place_.channel; }
  bool has_sent() const { return queues_.has_sent(); }
  // Hands what was sent to the peer, whose clock is not beyond the arrival of any of it. While neither chip runs.
  void HandOver();

 private:
  void OnWatchedWrite(uint32_t /*address*/, uint32_t /*length*/) override {}
  void WakeRegisterReaders(uint32_t /*address*/) override {}
  // A word of the link firmware. False: it publishes none there.
  bool Published(uint32_t address, uint32_t* value) const;

  std::string CommandOrigin() const override;
  void Deliver();
  Refusal Take(const LinkPacket& packet);
  // A word of the description of the peer. False: it has none there.
  static bool Describe(const Place& place, const ChipIdentity& chip, uint32_t offset,
                       uint32_t* value);

  Place place_{};
  ChipIdentity chip_;
  TransmitQueues queues_;
  EthernetTile* peer_ = nullptr;  // null: the channel is connected to nothing
  std::string peer_name_;
  std::deque<LinkPacket> arriving_;
};

}  // namespace ttfd::sim
