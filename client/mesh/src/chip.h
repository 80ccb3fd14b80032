// One chip of a mesh: its session, and the programs and memory that the mesh has there.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "firmware/mesh/ring_words.h"
#include "ttfd/mesh/mesh.h"

namespace ttfd::mesh {

// Launches of one operation, at most.
inline constexpr uint32_t kMostLaunches = 2;
// A sum over all chips of fewer bytes gathers them all, and each chip adds: half the steps over links.
inline constexpr uint64_t kSmallBytes = 65536;

// Kernels of a lane in a program.
struct LaneKernels {
  uint32_t sender = 0;
  uint32_t receiver = 0;
  uint32_t reader = 0;  // of adders, as are the next
  uint32_t writer = 0;
  client::ComputeIndices compute = {};
};

// Kinds of launches. Operations are one or two of them.
enum class LaunchKind { kGather, kReduce, kFold };
inline bool UsesAdders(LaunchKind kind) { return kind != LaunchKind::kGather; }

// The program of one chip for launches of a kind along one axis.
struct RingProgram {
  client::Program program;
  std::vector<std::array<LaneKernels, kRingLanes>> links = {};
};

// A chip. Its programs are made when an operation first needs them.
class Chip {
 public:
  explicit Chip(std::shared_ptr<client::Session> session) : session_(std::move(session)) {}

  client::Session& session() const { return *session_; }
  const client::Buffer& stamps() const { return stamps_; }
  // When the link worker ran that took longest, of the last launches.
  Result<ClockSpan> ReadStamps(uint32_t links, uint32_t launches);
  const client::Buffer& gathered() const { return gathered_; }

  Status AllocateStamps();
  // Allocates the buffer where operations gather up to `parts` parts that take less than kSmallBytes of DRAM each, in
  // pages of any size, unless it is there.
  Status AllocateGathered(uint32_t parts);
  // Makes the program for launches along an axis whose chips have `links` links, unless it is there. int32 and Float32
  // have the same one.
  Status MakeProgram(LaunchKind kind, uint32_t axis, uint32_t links, RingSum sum);
  // REQUIRES MakeProgram.
  const RingProgram& program(LaunchKind kind, uint32_t axis, RingSum sum) const {
    return programs_[axis][IndexOf(kind, sum)];
  }

 private:
  static size_t IndexOf(LaunchKind kind, RingSum sum) {
    return static_cast<size_t>(kind) * 2 + (UsesAdders(kind) && sum == RingSum::kBFloat16);
  }

  std::shared_ptr<client::Session> session_;
  std::array<std::array<RingProgram, 6>, 2> programs_ = {};  // by axis
  client::Buffer stamps_ = {};
  client::Buffer gathered_ = {};
};

// Page of the sender's stamp of a lane; the receiver's is the next one.
constexpr uint32_t StampPage(uint32_t links, uint32_t launch, uint32_t link, uint32_t lane) {
  return ((launch * links + link) * kRingLanes + lane) * 2;
}

}  // namespace ttfd::mesh
