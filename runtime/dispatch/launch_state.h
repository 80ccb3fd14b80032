// Everything about launches that outlasts one of them: sub-devices, kernel cache, launch and config
// rings, layouts. Device-global: the workers are one set, whichever hardware queue launches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/command/card_geometry.h"
#include "runtime/command/command.h"
#include "runtime/command/route.h"
#include "runtime/command/trace_layout.h"
#include "runtime/dispatch/card_queues.h"
#include "runtime/dispatch/kernel_cache.h"
#include "runtime/dispatch/launch_layouts.h"
#include "runtime/dispatch/print_rings.h"
#include "runtime/dispatch/worker_sets.h"

namespace ttfd {

class LaunchState {
 public:
  // All outlive this.
  LaunchState(const CardGeometry& card, CardQueues& queues, PrintRings& prints);

  // As after boot number `boot`, counted from 1.
  void Restart(uint32_t boot);

  // Streams of the kernels that a transfer of this route waits for.
  Ordering::StreamMask KernelsOf(const Route& route) const;

  // Encodes a launch: program N+1 is placed while N runs, and waits only for what it overwrites.
  // REQUIRES CheckLaunch. RESOURCE_EXHAUSTED, nothing sent, if traces hold too much of the kernel caches.
  Status Launch(const Route& route, const LaunchCommand& command);
  // REQUIRES a route and a region as RecordTraceCommand has it. RESOURCE_EXHAUSTED likewise.
  Status Record(const Route& route, const RecordTraceCommand& command);
  // REQUIRES CheckTracePatch of every patch, and a trace that was recorded.
  Status Replay(const Route& route, const ReplayTraceCommand& command);

  // A launch on all workers that runs no kernel.
  Status LaunchNothing(const Route& route);

  // Most bytes of records with which workers change hands before a launch of this route; `number`: of the
  // sub-device, where it has to be a certain one.
  uint64_t MaxEnterBytes(const Route& route, std::optional<uint32_t> number) const;
  const KernelCache& kernels() const { return cache_; }
  // Must the trace be put into device memory first?
  bool NeedsPlacing(const Trace& trace) const { return trace.boot != boot_; }

 private:
  // Makes the route's workers a sub-device of its hardware queue; returns the number.
  StatusOr<uint32_t> Enter(const Route& route, std::optional<uint32_t> number);
  Status Rearrange(uint32_t hardware_queue, const TileSet& tiles, const WorkerSets::Change& change);
  const TileSet& WorkersOf(const Route& route) const {
    return route.workers.none() ? sets_.all() : route.workers;
  }
  // What the launches of these sets wait to have ended.
  WorkerCounts LaunchedOn(uint32_t sets) const;
  // What the host knows to have ended.
  WorkerCounts Ended() const;
  // A launch whose layout, set and images are decided.
  struct Prepared {
    const Program& program;
    const LaunchRecords& records;
    std::span<const KernelArguments> arguments;
    uint32_t set = 0;
    std::vector<uint32_t> image_addresses;
    bool new_code = false;
    uint32_t print_tag = 0;
  };
  Status Send(const Route& route, const Prepared& launch, const KernelCache::Placement* images);
  // A launch that runs nothing but drops the instruction caches of the program's workers.
  Status DropInstructionCaches(const Route& route, uint32_t set, const Program& program);
  Status PlaceTrace(const Route& route, const std::shared_ptr<Trace>& trace);
  // Gives the trace's kernels places for good. RESOURCE_EXHAUSTED: none of them.
  Status PinImages(const Route& route, const std::shared_ptr<Trace>& trace,
                   std::vector<KernelCache::Placement>* placements);
  // `print_tag`: of its first launch.
  Status PatchTrace(const Route& route, const ReplayTraceCommand& command, uint32_t print_tag);
  // Has the prints of the command that is being encoded taken; the tag of its first launch, or 0.
  uint32_t ExpectPrints(const Route& route, std::vector<PrintRings::Launch> launches);
  uint32_t ExpectPrints(const Route& route, const Trace& trace);
  // Sends bytes [begin, end) of the shadow.
  Status WriteTrace(const Route& route, Trace& trace, uint64_t begin, uint64_t end);

  const CardGeometry& card_;
  CardQueues& queues_;
  PrintRings& prints_;
  KernelCache cache_;
  WorkerSets sets_;
  LaunchLayouts layouts_;
  uint32_t boot_ = 0;
  // The last time workers changed hands, by whom.
  uint32_t rearranged_by_ = 0;
  Ordering::Mark rearranged_;
};

}  // namespace ttfd
