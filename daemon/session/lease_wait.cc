// Which commands of a session without a lease wait because others lease workers.
#include "daemon/session/lease_wait.h"

#include <algorithm>
#include <variant>

namespace ttfd {
namespace {

// As LeaseGate::UseOf has it of the works of the task.
WorkerUse UseOf(const Task& task) {
  WorkerUse use;
  use.named = task.queue->track->route().workers;
  if (const auto* launch = std::get_if<LaunchTask>(&task.work)) {
    use.kernels = true;
    use.tiles = launch->program->tiles;
  }
  use.kernels = use.kernels || std::holds_alternative<RecordTraceTask>(task.work) ||
                std::holds_alternative<ReplayTraceTask>(task.work);
  return use;
}

}  // namespace

// Of each queue the first command with works that may not all be on the card: the others come after it.
std::optional<TileSet> BlockedByLeases(const std::map<uint32_t, CommandQueue>& queues,
                                       const LeaseGate& gate, bool settled) {
  std::optional<TileSet> blocked;
  for (const auto& [id, queue] : queues) {
    const auto first =
        std::find_if(queue.tasks.begin(), queue.tasks.end(), [settled](const auto& task) {
          return task->outstanding > 0 && (settled || !task->started());
        });
    if (first == queue.tasks.end() || (*first)->error) continue;
    const WorkerUse use = UseOf(**first);
    if (!gate.Blocks(use)) continue;
    const TileSet& needed = use.named.any() ? use.named : use.tiles;
    const bool all = needed.none() || (blocked && blocked->none());
    blocked = all ? TileSet() : blocked.value_or(TileSet()) | needed;
  }
  return blocked;
}

}  // namespace ttfd
