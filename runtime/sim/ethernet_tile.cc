// Registers of an Ethernet tile and words of its link firmware.
//
// Sources: runtime/hw/ethernet.h. What is not listed here is refused.
#include "runtime/sim/ethernet_tile.h"

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

bool EthernetTile::Published(uint32_t address, uint32_t* value) const {
  switch (address) {
    case hw::kEthPostCode:
      *value = hw::kEthPostCodePassed;
      return true;
    case hw::kEthPortStatus:
      *value = hw::kEthPortUnused;
      return true;
    case hw::kEthTrainStatus:
    case hw::kEthRetrains:
    case hw::kEthRxLinkUp:
      *value = 0;
      return true;
    case hw::kEthHeartbeat:
      *value = hw::kEthHeartbeatMark |
               static_cast<uint16_t>(machine_->scheduler->now() / kHeartbeatClocks);
      return true;
    case hw::kEthFirmwareVersion:
      *value = kFirmwareVersion;
      return true;
    case hw::kEthLocalInfo + hw::kEthInfoPlace:
      *value = place_.channel << 16 | place_.logical_channel << 24;
      return true;
    case hw::kEthLocalInfo + hw::kEthInfoBoardHigh:
      *value = High(chip_.board);
      return true;
    case hw::kEthLocalInfo + hw::kEthInfoBoardLow:
      *value = Low(chip_.board);
      return true;
    case hw::kEthLocalInfo + hw::kEthInfoAsicHigh:
      *value = High(chip_.asic);
      return true;
    case hw::kEthLocalInfo + hw::kEthInfoAsicLow:
      *value = Low(chip_.asic);
      return true;
    default:
      return false;
  }
}

Refusal EthernetTile::ReadRegister(Accessor /*who*/, uint32_t address, uint32_t* value) {
  if (IsNiu(address)) return ReadNiu(address, value);
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

Refusal EthernetTile::WriteRegister(Accessor /*who*/, uint32_t address, uint32_t value) {
  if (IsNiu(address)) return WriteNiu(nullptr, address, value);
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
