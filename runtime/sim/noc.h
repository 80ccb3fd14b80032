// The network on chip: what a command buffer asks for, checked, and done.
//
// Issue() checks a command and makes a packet of it. Packets arrive at once: Complete() goes through the
// stages below without a pause. With the hazard "noc" on, NocTransit does, at clocks of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/sim/arc_tile.h"
#include "runtime/sim/dram.h"
#include "runtime/sim/ethernet_tile.h"
#include "runtime/sim/fault.h"
#include "runtime/sim/grid_map.h"
#include "runtime/sim/host_memory.h"
#include "runtime/sim/machine.h"
#include "runtime/sim/multicast_receivers.h"
#include "runtime/sim/noc_packet.h"
#include "runtime/sim/tensix_tile.h"

namespace ttfd::sim {

class NocTransit;

class Noc {
 public:
  // All outlive the Noc.
  Noc(const GridMap& grid, std::vector<TensixTile>& tiles, std::vector<EthernetTile>& ethernet,
      Dram& dram, ArcTile& arc, HostMemoryMap& host);
  ~Noc();

  // From now on packets take time. `machine` outlives the Noc.
  void TakeTime(Machine& machine);
  // Forgets what is on its way.
  void Reset();

  // Does what command buffer `buffer` of NIU `niu` says. A refusal is a fault of `hart`, which wrote CMD_CTRL; null:
  // the peer of the link did.
  Refusal Issue(NocTile& source, Hart* hart, uint32_t niu, uint32_t buffer);

  // The same for an inline write that adds to a stream, which every worker answers every launch with.
  // False, and not done: another command, or one that Issue() refuses.
  bool IssueStreamUpdate(TensixTile& source, uint32_t niu, uint32_t buffer);

  // Accesses through BAR windows: memory of any size and alignment, registers 4 aligned bytes.
  Refusal HostRead(hw::Coordinate tile, uint64_t address, MutableByteSpan to);
  Refusal HostWrite(hw::Coordinate tile, uint64_t address, ByteSpan from);
  Refusal HostMulticast(const Rectangle& rectangle, uint64_t address, ByteSpan from);

  // The stages of a packet: the only places where data and counters move. `offset` and `length` say which bytes.
  static void CountOutstanding(const NocPacket& packet, uint32_t by);  // requests without an answer
  static void CountOutgoing(const NocPacket& packet, uint32_t by);     // writes to be read from L1
  static void CountSent(const NocPacket& packet);                      // writes
  static void CountAnswers(const NocPacket& packet, uint32_t answers);
  Refusal Sample(const NocPacket& packet, uint32_t offset, uint32_t length, std::byte* to);
  Refusal Deliver(const NocPacket& packet, uint32_t offset, uint32_t length, const std::byte* from);
  static Refusal DeliverTo(NocTile& receiver, const NocPacket& packet, const std::byte* from);
  uint32_t Increment(const NocPacket& packet);  // the old value
  static void ReturnOld(const NocPacket& packet, uint32_t old);

  // Is there memory behind a far end that only the memory itself can tell?
  Refusal CheckReach(const NocPacket& packet);

 private:
  static constexpr uint32_t kTransactionShift = 10;
  static constexpr uint32_t kTransactionMask = 0xFu << kTransactionShift;

  // Does the tile take 4 aligned bytes there, and nothing else?
  static bool IsRegister(TileRef tile, uint64_t address);
  // Has the tile NIUs and L1?
  static bool IsNocTile(TileRef tile) {
    return tile.kind == TileKind::kTensix || tile.kind == TileKind::kEthernet;
  }
  NocTile& TileAt(TileRef tile) const {  // REQUIRES IsNocTile
    if (tile.kind == TileKind::kTensix) return tiles_[tile.index];
    return ethernet_[tile.index];
  }

  // The same while an inspector watches, or packets take time.
  Refusal IssueCarefully(const NocPacket& packet, const NocOrigin& origin);

  // Checks, in noc_check.cc.
  Refusal MakePacket(NocTile& source, uint32_t niu, const NocCommand& command, NocPacket* packet);
  // Does the command fit the transaction the NIU is in the middle of? Opens or ends one.
  static Refusal FollowLink(const NocPacket& packet, const NocCommand& command);
  Refusal CheckControl(const NocCommand& command) const;
  Refusal CheckLocalSide(const NocPacket& packet, uint64_t address, uint32_t coordinate) const;
  Refusal CheckTransfer(const NocPacket& packet) const;
  Refusal CheckMulticast(uint32_t niu, Rectangle rectangle, NocPacket* packet);
  Refusal CheckAtomic(const NocPacket& packet, uint32_t opcode) const;
  Refusal CheckMemory(TileRef tile, uint64_t address, uint64_t length) const;
  Refusal CheckHostAccess(TileRef tile, uint64_t address, uint64_t length) const;

  Refusal Complete(const NocPacket& packet);
  Refusal CompleteRead(const NocPacket& packet);
  Refusal CompleteMulticast(const NocPacket& packet);
  static void MulticastToL1(const NocPacket& packet, const std::byte* from);
  static void CountWrite(const NocPacket& packet);
  static void Count(NocTile& source, Niu& niu, uint32_t counter, uint32_t by);

  // One end of a transfer that is not the issuing tile's L1.
  Refusal ReadRemote(TileRef tile, uint64_t address, std::byte* to, uint32_t length);
  Refusal WriteRemote(TileRef tile, uint64_t address, const std::byte* from, uint32_t length);
  static Refusal WriteTile(NocTile& tile, uint64_t address, const std::byte* from, uint32_t length);
  // Finds the bytes of a tile that is memory: L1 or a DRAM bank.
  Refusal Memory(TileRef tile, uint64_t address, std::byte** memory);

  const GridMap& grid_;
  std::vector<TensixTile>& tiles_;
  std::vector<EthernetTile>& ethernet_;
  Dram& dram_;
  ArcTile& arc_;
  HostMemoryMap& host_;
  MulticastReceivers receivers_;
  std::unique_ptr<NocTransit> transit_;  // null: packets arrive at once
};

}  // namespace ttfd::sim
