// TLB windows. Source of the register layout: tt-kmd struct TLB_2M_REG.
#include "runtime/sim/bar0.h"

#include "runtime/hw/noc.h"

namespace ttfd::sim {
namespace {

constexpr uint64_t kWindowsEnd = hw::kTlbWindows2M * hw::kTlbWindow2MBytes;
constexpr uint64_t kWords2M = 3 * hw::kTlbWindows2M;
constexpr uint64_t kRegistersEnd =
    hw::kTlbRegisters + (hw::kTlbWindows2M + hw::kTlbWindows4G) * hw::kTlbRegisterStride;

// `width` bits of the 96-bit register from bit `bit`.
uint64_t Bits(const std::array<uint32_t, 3>& words, uint32_t bit, uint32_t width) {
  uint64_t value = 0;
  for (uint32_t i = 0; i < width; ++i) {
    value |= uint64_t{words[(bit + i) / 32] >> (bit + i) % 32 & 1} << i;
  }
  return value;
}

uint32_t Small(const std::array<uint32_t, 3>& words, uint32_t bit, uint32_t width) {
  return static_cast<uint32_t>(Bits(words, bit, width));
}

Refusal FourBytes(uint64_t offset) {
  return {FaultKind::kRegisterWidth, offset, "BAR0 registers take 4 aligned bytes"};
}

}  // namespace

void Bar0::DecodeWindow(Window* window) {
  const auto& words = window->words;
  window->address = Bits(words, 0, hw::kTlbAddressBits) << 21;
  window->way.rectangle.start = {Small(words, hw::kTlbXStartBit, 6),
                                 Small(words, hw::kTlbYStartBit, 6)};
  window->way.rectangle.end = {Small(words, hw::kTlbXEndBit, 6), Small(words, hw::kTlbYEndBit, 6)};
  window->way.multicast = Small(words, hw::kTlbMulticastBit, 1) != 0;
  window->unusable = nullptr;
  if (Small(words, hw::kTlbNocBit, 2) != 0) window->unusable = "windows use NoC 0";
  window->way.ordering = Small(words, hw::kTlbOrderingBit, 2);
  if (window->way.ordering == hw::kTlbReservedOrdering) {
    window->unusable = "ordering 3 is not supported";
  }
  if ((words[2] >> (hw::kTlbLinkedBit - 64)) != 0) {
    window->unusable = "linked packets, static VCs and stream headers must stay off";
  }
  if (!window->way.multicast && !(window->way.rectangle.start == hw::Coordinate{0, 0})) {
    window->unusable = "a unicast window has no start coordinate";
  }
}

Refusal Bar0::FindWindow(uint64_t offset, uint64_t length, Window** window) {
  *window = &windows_[offset / hw::kTlbWindow2MBytes];
  if ((*window)->unusable != nullptr) {
    return {FaultKind::kTlbWindow, offset, (*window)->unusable};
  }
  if (offset % hw::kTlbWindow2MBytes + length > hw::kTlbWindow2MBytes) {
    return {FaultKind::kTlbWindow, offset, "the access crosses the end of its window"};
  }
  return {};
}

Refusal Bar0::Read(uint64_t offset, MutableByteSpan to) {
  if (to.empty()) return {FaultKind::kTlbWindow, offset, "an access of no bytes"};
  if (offset >= kWindowsEnd) {
    if (to.size() != 4 || offset % 4 != 0) return FourBytes(offset);
    uint32_t value = 0;
    const Refusal refusal = ReadRegister(offset, &value);
    StoreAt(to.data(), value);
    return refusal;
  }
  Window* window = nullptr;
  if (Refusal refusal = FindWindow(offset, to.size(), &window)) return refusal;
  if (window->way.multicast) {
    return {FaultKind::kTlbWindow, offset, "a multicast window is write only"};
  }
  return host_.Read(window->way, window->address + offset % hw::kTlbWindow2MBytes, to);
}

Refusal Bar0::Write(uint64_t offset, ByteSpan from) {
  if (from.empty()) return {FaultKind::kTlbWindow, offset, "an access of no bytes"};
  if (offset >= kWindowsEnd) {
    if (from.size() != 4 || offset % 4 != 0) return FourBytes(offset);
    return WriteRegister(offset, LoadAt<uint32_t>(from.data()));
  }
  Window* window = nullptr;
  if (Refusal refusal = FindWindow(offset, from.size(), &window)) return refusal;
  return host_.Write(window->way, window->address + offset % hw::kTlbWindow2MBytes, from);
}

Refusal Bar0::ReadRegister(uint64_t offset, uint32_t* value) const {
  if (offset >= hw::kTlbRegisters && offset < kRegistersEnd) {
    const uint64_t word = (offset - hw::kTlbRegisters) / 4;
    *value = word < kWords2M ? windows_[word / 3].words[word % 3] : bar4_.ReadWord(word - kWords2M);
    return {};
  }
  for (uint32_t niu = 0; niu < 2; ++niu) {
    const uint64_t base = niu == 0 ? hw::kBar0Niu0 : hw::kBar0Niu1;
    if (offset == base + hw::kNocNodeId) {
      *value = NodeId(niu, hw::kPciePhysical[0]);
      return {};
    }
    if (offset == base + hw::kNocConfig0) {
      *value = hw::kNocConfig0Translation;
      return {};
    }
  }
  return {FaultKind::kUnsupportedRegister, offset, "no BAR0 register that the model knows"};
}

Refusal Bar0::WriteRegister(uint64_t offset, uint32_t value) {
  if (offset < hw::kTlbRegisters || offset >= kRegistersEnd) {
    return {FaultKind::kUnsupportedRegister, offset, "of BAR0 the window registers can be written"};
  }
  const uint64_t word = (offset - hw::kTlbRegisters) / 4;
  if (word >= kWords2M) {
    bar4_.WriteWord(word - kWords2M, value);
    return {};
  }
  windows_[word / 3].words[word % 3] = value;
  windows_[word / 3].way.window = static_cast<uint32_t>(word / 3);
  DecodeWindow(&windows_[word / 3]);
  return {};
}

}  // namespace ttfd::sim
