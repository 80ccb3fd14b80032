// Everything about launches that outlasts one of them: kernel cache, config ring, launch slots, go
// table. Device-global: the workers are one set, whoever launches.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/abi/launch.h"
#include "runtime/base/status.h"
#include "runtime/command/card_geometry.h"
#include "runtime/command/command.h"
#include "runtime/command/ordering.h"
#include "runtime/command/record_sink.h"
#include "runtime/dispatch/config_ring.h"
#include "runtime/dispatch/go_table.h"
#include "runtime/dispatch/kernel_cache.h"

namespace ttfd {

class LaunchState {
 public:
  // `card` and `ordering` outlive this.
  LaunchState(const CardGeometry& card, Ordering& ordering);

  // As after a boot.
  void Clear();

  // Encodes a launch: program N+1 is placed while N runs, and waits only for what it overwrites.
  // REQUIRES CheckArguments.
  Status Launch(const LaunchCommand& command, RecordSink& sink);

 private:
  const CardGeometry& card_;
  Ordering& ordering_;
  KernelCache cache_;
  ConfigRing config_;
  GoTable go_;
  uint64_t launches_ = 0;
  // [launch % slots]: worker count at which the launch has ended.
  std::array<uint64_t, abi::kLaunchSlots> slot_busy_workers_{};
  std::vector<uint32_t> worker_xy_;  // scratch of Launch
};

}  // namespace ttfd
