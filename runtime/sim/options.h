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
  uint32_t ethernet_channels = 0;                  // that are enabled, one bit each
  uint32_t serial = 1;  // of board and ASIC; no two chips of a cluster have the same
  HazardOptions hazards = {};
  // Issuing a NoC command leaves the translated coordinates in its buffer, to be translated again by the next.
  bool writes_coordinates_back = false;
};

// p150: nothing harvested, 140 Tensix tiles and 8 banks, Ethernet channels 0 to 11. p100a: columns 4 and 13 and
// bank 3 (the example in tt-umd's tests: Tensix mask 192, DRAM mask 8), 120 tiles and 7 banks, no Ethernet.
ChipOptions DefaultOptions(Board board);

// A chip has at least two Tensix columns; columns exist and are named once; the bank and the channels exist.
Status Validate(const ChipOptions& options);

// Ids that a chip publishes as its own: to the host by telemetry, to its neighbours over their links.
struct ChipIdentity {
  uint64_t board = 0;
  uint64_t asic = 0;
};
ChipIdentity IdentityOf(const ChipOptions& options);

// The instruction set of the host that TTFD_SIM_ISA names for the Tensix engines (tensix/lanes_choice.h), or "".
const char* HostIsa();

const char* BoardName(Board board);

}  // namespace ttfd::sim
