// Chips of the model, and what belongs to each: owned in common by their ports.
#pragma once

#include <memory>
#include <vector>

#include "runtime/device/sim/sim_bounds.h"
#include "runtime/sim/cluster.h"

namespace ttfd {

struct SimCluster {
  std::unique_ptr<sim::Cluster> chips;
  std::vector<std::unique_ptr<SimBounds>> bounds;  // by chip; none: accesses are not checked
};

}  // namespace ttfd
