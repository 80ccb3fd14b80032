// Effects that the silicon may have and a functional model forgives, switched on by name.
//
// With a hazard on, the model takes from the seed which of the things that are allowed happens. Equal
// seeds and equal calls give equal runs. Sources: tt-isa-documentation BlackholeA0,
// TensixTile/BabyRISCV/MemoryOrdering.md, InstructionCache.md, SoftReset.md, NoC/Ordering.md.
#pragma once

#include <cstdint>

namespace ttfd::sim {

enum Hazard : uint32_t {
  kHazardL0Cache = 1 << 0,    // loads from L1 hit stale lines until a fence, an AMO, an own store
  kHazardStores = 1 << 1,     // stores to different regions become visible out of order
  kHazardNoc = 1 << 2,        // packets take time and overtake each other where nothing holds them
  kHazardStreams = 1 << 3,    // a stream update shows late in the register
  kHazardICache = 1 << 4,     // executed code stays as it was until reset or invalidation
  kHazardLocalRam = 1 << 5,   // local RAM holds anything when the power comes on, zeros on release
  kHazardHartSpeed = 1 << 6,  // harts run at speeds of their own that change; tiles have own epochs
  kHazardCompute =
      1 << 7,            // Tensix instructions wait in queues and overlap; missing waits are faults
  kHazardHost = 1 << 8,  // writes of the host arrive later; only strict windows keep an order
};
inline constexpr uint32_t kAllHazards = (1 << 9) - 1;

struct HazardOptions {
  uint32_t on = 0;  // Hazard bits
  uint64_t seed = 1;
};

}  // namespace ttfd::sim
