// One chip of a mesh: its session, and the programs and memory that the mesh has there.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "ttfd/mesh/mesh.h"

namespace ttfd::mesh {

// The program of one chip for the operations along one axis.
struct RingProgram {
  client::Program program;
  uint32_t sender = 0;  // kernels
  uint32_t receiver = 0;
};

struct Chip {
  std::shared_ptr<client::Session> session;
  std::array<RingProgram, 2> programs = {};  // by axis; empty where the axis has one chip
  client::Buffer stamps = {};
};

// Makes the programs and buffers of a chip. `used`: by axis, whether it has operations.
Status Prepare(Chip& chip, const std::array<bool, 2>& used);

}  // namespace ttfd::mesh
