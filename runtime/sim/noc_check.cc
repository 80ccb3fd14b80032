// Refusals of the NoC, before anything of a command is done.
//
// Sources: tt-metal noc_parameters.h and noc_nonblocking_api.h (alignment, safe uses), ttsim
// src/tile.cpp (what the official simulator accepts), tt-isa-documentation BlackholeA0/NoC.
#include <limits>

#include "runtime/hw/ethernet.h"
#include "runtime/hw/pcie.h"
#include "runtime/hw/tensix.h"
#include "runtime/sim/noc.h"
#include "runtime/sim/noc_command.h"

namespace ttfd::sim {
namespace {

constexpr uint32_t kSupportedControl = hw::kNocAtomic | hw::kNocWrite | hw::kNocInline |
                                       hw::kNocResponse | hw::kNocMulticast | hw::kNocLinked |
                                       hw::kNocStaticVc | hw::kNocPathReserve |
                                       7u << hw::kNocVcShift | hw::kNocIncludeSource;
constexpr uint32_t kWriteAlignment = 16;

hw::Coordinate CoordinateOf(uint32_t xy) { return {hw::NocX(xy), hw::NocY(xy)}; }

}  // namespace

bool Noc::IsRegister(TileRef tile, uint64_t address) {
  if (tile.kind == TileKind::kArc) return true;
  // The words of the link firmware change by themselves.
  if (tile.kind == TileKind::kEthernet && address >= hw::kEthLinkFirmware &&
      address < hw::kEthL1Bytes) {
    return true;
  }
  return IsNocTile(tile) && address >= hw::kFirstRegisterAddress &&
         address <= std::numeric_limits<uint32_t>::max();
}

Refusal Noc::CheckControl(const NocCommand& command) const {
  const uint32_t control = command.control();
  const uint64_t shown = control;
  if ((control & ~kSupportedControl) != 0) {
    return {FaultKind::kNocControl, shown,
            "byte enables, dropped acks, axis, priority and accumulate are not supported"};
  }
  const bool multicast = (control & hw::kNocMulticast) != 0;
  const bool write = (control & hw::kNocWrite) != 0;
  if ((control & hw::kNocAtomic) != 0) {
    if ((control & (hw::kNocWrite | hw::kNocInline)) != 0) {
      return {FaultKind::kNocControl, shown, "an atomic is neither a write nor inline"};
    }
    if (multicast) return {FaultKind::kNocMulticast, shown, "only writes can be multicast"};
    if ((control & hw::kNocResponse) == 0) {
      return {FaultKind::kNocAtomic, shown, "posted atomics are unsafe on Blackhole"};
    }
  } else if (!write) {
    if ((control & hw::kNocInline) != 0) {
      return {FaultKind::kNocControl, shown, "inline without write"};
    }
    if (multicast) return {FaultKind::kNocMulticast, shown, "only writes can be multicast"};
    if ((control & hw::kNocResponse) == 0) {
      return {FaultKind::kNocControl, shown, "a read needs the response bit"};
    }
  } else if (multicast && (control & hw::kNocInline) != 0) {
    return {FaultKind::kNocMulticast, shown, "inline writes cannot be multicast"};
  }
  if (multicast != ((control & hw::kNocPathReserve) != 0)) {
    return {FaultKind::kNocMulticast, shown,
            "a multicast must reserve its path, a unicast must not"};
  }
  if (!multicast && (control & hw::kNocIncludeSource) != 0) {
    return {FaultKind::kNocMulticast, shown, "only a multicast can include its source"};
  }
  if ((command.tag() & ~kTransactionMask) != 0) {
    return {FaultKind::kNocControl, command.tag(), "of the packet tag only the transaction id"};
  }
  return CheckChannel(control);
}

Refusal Noc::CheckLocalSide(const NocPacket& packet, uint64_t address, uint32_t coordinate) const {
  const hw::Coordinate at = CoordinateOf(coordinate);
  const TileRef tile = grid_.At(at.x, at.y);
  const bool own = coordinate >> 12 == 0 && IsNocTile(tile) && &TileAt(tile) == packet.source;
  if (!own) {
    return {FaultKind::kNocLocalSide, coordinate,
            "the local side of a command must name the issuing tile"};
  }
  if (packet.kind == PacketKind::kInline) return {};  // has no local bytes
  const uint32_t length = packet.kind == PacketKind::kIncrement ? 4 : packet.length;
  const uint32_t l1 = packet.source->l1_bytes();
  if (address >= l1 || l1 - address < length) {
    return {FaultKind::kNocLocalSide, address, "the local side of a command must be the tile's L1"};
  }
  return {};
}

Refusal Noc::CheckMemory(TileRef tile, uint64_t address, uint64_t length) const {
  switch (tile.kind) {
    case TileKind::kTensix:
      if (address < hw::kL1Bytes && hw::kL1Bytes - address >= length) return {};
      return {FaultKind::kUnmapped, address, "a Tensix tile has 1536 KiB of L1, then registers"};
    case TileKind::kEthernet:
      if (address < hw::kEthLinkFirmware && hw::kEthLinkFirmware - address >= length) return {};
      return {FaultKind::kUnmapped, address,
              "an Ethernet tile has 448 KiB of L1, 64 KiB of its link firmware, then registers"};
    case TileKind::kDram:
      if (address < hw::kDramBankBytes && hw::kDramBankBytes - address >= length) return {};
      return {FaultKind::kUnmapped, address, "a DRAM bank ends at 0xFF000000"};
    case TileKind::kPcie:
      return {};  // HostMemoryMap decides
    case TileKind::kArc:
    case TileKind::kNone:
      break;
  }
  return {FaultKind::kNoSuchTile, address,
          "no tile that the model knows is at the coordinate, or it is harvested"};
}

Refusal Noc::CheckTransfer(const NocPacket& packet) const {
  if (IsRegister(packet.remote_tile, packet.remote)) {
    if (packet.length != 4 || packet.remote % 4 != 0) {
      return {FaultKind::kRegisterWidth, packet.remote, "registers take 4 aligned bytes"};
    }
    // tt-metal noc_parameters.h: registers ask for 4 bytes of alignment, of both ends.
    if (packet.kind != PacketKind::kInline && packet.local % 4 != 0) {
      return {FaultKind::kNocAlignment, packet.local,
              "a register is read to and written from an aligned word"};
    }
    return {};
  }
  if (Refusal refusal = CheckMemory(packet.remote_tile, packet.remote, packet.length)) {
    return refusal;
  }
  const bool far_read = packet.kind == PacketKind::kRead && !IsNocTile(packet.remote_tile);
  const uint64_t alignment = far_read ? hw::kDramAlignment : kWriteAlignment;
  if ((packet.remote ^ packet.local) % alignment != 0) {
    return {FaultKind::kNocAlignment, packet.remote,
            far_read ? "reads of DRAM and host memory: both ends equal modulo 64"
                     : "both ends of a transfer must be equal modulo 16"};
  }
  return {};
}

Refusal Noc::CheckMulticast(uint32_t niu, Rectangle rectangle, NocPacket* packet) {
  if (niu == 1) std::swap(rectangle.start, rectangle.end);
  if (rectangle.start.x > rectangle.end.x || rectangle.start.y > rectangle.end.y) {
    return {FaultKind::kNocMulticast, hw::NocXy(rectangle.start.x, rectangle.start.y),
            "rectangles do not wrap: NoC 0 goes from low to high, NoC 1 from high to low"};
  }
  if (Refusal refusal = receivers_.Find(rectangle, &packet->receivers)) return refusal;
  const hw::Coordinate source = packet->source->translated();
  const bool source_is_inside = source.x >= rectangle.start.x && source.x <= rectangle.end.x &&
                                source.y >= rectangle.start.y && source.y <= rectangle.end.y;
  packet->acknowledgements = static_cast<uint32_t>(packet->receivers->size()) -
                             (source_is_inside && !packet->include_source ? 1 : 0);
  if (packet->acknowledgements == 0) {
    return {FaultKind::kNocMulticast, hw::NocXy(rectangle.start.x, rectangle.start.y),
            "a multicast that nobody receives"};
  }
  packet->remote_tile = {TileKind::kTensix, 0};
  return {};
}

Refusal Noc::CheckAtomic(const NocPacket& packet, uint32_t opcode) const {
  if (opcode != hw::kNocAtomicIncrement) {
    return {FaultKind::kNocAtomic, opcode, "the only atomic is the 32-bit increment 0x107C"};
  }
  if (!IsNocTile(packet.remote_tile) || packet.remote >= TileAt(packet.remote_tile).l1_bytes()) {
    return {FaultKind::kNocAtomic, packet.remote,
            "atomics work on the L1 of Tensix and Ethernet tiles only"};
  }
  if (packet.remote % 16 != 0) {
    return {FaultKind::kNocAtomic, packet.remote, "an atomic's target is 16-byte aligned"};
  }
  if (packet.local % 4 != 0) {
    return {FaultKind::kNocAtomic, packet.local, "the slot for the old value is 4-byte aligned"};
  }
  return {};
}

Refusal Noc::MakePacket(NocTile& source, uint32_t niu, const NocCommand& command,
                        NocPacket* packet) {
  if (Refusal refusal = CheckControl(command)) return refusal;
  const uint32_t control = command.control();
  const bool write = (control & hw::kNocWrite) != 0;
  const bool is_inline = (control & hw::kNocInline) != 0;
  packet->kind = (control & hw::kNocAtomic) != 0      ? PacketKind::kIncrement
                 : is_inline                          ? PacketKind::kInline
                 : (control & hw::kNocMulticast) != 0 ? PacketKind::kMulticast
                 : write                              ? PacketKind::kWrite
                                                      : PacketKind::kRead;
  packet->source = &source;
  packet->niu = &source.niu(niu);
  packet->posted = (control & hw::kNocResponse) == 0;
  packet->include_source = (control & hw::kNocIncludeSource) != 0;
  packet->transaction = (command.tag() & kTransactionMask) >> kTransactionShift;
  packet->length = is_inline ? 4 : command.length();
  packet->data = command.data();

  // A write's target is its local source; of everything else it is the far end.
  const bool target_is_local = write && !is_inline;
  const uint64_t local = target_is_local ? command.target() : command.return_address();
  const uint32_t local_xy = target_is_local ? command.target_xy() : command.return_xy();
  const uint32_t remote_xy = target_is_local ? command.return_xy() : command.target_xy();
  packet->local = static_cast<uint32_t>(local);
  packet->remote = target_is_local ? command.return_address() : command.target();
  if (packet->kind != PacketKind::kIncrement &&
      (packet->length == 0 || packet->length > hw::kNocMaxPacketBytes)) {
    return {FaultKind::kNocLength, packet->length, "a packet has 1 to 16384 bytes"};
  }
  if (Refusal refusal = CheckLocalSide(*packet, local, local_xy)) return refusal;

  if (packet->kind == PacketKind::kMulticast) {
    const Rectangle rectangle = {CoordinateOf(remote_xy >> 12), CoordinateOf(remote_xy)};
    if (Refusal refusal = CheckMulticast(niu, rectangle, packet)) return refusal;
    return CheckTransfer(*packet);
  }
  const hw::Coordinate at = CoordinateOf(remote_xy);
  packet->remote_tile = remote_xy >> 12 == 0 ? grid_.At(at.x, at.y) : TileRef{};
  if (packet->remote_tile.kind == TileKind::kNone) {
    return {FaultKind::kNoSuchTile, remote_xy,
            "no tile that the model knows is at the coordinate, or it is harvested"};
  }
  if (packet->kind == PacketKind::kIncrement) return CheckAtomic(*packet, command.length());
  if (is_inline && !IsRegister(packet->remote_tile, packet->remote)) {
    return {FaultKind::kNocInlineToMemory, packet->remote,
            "inline writes to memory may corrupt it on Blackhole; use a 4-byte write"};
  }
  if (is_inline && !IsNocTile(packet->remote_tile)) {
    return {FaultKind::kNocInlineToMemory, packet->remote,
            "inline writes reach Tensix and Ethernet tiles only"};
  }
  return CheckTransfer(*packet);
}

// tt-isa-documentation BlackholeA0/NoC/MemoryMap.md, NOC_CMD_VC_LINKED: whichever command the NIU
// issues next, from whatever buffer, belongs to the transaction; another destination stops the whole
// NoC, another virtual channel this NIU. Linked reads and increments nobody uses.
Refusal Noc::FollowLink(const NocPacket& packet, const NocCommand& command) {
  const uint32_t control = command.control();
  NocLink& link = packet.niu->link();
  const bool linked = (control & hw::kNocLinked) != 0;
  if (!linked && !link.open) [[likely]]
    return {};
  constexpr uint32_t kWay = hw::kNocMulticast | hw::kNocStaticVc | 7u << hw::kNocVcShift;
  const bool is_inline = packet.kind == PacketKind::kInline;
  const NocLink now = {linked, control & kWay,
                       is_inline ? command.target_xy() : command.return_xy()};
  if ((control & hw::kNocWrite) == 0) {
    return {FaultKind::kNocControl, control,
            link.open ? "a linked transaction is open: only its own writes may be issued"
                      : "only writes can be linked"};
  }
  if (link.open && (link.way != now.way || link.to != now.to)) {
    return {FaultKind::kNocControl, control,
            "a linked transaction is open: same destination, same virtual channel"};
  }
  link = now;
  return {};
}

Refusal Noc::CheckHostAccess(TileRef tile, uint64_t address, uint64_t length) const {
  if (!IsRegister(tile, address)) return CheckMemory(tile, address, length);
  if (length == 4 && address % 4 == 0) return {};
  return {FaultKind::kRegisterWidth, address, "registers take 4 aligned bytes"};
}

Refusal Noc::HostRead(hw::Coordinate at, uint64_t address, MutableByteSpan to) {
  const TileRef tile = grid_.At(at.x, at.y);
  if (Refusal refusal = CheckHostAccess(tile, address, to.size())) return refusal;
  return ReadRemote(tile, address, to.data(), static_cast<uint32_t>(to.size()));
}

Refusal Noc::HostWrite(hw::Coordinate at, uint64_t address, ByteSpan from) {
  const TileRef tile = grid_.At(at.x, at.y);
  if (Refusal refusal = CheckHostAccess(tile, address, from.size())) return refusal;
  return WriteRemote(tile, address, from.data(), static_cast<uint32_t>(from.size()));
}

Refusal Noc::HostMulticast(const Rectangle& rectangle, uint64_t address, ByteSpan from) {
  const TileRef any = {TileKind::kTensix, 0};
  if (rectangle.start.x > rectangle.end.x || rectangle.start.y > rectangle.end.y) {
    return {FaultKind::kNocMulticast, address,
            "a rectangle's start lies above and left of its end"};
  }
  for (const hw::Coordinate corner : {rectangle.start, rectangle.end}) {
    if (grid_.At(corner.x, corner.y).kind != TileKind::kTensix) {
      return {FaultKind::kNocMulticast, hw::NocXy(corner.x, corner.y),
              "the corners of a host's multicast are Tensix tiles"};
    }
  }
  if (Refusal refusal = CheckHostAccess(any, address, from.size())) return refusal;
  const std::vector<TensixTile*>* tiles = nullptr;
  if (Refusal refusal = receivers_.Find(rectangle, &tiles)) return refusal;  // all of it or none
  for (TensixTile* const tile : *tiles) {
    const auto length = static_cast<uint32_t>(from.size());
    if (Refusal refusal = WriteTile(*tile, address, from.data(), length)) return refusal;
  }
  return {};
}

}  // namespace ttfd::sim
