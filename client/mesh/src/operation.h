// Collective operations: what their buffers must be, and their launches on one chip.
#pragma once

#include <cstdint>
#include <vector>

#include "client/mesh/src/chip.h"
#include "client/mesh/src/ring.h"

namespace ttfd::mesh {

enum class Collective { kAllGather, kReduceScatter, kAllReduce };

struct Operation {
  Collective collective;
  RingSum sum;
  const MeshBuffer& from;
  const MeshBuffer& to;
  uint32_t axis;
};

// `length`: of the mesh along the axis.
Status Check(const Operation& operation, uint32_t length, size_t chips);

// Its launches, in order.
std::vector<LaunchKind> LaunchKindsOf(const Operation& operation);

// The launches of chip number `index` of a line of several chips. REQUIRES that Check found no error, and that the chip
// has the programs, and what folds add.
std::vector<client::LaunchRequest> LaunchesOf(const Operation& operation, const Line& line,
                                              uint32_t index, const Chip& chip);

}  // namespace ttfd::mesh
