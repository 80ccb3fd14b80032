// Effects of packets when they arrive.
#include "runtime/sim/noc.h"

#include <cstring>

#include "runtime/hw/pcie.h"
#include "runtime/hw/tensix.h"
#include "runtime/sim/memory_guard.h"
#include "runtime/sim/noc_command.h"
#include "runtime/sim/noc_transit.h"
#include "runtime/sim/noc_view.h"

namespace ttfd::sim {

Noc::Noc(const GridMap& grid, std::vector<TensixTile>& tiles, std::vector<EthernetTile>& ethernet,
         Dram& dram, ArcTile& arc, HostMemoryMap& host)
    : grid_(grid),
      tiles_(tiles),
      ethernet_(ethernet),
      dram_(dram),
      arc_(arc),
      host_(host),
      receivers_(grid, tiles) {}

Noc::~Noc() = default;

void Noc::TakeTime(Machine& machine) { transit_ = std::make_unique<NocTransit>(*this, machine); }

void Noc::Reset() {
  if (transit_ != nullptr) transit_->Reset();
}

Refusal Noc::Issue(NocTile& source, Hart* hart, uint32_t niu, uint32_t buffer) {
  NocPacket packet;
  NocCommand& command = source.niu(niu).command(buffer);
  if (Refusal refusal = MakePacket(source, niu, command, &packet)) return refusal;
  if (hart != nullptr) {
    if (Refusal refusal = CheckBounds(hart->guard, *hart->tile, packet)) return refusal;
  }
  if (Refusal refusal = FollowLink(packet, command)) return refusal;
  const uint32_t to = packet.ReadsLocal() ? command.return_xy() : command.target_xy();
  if (source.machine().writes_coordinates_back) TranslateInPlace(grid_, niu, command);
  if (!source.machine().careful) [[likely]]
    return Complete(packet);
  return IssueCarefully(packet, {hart, niu, buffer, command.control(), to});
}

Refusal Noc::IssueCarefully(const NocPacket& packet, const NocOrigin& origin) {
  if (packet.ReadsLocal()) packet.source->ReadByNoc(packet.local, packet.length);
  if (packet.kind == PacketKind::kRead && IsNocTile(packet.remote_tile) &&
      !IsRegister(packet.remote_tile, packet.remote)) {
    TileAt(packet.remote_tile).ReadByNoc(static_cast<uint32_t>(packet.remote), packet.length);
  }
  if (transit_ != nullptr) return transit_->Send(packet, origin);
  ShowNoc(NocEvent::kIssued, packet, origin);
  if (Refusal refusal = Complete(packet)) return refusal;
  ShowNoc(NocEvent::kDelivered, packet, origin);
  ShowNoc(NocEvent::kCounted, packet, origin);
  return {};
}

bool Noc::IssueStreamUpdate(TensixTile& source, uint32_t niu, uint32_t buffer) {
  Niu& from = source.niu(niu);
  const NocCommand& command = from.command(buffer);
  constexpr uint32_t kInlineWrite = hw::kNocWrite | hw::kNocInline | hw::kNocResponse;
  constexpr uint32_t kAnyChannel = hw::kNocStaticVc | 3u << hw::kNocVcShift;
  const hw::Coordinate own = source.translated();
  if (source.machine().careful || source.machine().writes_coordinates_back || from.link().open ||
      (command.control() & ~kAnyChannel) != kInlineWrite ||
      (command.tag() & ~kTransactionMask) != 0 || command.return_xy() != hw::NocXy(own.x, own.y)) {
    return false;
  }
  const uint32_t to = command.target_xy();
  const TileRef tile = to >> 12 == 0 ? grid_.At(hw::NocX(to), hw::NocY(to)) : TileRef{};
  if (tile.kind != TileKind::kTensix ||
      !tiles_[tile.index].UpdateStream(command.target(), command.data())) {
    return false;
  }
  Count(source, from, hw::kNocNonpostedWritesSent, 1);
  Count(source, from, hw::kNocWriteAcks, 1);
  return true;
}

Refusal Noc::Complete(const NocPacket& packet) {
  switch (packet.kind) {
    case PacketKind::kRead:
      return CompleteRead(packet);
    case PacketKind::kWrite: {
      const std::byte* const from = packet.source->memory().l1() + packet.local;
      Refusal refusal = WriteRemote(packet.remote_tile, packet.remote, from, packet.length);
      if (!refusal) CountWrite(packet);
      return refusal;
    }
    case PacketKind::kInline: {
      const std::byte* const from = reinterpret_cast<const std::byte*>(&packet.data);
      Refusal refusal = WriteRemote(packet.remote_tile, packet.remote, from, 4);
      if (!refusal) CountWrite(packet);
      return refusal;
    }
    case PacketKind::kMulticast:
      return CompleteMulticast(packet);
    case PacketKind::kIncrement:
      ReturnOld(packet, Increment(packet));
      Count(*packet.source, *packet.niu, hw::kNocAtomicResponses, 1);
      return {};
  }
  return {};
}

Refusal Noc::CompleteRead(const NocPacket& packet) {
  std::byte* const to = packet.source->memory().l1() + packet.local;
  if (Refusal refusal = ReadRemote(packet.remote_tile, packet.remote, to, packet.length))
    return refusal;
  packet.source->WroteMemory(packet.local, packet.length);
  Count(*packet.source, *packet.niu, hw::kNocReadResponses, 1);
  return {};
}

Refusal Noc::CompleteMulticast(const NocPacket& packet) {
  const std::byte* const from = packet.source->memory().l1() + packet.local;
  if (packet.remote < hw::kL1Bytes) {
    MulticastToL1(packet, from);
  } else {
    for (TensixTile* const tile : *packet.receivers) {
      if (!packet.Receives(tile)) continue;
      if (Refusal refusal = DeliverTo(*tile, packet, from)) return refusal;
    }
  }
  CountWrite(packet);
  if (!packet.posted) CountOutstanding(packet, 1 - packet.acknowledgements);
  return {};
}

void Noc::MulticastToL1(const NocPacket& packet, const std::byte* from) {
  const auto address = static_cast<uint32_t>(packet.remote);
  const NocTile* const left_out = packet.include_source ? nullptr : packet.source;
  const auto each = [&](const auto& copy) {
    for (TensixTile* const tile : *packet.receivers) {
      if (tile == left_out) continue;
      copy(tile->memory().l1() + address);
      tile->WroteMemory(address, packet.length);
    }
  };
  if (packet.length == 4) {  // go words
    each([word = LoadAt<uint32_t>(from)](std::byte* to) { StoreAt(to, word); });
  } else {
    each([&](std::byte* to) { std::memmove(to, from, packet.length); });
  }
}

uint32_t Noc::Increment(const NocPacket& packet) {
  NocTile& target = TileAt(packet.remote_tile);
  const uint32_t address = static_cast<uint32_t>(packet.remote);
  std::byte* const word = target.memory().l1() + address;
  const uint32_t old = LoadAt<uint32_t>(word);
  StoreAt(word, old + packet.data);
  target.WroteMemory(address, 4);
  return old;
}

void Noc::ReturnOld(const NocPacket& packet, uint32_t old) {
  StoreAt(packet.source->memory().l1() + packet.local, old);
  packet.source->WroteMemory(packet.local, 4);
}

Refusal Noc::Sample(const NocPacket& packet, uint32_t offset, uint32_t length, std::byte* to) {
  if (packet.kind == PacketKind::kRead) {
    return ReadRemote(packet.remote_tile, packet.remote + offset, to, length);
  }
  std::memcpy(to, packet.source->memory().l1() + packet.local + offset, length);
  return {};
}

Refusal Noc::Deliver(const NocPacket& packet, uint32_t offset, uint32_t length,
                     const std::byte* from) {
  if (packet.kind == PacketKind::kRead) {
    return WriteTile(*packet.source, packet.local + offset, from, length);
  }
  return WriteRemote(packet.remote_tile, packet.remote + offset, from, length);
}

Refusal Noc::DeliverTo(NocTile& receiver, const NocPacket& packet, const std::byte* from) {
  return WriteTile(receiver, packet.remote, from, packet.length);
}

Refusal Noc::CheckReach(const NocPacket& packet) {
  const TileRef tile = packet.remote_tile;
  if (tile.kind == TileKind::kPcie) return host_.Check(packet.remote, packet.length);
  std::byte* memory = nullptr;
  return tile.kind == TileKind::kDram ? Memory(tile, packet.remote, &memory) : Refusal{};
}

void Noc::Count(NocTile& source, Niu& niu, uint32_t counter, uint32_t by) {
  niu.counter(counter) += by;
  source.RegisterChanged(niu.CounterAddress(counter));
}

// One up when a request that wants an answer is issued, one down for every answer (tt-isa-documentation
// NoC/Counters.md): not zero after a multicast to more than one tile. 8 bits.
void Noc::CountOutstanding(const NocPacket& packet, uint32_t by) {
  const uint32_t counter = hw::kNocRequestsOutstanding + packet.transaction;
  packet.niu->counter(counter) = (packet.niu->counter(counter) + by) & 0xFF;
  packet.source->RegisterChanged(packet.niu->CounterAddress(counter));
}

void Noc::CountOutgoing(const NocPacket& packet, uint32_t by) {
  const uint32_t counter = hw::kNocWritesOutgoing + packet.transaction;
  packet.niu->counter(counter) = (packet.niu->counter(counter) + by) & 0xFF;
  packet.source->RegisterChanged(packet.niu->CounterAddress(counter));
}

void Noc::CountAnswers(const NocPacket& packet, uint32_t answers) {
  const uint32_t counter = packet.kind == PacketKind::kRead        ? hw::kNocReadResponses
                           : packet.kind == PacketKind::kIncrement ? hw::kNocAtomicResponses
                                                                   : hw::kNocWriteAcks;
  Count(*packet.source, *packet.niu, counter, answers);
  CountOutstanding(packet, -answers);
}

void Noc::CountSent(const NocPacket& packet) {
  Count(*packet.source, *packet.niu,
        packet.posted ? hw::kNocPostedWritesSent : hw::kNocNonpostedWritesSent, 1);
}

void Noc::CountWrite(const NocPacket& packet) {
  CountSent(packet);
  if (!packet.posted)
    Count(*packet.source, *packet.niu, hw::kNocWriteAcks, packet.acknowledgements);
}

Refusal Noc::Memory(TileRef tile, uint64_t address, std::byte** memory) {
  switch (tile.kind) {
    case TileKind::kTensix:
    case TileKind::kEthernet:
      *memory = TileAt(tile).memory().l1() + address;
      return {};
    case TileKind::kDram: {
      std::byte* const bank = dram_.bank(tile.index);
      if (bank == nullptr) {
        return {FaultKind::kUnmapped, address, "no address space is left for the DRAM bank"};
      }
      *memory = bank + address;
      return {};
    }
    case TileKind::kPcie:
    case TileKind::kArc:
    case TileKind::kNone:
      break;
  }
  return {FaultKind::kNoSuchTile, address, "the tile has no memory"};
}

// Both ends have been checked: memory accesses are inside their memory, anything else is 4 aligned
// bytes.
Refusal Noc::ReadRemote(TileRef tile, uint64_t address, std::byte* to, uint32_t length) {
  if (IsRegister(tile, address)) {
    uint32_t value = 0;
    const Refusal refusal = tile.kind == TileKind::kArc
                                ? arc_.Read(address, &value)
                                : TileAt(tile).ReadRegister(Accessor::FromNoc(),
                                                            static_cast<uint32_t>(address), &value);
    std::memcpy(to, &value, sizeof(value));
    return refusal;
  }
  if (tile.kind == TileKind::kPcie) return host_.Read(address, to, length);
  std::byte* memory = nullptr;
  if (Refusal refusal = Memory(tile, address, &memory)) return refusal;
  std::memmove(to, memory, length);
  return {};
}

Refusal Noc::WriteRemote(TileRef tile, uint64_t address, const std::byte* from, uint32_t length) {
  if (IsNocTile(tile)) return WriteTile(TileAt(tile), address, from, length);
  if (tile.kind == TileKind::kArc) return arc_.Write(address, LoadAt<uint32_t>(from));
  if (tile.kind == TileKind::kPcie) return host_.Write(address, from, length);
  std::byte* memory = nullptr;
  if (Refusal refusal = Memory(tile, address, &memory)) return refusal;
  std::memmove(memory, from, length);
  return {};
}

Refusal Noc::WriteTile(NocTile& tile, uint64_t address, const std::byte* from, uint32_t length) {
  const uint32_t at = static_cast<uint32_t>(address);
  if (at >= tile.l1_bytes())
    return tile.WriteRegister(Accessor::FromNoc(), at, LoadAt<uint32_t>(from));
  std::memmove(tile.memory().l1() + at, from, length);
  tile.WroteMemory(at, length);
  return {};
}

}  // namespace ttfd::sim
