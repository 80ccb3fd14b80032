// Random programs for the Tensix engine, each about one of its units.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tests/peer/tensix_program.h"

namespace ttfd {

enum class TensixUnit : uint32_t {
  kMath,
  kUnpack,
  kPack,
  kCounters,
  kSync,
  kLanes,
  kPools,
  kMoves,
};

inline constexpr std::array<const char*, 8> kTensixUnitNames = {
    "math", "unpack", "pack", "counters", "sync", "lanes", "pools", "moves"};

// Program `number` of a unit, the same on every machine.
TensixProgram RandomTensixProgram(TensixUnit unit, uint32_t number);

// One tile of what the programs of a batch compute with, as words: bf16 of one of eight kinds (wide and narrow
// exponents, overflow, underflow, special values, any bits). Tile TensixProgram::kOnesTile holds 1.0 only; those from
// TensixProgram::kBlockTiles on hold Bfp8_b of the same kinds.
std::vector<uint32_t> RandomOperand(uint32_t batch, uint32_t tile);

}  // namespace ttfd
