// What the parts of one chip share. Owned by Chip; every part outlives every call.
#pragma once

#include <optional>

#include "runtime/sim/fault.h"

namespace ttfd::sim {

class Noc;
class Scheduler;

struct Machine {
  Noc* noc = nullptr;
  Scheduler* scheduler = nullptr;
  std::optional<Fault> fault;  // the first one; the chip stands still until it is reset
};

}  // namespace ttfd::sim
