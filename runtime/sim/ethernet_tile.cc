// Registers of an Ethernet tile and words of its link firmware.
//
// Sources: runtime/hw/ethernet.h. What is not listed here is refused.
#include "runtime/sim/ethernet_tile.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "runtime/hw/ethernet.h"
#include "runtime/hw/tensix.h"
#include "runtime/sim/scheduler.h"

namespace ttfd::sim {
namespace {

constexpr uint32_t kFirmwareVersion = 1u << 16 | 7u << 8;  // 1.7.0
constexpr uint32_t kHeartbeatClocks = 1u << 16;            // between two counts

uint32_t High(uint64_t value) { return static_cast<uint32_t>(value >> 32); }
uint32_t Low(uint64_t value) { return static_cast<uint32_t>(value); }

}  // namespace

void EthernetTile::Init(Machine& machine, TileMemory memory, const Place& place,
                        const ChipIdentity& chip) {
  const hw::Coordinate translated = {hw::kEthTranslatedX + place.logical_channel,
                                     hw::kEthTranslatedY};
  InitTile(machine, memory, hw::kEthLinkFirmware, translated,
           {hw::kEthColumnX[place.channel], hw::kEthRow});
  place_ = place;
  chip_ = chip;
}

void EthernetTile::Connect(EthernetTile& peer, std::string name, uint32_t latency) {
  peer_ = &peer;
  peer_name_ = std::move(name);
  queues_.SetLatency(latency);
}

void EthernetTile::Reset() {
  ResetNius();
  queues_.Reset();
  arriving_.clear();
  // Packets to this tile are lost, but the peer's queues take commands again when they have left.
  if (peer_ != nullptr) peer_->machine().scheduler->At(peer_->queues_.free_at(), [] {});
}

void EthernetTile::HandOver() {
  if (!queues_.has_sent()) return;
  EthernetTile& peer = *peer_;
  for (LinkPacket& packet : queues_.TakeSent()) {
    peer.machine().scheduler->At(packet.arrival, [&peer] { peer.Deliver(); });
    peer.arriving_.push_back(std::move(packet));
  }
}

void EthernetTile::Deliver() {
  const LinkPacket packet = std::move(arriving_.front());
  arriving_.pop_front();
  if (const Refusal refusal = Take(packet)) Fail(nullptr, 0, refusal);
}

Refusal EthernetTile::Take(const LinkPacket& packet) {
  if (packet.bytes.empty()) {
    if (packet.address >= hw::kFirstRegisterAddress) {
      return WriteRegister(Accessor::FromLink(), packet.address, packet.data);
    }
    return {FaultKind::kLinkCommand, packet.address,
            "a register write reaches registers of the tile only"};
  }
  const auto bytes = static_cast<uint32_t>(packet.bytes.size());
  if (packet.address >= l1_bytes() || l1_bytes() - packet.address < bytes) {
    return {FaultKind::kLinkCommand, packet.address,
            "a write to L1 reaches the 448 KiB that are not the link firmware's"};
  }
  std::memcpy(memory().l1() + packet.address, packet.bytes.data(), bytes);
  WroteMemory(packet.address, bytes);
  return {};
}

std::string EthernetTile::CommandOrigin() const {
  return fmt::format("channel {}, from its peer {}: ", place_.channel, peer_name_);
}

bool EthernetTile::Describe(const Place& place, const ChipIdentity& chip, uint32_t offset,
                            uint32_t* value) {
  switch (offset) {
    case hw::kEthInfoPlace:
      *value = place.channel << 16 | place.logical_channel << 24;
      return true;
    case hw::kEthInfoBoardHigh:
      *value = High(chip.board);
      return true;
    case hw::kEthInfoBoardLow:
      *value = Low(chip.board);
      return true;
    case hw::kEthInfoAsicHigh:
      *value = High(chip.asic);
      return true;
    case hw::kEthInfoAsicLow:
      *value = Low(chip.asic);
      return true;
    default:
      return false;
  }
}

bool EthernetTile::Published(uint32_t address, uint32_t* value) const {
  const bool up = peer_ != nullptr;
  switch (address) {
    case hw::kEthPostCode:
      *value = hw::kEthPostCodePassed;
      return true;
    case hw::kEthPortStatus:
      *value = up ? hw::kEthPortUp : hw::kEthPortUnused;
      return true;
    case hw::kEthTrainStatus:
      *value = up ? hw::kEthTrainPassed : 0;
      return true;
    case hw::kEthRetrains:
      *value = 0;
      return true;
    case hw::kEthRxLinkUp:
      *value = up ? 1 : 0;
      return true;
    case hw::kEthHeartbeat:
      *value = hw::kEthHeartbeatMark |
               static_cast<uint16_t>(machine_->scheduler->now() / kHeartbeatClocks);
      return true;
    case hw::kEthFirmwareVersion:
      *value = kFirmwareVersion;
      return true;
    default:
      break;
  }
  if (Describe(place_, chip_, address - hw::kEthLocalInfo, value)) return true;
  return up && Describe(peer_->place_, peer_->chip_, address - hw::kEthRemoteInfo, value);
}

Refusal EthernetTile::ReadRegister(Accessor /*who*/, uint32_t address, uint32_t* value) {
  if (IsNiu(address)) return ReadNiu(address, value);
  if (TransmitQueues::Has(address)) return queues_.Read(*this, address, value);
  if (address == hw::kSoftReset0) {
    *value = hw::kEthSoftResetE1;
    return {};
  }
  if (address < hw::kEthL1Bytes) {
    if (Published(address, value)) return {};
    return {FaultKind::kUnsupportedRegister, address,
            "memory of the Ethernet link firmware; of its words the state of the link, the version "
            "and the description of the chip are modelled"};
  }
  return {FaultKind::kUnsupportedRegister, address,
          "no register of an Ethernet tile that is modelled"};
}

Refusal EthernetTile::WriteRegister(Accessor who, uint32_t address, uint32_t value) {
  if (IsNiu(address)) return WriteNiu(who, nullptr, address, value);
  if (TransmitQueues::Has(address)) return queues_.Write(*this, address, value);
  if (address == hw::kSoftReset0) {
    if (value == hw::kEthSoftResetE1) return {};
    return {FaultKind::kUnsupportedValue, address,
            "no hart of an Ethernet tile runs here: E1 stays in reset (0x1000), E0 is the link "
            "firmware's"};
  }
  if (address < hw::kEthL1Bytes) {
    return {FaultKind::kUnsupportedRegister, address,
            "memory of the Ethernet link firmware is not written"};
  }
  return {FaultKind::kUnsupportedRegister, address,
          "no register of an Ethernet tile that is modelled"};
}

}  // namespace ttfd::sim
