// Looks for faults of harts on a card that does not report them.
#include "runtime/card/fault_watch.h"

#include <algorithm>
#include <memory>
#include <string>

#include "runtime/abi/hart_status.h"
#include "runtime/abi/l1_map.h"
#include "runtime/boot/hart_state.h"

namespace ttfd {

Status FaultWatch::Look(bool restart) {
  if (restart) Restart();
  if (restart || device_.info().reports_quiescence) return OkStatus();
  if (next_ == TimePoint()) {
    wait_ = kFirst;
    next_ = clock_.Now() + wait_;
  }
  if (clock_.Now() < next_) return OkStatus();
  RETURN_IF_ERROR(CheckCard());
  wait_ = std::min(2 * wait_, kLongest);
  next_ = clock_.Now() + wait_;
  return OkStatus();
}

Status FaultWatch::CheckCard() {
  for (const BootPlan& plan : plans_) {
    const uint32_t queue = plan.block.hardware_queue;
    RETURN_IF_ERROR(CheckTile(plan.prefetch_tile, PrefetchTileName(queue), 1));
    RETURN_IF_ERROR(CheckTile(plan.dispatch_tile, DispatchTileName(queue), 2));
  }
  const BootPlan& plan = plans_.front();
  for (uint32_t worker = 0; worker < plan.worker_count(); ++worker) {
    RETURN_IF_ERROR(CheckTile(plan.WorkerTile(worker), "worker", hw::kHarts));
  }
  return OkStatus();
}

Status FaultWatch::CheckTile(hw::Coordinate tile, std::string_view role, uint32_t harts) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Window> window, device_.OpenWindow(UnicastTarget(tile)));
  for (uint32_t hart = 0; hart < harts; ++hart) {
    const uint64_t status = abi::kHartStatusAddress + hart * abi::kHartStatusBytes;
    ASSIGN_OR_RETURN(const uint32_t state,
                     ReadWord(*window, status + offsetof(abi::HartStatus, state)));
    if (state != abi::kHartFaulted) continue;
    abi::HartStatus fault{};
    RETURN_IF_ERROR(window->Read(status, MutableBytesOf(fault)));
    return Error(StatusCode::kFailedPrecondition, "{} at tile ({},{}) {} reports a fault: {}", role,
                 tile.x, tile.y, HartName(hart), DescribeFault(fault));
  }
  return OkStatus();
}

}  // namespace ttfd
