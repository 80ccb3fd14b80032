// Which chip the model is: the board, and what was harvested from it.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/hw/grid.h"
#include "runtime/sim/hazards.h"

namespace ttfd::sim {

enum class Board { kP100a, kP150 };

struct ChipOptions {
  Board board = Board::kP150;
  uint32_t harvested_bank = hw::kNoHarvestedBank;  // physical DRAM bank, at most one
  std::vector<uint32_t> harvested_columns;         // physical x of disabled Tensix columns
  HazardOptions hazards = {};
  // Issuing a NoC command leaves the translated coordinates in its buffer, to be translated again by the next.
  bool writes_coordinates_back = false;
};

// p150: nothing harvested, 140 Tensix tiles and 8 banks. p100a: columns 4 and 13 and bank 3 (the
// example in tt-umd's tests: Tensix mask 192, DRAM mask 8), 120 tiles and 7 banks.
ChipOptions DefaultOptions(Board board);

// A chip has at least two Tensix columns; columns exist and are named once; the bank exists.
Status Validate(const ChipOptions& options);

// The instruction set of the host that TTFD_SIM_ISA names for the Tensix engines (tensix/lanes_choice.h), or "".
const char* HostIsa();

const char* BoardName(Board board);

}  // namespace ttfd::sim
