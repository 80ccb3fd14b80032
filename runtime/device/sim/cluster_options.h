// Options of the embedded device that make it a cluster: chips with Ethernet links between them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/sim/topology.h"

namespace ttfd {

// The chips of a device text. Without cluster=: one.
struct ClusterPlan {
  sim::Topology topology;
  uint32_t latency = 800;        // of a link, clocks
  uint32_t threads = 1;          // that run the chips
  std::vector<uint32_t> remote;  // chips without a PCIe port, ascending
};

// Options as they are written, not yet compared with each other.
class ClusterText {
 public:
  static bool IsKey(std::string_view key);
  // INVALID_ARGUMENT: a value that the key cannot have.
  Status Set(std::string_view key, std::string_view value);
  // Makes the plan for chips with these Ethernet channels (one bit each). Reads the file of links. INVALID_ARGUMENT
  // names the link or the option; NOT_FOUND: there is no such file.
  StatusOr<ClusterPlan> Resolve(uint32_t channels) const;

 private:
  StatusOr<sim::Topology> Grid(std::string_view rows, std::string_view columns,
                               uint32_t channels) const;
  Status SetRemote(std::string_view value);

  std::string cluster_;  // "2x4", or the path of a file
  std::string wrap_;     // none, x, y, both; empty: not given
  uint32_t links_ = 0;   // 0: not given
  ClusterPlan rest_;
  bool any_ = false;  // options but cluster=
};

// Lines of "CHIP.CHANNEL CHIP.CHANNEL", one a link; # begins a comment. INVALID_ARGUMENT names the line.
StatusOr<sim::Topology> ParseTopology(std::string_view text);

}  // namespace ttfd
