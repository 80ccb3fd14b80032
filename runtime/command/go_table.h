// The table of unicast targets that dispatch_s keeps (SET_GO_SIGNAL_NOC_DATA), as the host knows it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/abi/launch.h"
#include "runtime/command/launch_encoder.h"

namespace ttfd {

// A go to few tiles wakes only them; a go to many is one multicast. The border is where about 33
// clocks of dispatch_s for each unicast outweigh the idle tiles' answers.
inline constexpr uint32_t kMaxUnicastGoTargets = 24;

class GoTable {
 public:
  void Clear() { words_.clear(); }

  // How a go reaches `workers` (NocXy of each). Lists already in the table are used again; a table
  // that is full starts anew.
  GoPlan Plan(std::span<const uint32_t> worker_xy);

 private:
  std::vector<uint32_t> words_;
};

// How a go reaches the program's workers.
GoPlan PlanGo(GoTable& table, const Program& program, const CardGeometry& card);

}  // namespace ttfd
