// A packed graph on the card: its program, its buffers, its launches.
#pragma once

#include <cstdint>
#include <vector>

#include "client/graph/src/description.h"
#include "client/graph/src/packing.h"
#include "client/graph/src/placement.h"
#include "client/graph/src/run_control.h"
#include "firmware/graph/layout.h"
#include "ttfd/session.h"

namespace ttfd::graph {

class CardGraph {
 public:
  // All outlive this.
  CardGraph(client::Session& session, const Placement& placement, const GraphOptions& options,
            RunControl& control)
      : session_(session), placement_(placement), options_(options), control_(control) {}

  // Blocks of records that fit the scheduler's tile.
  uint32_t WindowBlocks() const;

  // Uploads the graph on the queue, and makes the program if it has other functions or another window.
  Status Load(const Description& graph, const PackedGraph& packed, client::Queue& queue);
  // REQUIRES Load, as the next. The launch of run number `run`; 0: of one that cannot be cancelled.
  const client::LaunchRequest& LaunchAs(uint32_t run);
  // The same with a timeline in `log`.
  client::LaunchRequest TimedLaunchAs(uint32_t run, const client::Buffer& log);
  void SetBuffer(uint32_t index, uint64_t handle);

 private:
  Status LoadOwnKernels();
  // Adds followers, where there are parts for their harts, and the kernels of the functions.
  void AddFunctions(const Description& graph, client::ProgramBuilder* builder);
  Status MakeProgram(const Description& graph, uint32_t window);
  Status LoadConfigurations(const Description& graph, client::Queue& queue);
  void MakeLaunch(const Description& graph, const PackedGraph& packed);

  client::Session& session_;
  const Placement& placement_;
  const GraphOptions& options_;
  RunControl& control_;
  // The follower of a hart, if the graph has one.
  struct Follower {
    uint32_t kernel = 0;  // index in the program
    layout::FollowerWords words = {};
  };

  std::vector<client::Kernel> own_;  // in the order of their names, kOwnNames
  std::vector<Follower> followers_;
  client::Program program_;
  size_t functions_ = 0;  // of the program
  uint32_t window_ = 0;   // blocks that its scheduler has space for
  uint32_t arena_ = 0;    // bytes for circular buffers of configurations
  client::Buffer records_;
  client::Buffer configurations_;  // none, if no task has one
  client::LaunchRequest launch_;
  std::vector<uint32_t> schedule_;  // words of the scheduler and the streamer
  uint32_t first_buffer_ = 0;       // word of the workers that is the address of the first buffer
};

}  // namespace ttfd::graph
