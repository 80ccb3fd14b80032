// State that the parts of one chip share. Owned by Chip; every part outlives every call.
#pragma once

#include <optional>
#include <vector>

#include "runtime/sim/fault.h"
#include "runtime/sim/hazards.h"
#include "runtime/sim/rng.h"

namespace ttfd::sim {

namespace tensix {
struct LaneKernels;
}

class Inspector;
class Noc;
class Scheduler;

struct Machine {
  Noc* noc = nullptr;
  Scheduler* scheduler = nullptr;
  std::optional<Fault> fault;          // the first one since the chip was reset
  bool fault_reported = false;         // as the result of a call of Chip::Advance
  HazardOptions hazards;               // constant
  Rng stream_chance{0, 0};             // what delays stream updates
  std::vector<Inspector*> inspectors;  // Chip::Attach
  // A fault has just stopped a hart: Advance ends.
  bool has_news() const { return fault.has_value() && !fault_reported; }
  // Somebody watches, or a hazard is on: harts run by the interpreter's careful handlers.
  bool careful = false;
  const tensix::LaneKernels* lanes = nullptr;  // of the Tensix engines
  uint64_t engine_work = 0;  // of all Tensix engines since Advance was called: tensix::Report::work
  bool writes_coordinates_back = false;  // NoC commands: ChipOptions
  std::optional<uint64_t>
      host_link_clock;  // when the host last wrote a register of a transmit queue
  bool halted = false;  // an inspector stopped the chip; until Advance is called again
};

}  // namespace ttfd::sim
