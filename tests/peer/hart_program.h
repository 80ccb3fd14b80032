// Random programs for one hart that do nothing another hart could see the order of: every hart has its
// own memory at every tile, its own command buffer and its own streams.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/peer/sequence_builder.h"
#include "tests/support/noc_asm.h"

namespace ttfd {

inline constexpr uint32_t kStage = 3;  // tiles of a sequence
inline constexpr uint32_t kActors = kStage * hw::kHarts;

// Who runs a program and what is his.
struct Actor {
  uint32_t number = 0;  // of kActors
  hw::Coordinate tile = {0, 0};
  uint32_t niu = 0;
  uint32_t buffer = 0;
  bool alone = false;  // on its tile: the NIU's counters are its own
  bool timed = false;  // released by the host: the wall clock tells when
  std::vector<hw::Coordinate> stage = {};

  static constexpr uint32_t kBytes = 0x8000;
  // Areas of kBytes: in its own L1, at every tile, in every bank, in host memory.
  uint32_t own() const { return 0x30000 + number % hw::kHarts * kBytes; }
  uint32_t at_tiles() const { return 0x58000 + number * kBytes; }
  uint64_t in_banks() const { return 0xBCC00000 + number * uint64_t{0x10000}; }
  uint64_t in_host() const { return 0x100000 + number * 0x10000; }
  // Of kMulticastBytes, at every tile of the chip.
  static constexpr uint32_t kMulticastBytes = 0x4000;
  uint32_t multicast() const { return 0xD0000 + number * kMulticastBytes; }
  uint32_t stream() const { return 4 + 4 * number; }  // and the next
};

// Increments of counters everybody shares; what they were is nobody's business.
inline constexpr uint32_t kSharedCounters = 0x20000;
inline constexpr uint32_t kOldCounters = 0x21000;
inline constexpr uint32_t kOldCountersEnd = 0x22000;

// The program, at most `commands` NoC commands and a few other things. It ends in a wait.
Rv32Asm RandomProgram(Chooser& choose, const Actor& actor, uint32_t commands);

// A random command that both simulators carry out.
NocFields RandomCommand(Chooser& choose, const Actor& actor);

// A bank by one of its translated coordinates.
hw::Coordinate RandomBank(Chooser& choose);

// A rectangle of Tensix tiles, upper left and lower right.
struct TileRectangle {
  hw::Coordinate start, end;
};
TileRectangle RandomRectangle(Chooser& choose);

}  // namespace ttfd
