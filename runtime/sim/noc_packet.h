// Packet that a NoC command requests, checked: the unit that travels.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/sim/grid_map.h"
#include "runtime/sim/niu.h"

namespace ttfd::sim {

class NocTile;
class TensixTile;
struct Hart;

enum class PacketKind : uint8_t { kRead, kWrite, kMulticast, kInline, kIncrement };

struct NocPacket {
  PacketKind kind = PacketKind::kRead;
  bool posted = false;
  bool include_source = false;
  uint32_t transaction = 0;
  NocTile* source = nullptr;
  Niu* niu = nullptr;
  uint32_t local = 0;  // address in the source's L1
  TileRef remote_tile;
  uint64_t remote = 0;                                  // address at the other end
  const std::vector<TensixTile*>* receivers = nullptr;  // of a multicast; good until the next one
  uint32_t acknowledgements = 1;
  uint32_t length = 0;
  uint32_t data = 0;

  // Do its bytes come from the source's L1?
  bool ReadsLocal() const { return kind == PacketKind::kWrite || kind == PacketKind::kMulticast; }
  // Does `tile` receive the packet of a multicast?
  bool Receives(const NocTile* tile) const { return include_source || tile != source; }
};

// Where a command came from and what routers see of it.
struct NocOrigin {
  Hart* hart = nullptr;  // none: the peer of an Ethernet link
  uint32_t niu = 0;
  uint32_t buffer = 0;
  uint32_t control = 0;
  uint32_t to = 0;  // coordinates of the far end: tile or rectangle
};

}  // namespace ttfd::sim
