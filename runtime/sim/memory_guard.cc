// Packets as accesses.
#include "runtime/sim/memory_guard.h"

#include "runtime/hw/tensix.h"
#include "runtime/sim/noc_packet.h"

namespace ttfd::sim {

Refusal CheckPacket(MemoryGuard& guard, const TensixTile& source, const NocPacket& packet) {
  const uint64_t length = packet.kind == PacketKind::kIncrement ? 4 : packet.length;
  if (packet.kind != PacketKind::kInline && packet.local + length > guard.l1_begin()) {
    const GuardedAccess local = {GuardedMemory::kL1, !packet.ReadsLocal(), packet.local, length};
    if (Refusal refusal = guard.Check(source, local)) return refusal;
  }
  const bool writes = packet.kind != PacketKind::kRead;
  const uint64_t end = packet.remote + length;
  if (packet.remote_tile.kind == TileKind::kDram) {
    if (end <= guard.dram_begin()) return {};
    return guard.Check(source, {GuardedMemory::kDram, writes, packet.remote, length});
  }
  const bool l1 = packet.remote_tile.kind == TileKind::kTensix && packet.remote < hw::kL1Bytes;
  if (!l1 || end <= guard.l1_begin()) return {};
  return guard.Check(source, {GuardedMemory::kL1, writes, packet.remote, length});
}

}  // namespace ttfd::sim
