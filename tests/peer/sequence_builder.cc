#include "tests/peer/sequence_builder.h"

#include <fmt/format.h>

namespace ttfd {

void SequenceBuilder::WriteWindow(uint32_t window, const std::array<uint32_t, 3>& words) {
  for (uint32_t i = 0; i < words.size(); ++i) {
    if (windows_[window][i] == words[i]) continue;
    windows_[window][i] = words[i];
    Add(fmt::format("w {:x} 4 {:x}",
                    hw::kModelBar0Address + hw::kTlbRegisters +
                        uint64_t{window} * hw::kTlbRegisterStride + 4 * i,
                    words[i]));
  }
}

std::array<uint32_t, 3> SequenceBuilder::WindowWords(hw::Coordinate tile, uint64_t address,
                                                     uint32_t ordering) {
  const uint64_t low =
      address >> 21 | uint64_t{tile.x} << hw::kTlbXEndBit | uint64_t{tile.y} << hw::kTlbYEndBit;
  return {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
          ordering << (hw::kTlbOrderingBit - 64)};
}

uint64_t SequenceBuilder::Point(hw::Coordinate tile, uint64_t address) {
  const uint32_t ordering = choose_.Below(3);
  if (choose_.Percent(15)) {
    const uint32_t window = choose_.Below(hw::kTlbWindows4G);
    WriteWindow(hw::kTlbWindows2M + window,
                {static_cast<uint32_t>(address >> 32),
                 tile.x | tile.y << 6 | ordering << hw::kTlb4GOrderingShift, 0});
    return hw::kModelBar4Address + window * hw::kTlbWindow4GBytes + address % hw::kTlbWindow4GBytes;
  }
  const uint32_t window = choose_.Below(hw::kTlbWindows2M);
  WriteWindow(window, WindowWords(tile, address, ordering));
  return hw::kModelBar0Address + window * hw::kTlbWindow2MBytes + address % hw::kTlbWindow2MBytes;
}

uint64_t SequenceBuilder::PointMulticast(hw::Coordinate start, hw::Coordinate end,
                                         uint64_t address) {
  const uint32_t window = choose_.Below(hw::kTlbWindows2M);
  std::array<uint32_t, 3> words = WindowWords(end, address, choose_.Below(3));
  words[1] |= start.x << (hw::kTlbXStartBit - 32) | start.y << (hw::kTlbYStartBit - 32);
  words[2] |= start.y >> 3 | 1u << (hw::kTlbMulticastBit - 64);
  WriteWindow(window, words);
  return hw::kModelBar0Address + window * hw::kTlbWindow2MBytes + address % hw::kTlbWindow2MBytes;
}

void SequenceBuilder::Read(hw::Coordinate tile, uint64_t address, uint64_t size) {
  Add(fmt::format("r {:x} {:x}", Point(tile, address), size));
}

void SequenceBuilder::WriteWord(hw::Coordinate tile, uint64_t address, uint32_t value) {
  Add(fmt::format("w {:x} 4 {:x}", Point(tile, address), value));
}

void SequenceBuilder::WritePattern(hw::Coordinate tile, uint64_t address, uint64_t size) {
  const uint64_t at = Point(tile, address);
  Add(fmt::format("wp {:x} {:x} {:x}", at, size, choose_.Any()));
}

void SequenceBuilder::Load(hw::Coordinate tile, uint32_t address, const Rv32Asm& program) {
  std::string line = fmt::format("ww {:x}", Point(tile, address));
  for (const uint32_t word : program.words()) line += fmt::format(" {:x}", word);
  Add(line);
}

void SequenceBuilder::Clock(uint32_t clocks) {
  // In several calls: where one ends and the next begins must not matter.
  while (choose_.Percent(30) && clocks > 1) {
    const uint32_t part = choose_.Between(1, clocks - 1);
    Add(fmt::format("clock {:x}", part));
    clocks -= part;
  }
  Add(fmt::format("clock {:x}", clocks));
}

}  // namespace ttfd
