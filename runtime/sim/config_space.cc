// Header type 0 of the PCI Local Bus specification, section 6.1; where the BARs are after power-on is
// libttsim's contract.
#include "runtime/sim/config_space.h"

#include "runtime/hw/pcie.h"

namespace ttfd::sim {
namespace {

constexpr uint32_t kId = 0x00;
constexpr uint32_t kCommand = 0x04;
constexpr uint32_t kClass = 0x08;
constexpr uint32_t kCacheLine = 0x0C;
constexpr uint32_t kBar0 = 0x10;
constexpr uint32_t kBar2 = 0x18;
constexpr uint32_t kBar4 = 0x20;
constexpr uint32_t kExpansionRom = 0x30;
constexpr uint32_t kInterrupt = 0x3C;
constexpr uint32_t kEnd = 0x40;

constexpr uint32_t kClassProcessingAccelerator = 0x12000000;
constexpr uint32_t kBarIs64Bit = 4;
constexpr uint32_t kNoInterruptLine = 0xFF;

// Which bits of a word a write changes; -1: the word cannot be written.
int64_t WritableBits(uint32_t offset) {
  const auto of_bar = [](uint64_t bytes, bool high) {
    return static_cast<uint32_t>(~(bytes - 1) >> (high ? 32 : 0));
  };
  switch (offset) {
    case kCommand:
    case kCacheLine:
      return 0xFFFF;
    case kBar0:
    case kBar0 + 4:
      return of_bar(hw::kBar0Bytes, offset != kBar0);
    case kBar2:
    case kBar2 + 4:
      return of_bar(hw::kBar2Bytes, offset != kBar2);
    case kBar4:
    case kBar4 + 4:
      return of_bar(hw::kBar4Bytes, offset != kBar4);
    case kExpansionRom:  // there is none
      return 0;
    case kInterrupt:
      return 0xFF;
    default:
      return -1;
  }
}

}  // namespace

void ConfigSpace::Reset() {
  words_ = {};
  const auto set_bar = [this](uint32_t offset, uint64_t address) {
    words_[offset / 4] = static_cast<uint32_t>(address) | kBarIs64Bit;
    words_[offset / 4 + 1] = static_cast<uint32_t>(address >> 32);
  };
  words_[kId / 4] = hw::kPciDeviceId << 16 | hw::kPciVendorId;
  words_[kClass / 4] = kClassProcessingAccelerator;
  words_[kInterrupt / 4] = kNoInterruptLine;
  set_bar(kBar0, hw::kModelBar0Address);
  set_bar(kBar2, hw::kModelBar2Address);
  set_bar(kBar4, hw::kModelBar4Address);
}

Refusal ConfigSpace::Read(uint32_t offset, uint32_t* value) const {
  if (offset >= kEnd) {
    return {FaultKind::kUnsupportedRegister, offset, "configuration space ends at 0x40"};
  }
  *value = words_[offset / 4];
  return {};
}

Refusal ConfigSpace::Write(uint32_t offset, uint32_t value) {
  const int64_t writable = WritableBits(offset);
  if (writable < 0) {
    return {FaultKind::kUnsupportedRegister, offset,
            "of configuration space the command, cache line, BAR, ROM and interrupt words can be "
            "written"};
  }
  const auto mask = static_cast<uint32_t>(writable);
  uint32_t& word = words_[offset / 4];
  word = (word & ~mask) | (value & mask);
  return {};
}

}  // namespace ttfd::sim
