// Workers, status words, and the ranges of buffers.
#include "runtime/card/bounds_layout.h"

#include "runtime/abi/hart_status.h"
#include "runtime/abi/l1_map.h"

namespace ttfd {

KernelBounds::Layout BoundsOf(const BootPlan& plan, const CardDescription& card) {
  KernelBounds::Layout layout;
  for (uint32_t worker = 0; worker < plan.worker_count(); ++worker) {
    layout.workers.push_back(plan.WorkerTile(worker));
  }
  layout.program_address = abi::kHartStatusAddress + offsetof(abi::HartStatus, command);
  layout.l1_begin = card.l1_base;
  layout.dram_begin = card.dram_base;
  return layout;
}

}  // namespace ttfd
