// The three tables of operations that at least one of two simulators refuses.
#pragma once

#include <span>

#include "tests/peer/hart_program.h"

namespace ttfd {

// What an operation may use: the tile whose BRISC does it, another one.
struct Setting {
  Chooser& choose;
  hw::Coordinate self;
  hw::Coordinate other;
};

inline constexpr uint32_t kHere = 0x30000;   // some L1 of the issuing tile
inline constexpr uint32_t kThere = 0x40000;  // and of another
inline constexpr hw::Coordinate kBank = {17, 12};

struct RefusedCommand {
  const char* name;
  NocFields (*make)(const Setting& s);
};
struct RefusedProgram {
  const char* name;
  void (*emit)(const Setting& s, Rv32Asm* a);
};
struct RefusedAccess {
  const char* name;
  void (*add)(const Setting& s, SequenceBuilder* b);
};

std::span<const RefusedCommand> RefusedCommands();
std::span<const RefusedProgram> RefusedPrograms();
std::span<const RefusedAccess> RefusedAccesses();

}  // namespace ttfd
