// Everything about launches that outlasts one of them: sub-devices, kernel cache, launch and config
// rings, layouts. Device-global: the workers are one set, whichever hardware queue launches.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/base/staged.h"
#include "runtime/base/status.h"
#include "runtime/card/card_queues.h"
#include "runtime/card/kernel_cache.h"
#include "runtime/card/launch_layouts.h"
#include "runtime/card/print_rings.h"
#include "runtime/card/program_registry.h"
#include "runtime/card/trace_edit.h"
#include "runtime/card/worker_sets.h"
#include "runtime/command/card_geometry.h"
#include "runtime/command/command.h"
#include "runtime/command/launch_ring.h"
#include "runtime/command/route.h"
#include "runtime/command/trace_layout.h"

namespace ttfd {

class LaunchState {
 public:
  // All outlive this.
  LaunchState(const CardGeometry& card, CardQueues& queues, PrintRings& prints);

  // As after boot number `boot`, counted from 1.
  void Restart(uint32_t boot);

  // Streams of the kernels that a transfer of this route waits for.
  Ordering::StreamMask KernelsOf(const Route& route) const;

  // Plans, on the queues and here, the records of a launch: program N+1 is placed while N runs, and waits only for what
  // it overwrites. REQUIRES CheckLaunch. RESOURCE_EXHAUSTED, as of the next two: traces hold too much of the kernel
  // caches; the caller drops the plan.
  Status PlanLaunch(const Route& route, const LaunchCommand& command);
  // REQUIRES a route and a region as RecordTraceCommand has it.
  Status PlanRecord(const Route& route, const RecordTraceCommand& command);
  // REQUIRES CheckTracePatch of every patch, and a trace that was recorded. The patches outlive the plan.
  Status PlanReplay(const Route& route, const ReplayTraceCommand& command);
  // A launch on all workers that runs no kernel.
  void PlanNothing(const Route& route);

  // Commits the plan, which is sent as `ticket`. Returns what it wrote over in the host's copy of a trace, or null.
  std::unique_ptr<TraceUndo> Commit(const Ticket& ticket);
  void Drop();

  const Staged<KernelCache>& kernels() const { return cache_; }
  // Programs that were launched or put into a trace.
  const ProgramRegistry& programs() const { return programs_; }

 private:
  // Makes the route's workers a sub-device of its hardware queue; returns the number. `number`: which one it has to be.
  uint32_t PlanEnter(const Route& route, std::optional<uint32_t> number);
  void PlanRearrangement(uint32_t hardware_queue, const TileSet& tiles,
                         const WorkerSets::Change& change);
  // Hands the set to dispatch_s of the route's hardware queue.
  void PlanOwn(const Route& route, uint32_t number);
  const TileSet& WorkersOf(const Route& route) const {
    return route.workers.none() ? sets_->all() : route.workers;
  }
  // Worker counts once all launches on these sets have ended.
  WorkerCounts LaunchedOn(uint32_t sets) const;
  // Worker counts of the launches that the host has seen end.
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
  void PlanSend(const Route& route, const Prepared& launch, const KernelCache::Placement* images);
  // A launch that runs nothing but drops the instruction caches of the program's workers.
  void PlanDropOfInstructionCaches(const Route& route, uint32_t set, const Program& program);
  Status PlanPlacing(const Route& route);
  // Number of the sub-device that the trace's records name, if any does.
  std::optional<uint32_t> NumberOf(const Trace& trace) const;
  void PlanWrites(const Route& route);
  // Has the prints of the planned command taken; the tag of its first launch, or 0.
  uint32_t PlanPrints(std::vector<PrintRings::Launch> launches);
  uint32_t PlanPrints(const Trace& trace, const TraceSegment& segment);

  const CardGeometry& card_;
  CardQueues& queues_;
  PrintRings& prints_;
  LaunchLayouts layouts_;
  ProgramRegistry programs_;
  uint32_t boot_ = 0;
  Staged<KernelCache> cache_;
  Staged<WorkerSets> sets_;
  std::array<Staged<LaunchRing>, abi::kMaxSubDevices> rings_;
  // The last time workers changed hands, by whom.
  struct Rearranged {
    uint32_t by = 0;
    Ordering::Mark mark;
  };
  Staged<Rearranged> rearranged_;

  // Use of a program by the plan.
  struct Use {
    const Program* program = nullptr;
    uint32_t set = 0;
    uint64_t workers = 0;  // the set's count when it has ended
  };
  std::vector<Use> uses_;
  uint32_t print_tag_ = 0;
  std::vector<PrintRings::Launch> printing_;
  TraceEdit edit_;
};

}  // namespace ttfd
