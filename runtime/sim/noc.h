// The network on chip: what a command buffer asks for, checked, and done.
//
// Packets arrive at once. Issue() checks a command and makes a Packet of it; Complete() is the one
// place where a packet moves data and counters, so a model with delays would keep packets between
// the two.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/sim/arc_tile.h"
#include "runtime/sim/dram.h"
#include "runtime/sim/fault.h"
#include "runtime/sim/grid_map.h"
#include "runtime/sim/host_memory.h"
#include "runtime/sim/tensix_tile.h"

namespace ttfd::sim {

// Tensix tiles from `start` to `end`, both included, without the columns and rows that routers keep
// out of multicasts.
struct Rectangle {
  hw::Coordinate start;
  hw::Coordinate end;

  bool operator==(const Rectangle&) const = default;
};

class Noc {
 public:
  // All outlive the Noc.
  Noc(const GridMap& grid, std::vector<TensixTile>& tiles, Dram& dram, ArcTile& arc,
      HostMemoryMap& host)
      : grid_(grid), tiles_(tiles), dram_(dram), arc_(arc), host_(host) {}

  // Does what command buffer `buffer` of NIU `niu` says. A refusal is a fault of the hart that
  // wrote CMD_CTRL.
  Refusal Issue(TensixTile& source, uint32_t niu, uint32_t buffer);

  // The same for an inline write that adds to a stream, which every worker answers every launch with.
  // False, and not done: another command, or one that Issue() refuses.
  bool IssueStreamUpdate(TensixTile& source, uint32_t niu, uint32_t buffer);

  // Accesses through BAR windows: memory of any size and alignment, registers 4 aligned bytes.
  Refusal HostRead(hw::Coordinate tile, uint64_t address, MutableByteSpan to);
  Refusal HostWrite(hw::Coordinate tile, uint64_t address, ByteSpan from);
  Refusal HostMulticast(const Rectangle& rectangle, uint64_t address, ByteSpan from);

 private:
  static constexpr uint32_t kTransactionShift = 10;
  static constexpr uint32_t kTransactionMask = 0xFu << kTransactionShift;

  enum class PacketKind : uint8_t { kRead, kWrite, kMulticast, kInline, kIncrement };

  struct Packet {
    PacketKind kind = PacketKind::kRead;
    bool posted = false;
    bool include_source = false;
    uint32_t transaction = 0;
    TensixTile* source = nullptr;
    Niu* niu = nullptr;
    uint32_t local = 0;  // address in the source's L1
    TileRef remote_tile;
    uint64_t remote = 0;                                  // address at the other end
    const std::vector<TensixTile*>* receivers = nullptr;  // of a multicast
    uint32_t acknowledgements = 1;
    uint32_t length = 0;
    uint32_t data = 0;
  };

  // Checks, in noc_check.cc.
  Refusal MakePacket(TensixTile& source, uint32_t niu, const NocCommand& command, Packet* packet);
  // Does the command fit the transaction the NIU is in the middle of? Opens or ends one.
  static Refusal FollowLink(const Packet& packet, const NocCommand& command);
  Refusal CheckControl(const NocCommand& command) const;
  Refusal CheckLocalSide(const Packet& packet, uint64_t address, uint32_t coordinate) const;
  Refusal CheckTransfer(const Packet& packet) const;
  Refusal CheckMulticast(uint32_t niu, Rectangle rectangle, Packet* packet);
  Refusal CheckAtomic(const Packet& packet, uint32_t opcode) const;
  Refusal CheckMemory(TileRef tile, uint64_t address, uint64_t length) const;

  Refusal Complete(const Packet& packet);
  Refusal CompleteRead(const Packet& packet);
  Refusal CompleteMulticast(const Packet& packet);
  static void MulticastToL1(const Packet& packet, const std::byte* from,
                            const TensixTile* left_out);
  void CompleteIncrement(const Packet& packet);
  static void CountWrite(const Packet& packet);
  static void Count(TensixTile& source, Niu& niu, uint32_t counter, uint32_t by);

  // One end of a transfer that is not the issuing tile's L1.
  Refusal ReadRemote(TileRef tile, uint64_t address, std::byte* to, uint32_t length);
  Refusal WriteRemote(TileRef tile, uint64_t address, const std::byte* from, uint32_t length);
  static Refusal WriteTensix(TensixTile& tile, uint64_t address, const std::byte* from,
                             uint32_t length);
  // Of a tile that is memory: L1 or a DRAM bank.
  Refusal Memory(TileRef tile, uint64_t address, std::byte** memory);

  // The tiles of a rectangle that receive; good until the next call.
  Refusal FindReceivers(const Rectangle& rectangle, const std::vector<TensixTile*>** tiles);
  Refusal ListReceivers(const Rectangle& rectangle, std::vector<TensixTile*>* tiles) const;

  // Multicasts go to few rectangles, often.
  struct Receivers {
    Rectangle rectangle = {};
    std::vector<TensixTile*> tiles;  // none: not in use
  };
  static constexpr size_t kRememberedRectangles = 8;

  const GridMap& grid_;
  std::vector<TensixTile>& tiles_;
  Dram& dram_;
  ArcTile& arc_;
  HostMemoryMap& host_;
  std::array<Receivers, kRememberedRectangles> receivers_;
  size_t next_receivers_ = 0;  // the next to be replaced
};

}  // namespace ttfd::sim
