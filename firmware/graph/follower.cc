// A follower of a worker of a task graph: calls a function's part for its hart when the worker begins the task. NCRISC
// and TRISC0 to TRISC2 of the worker's tile.
#include <ttfd/kernel.h>

#include "firmware/graph/layout.h"

using namespace ttfd::kernel;
namespace fw = ttfd::firmware;
namespace layout = ttfd::graph::layout;

void kernel_main() {
  const auto& words = CommonArguments<layout::FollowerWords>();
  Caller caller = Caller::WithArgumentsOf(
      ttfd::hw::kBrisc, offsetof(layout::WorkerWords, arguments) / 4, layout::kArguments);
  Note task(ttfd::abi::NoteKind('t', 'a', 's', 'k'));
  const uint32_t mailbox = CircularBuffer(layout::kMailbox).address();
  const uint32_t at = Semaphore(kHart).address();
  for (;;) {
    fw::WaitForMemory(ttfd::abi::kWaypointSemaphore, [at] { return fw::Load(at) != 0; });
    const uint32_t call = fw::Load(at);
    if ((call & 0xFF) == layout::kStop) return;
    const uint32_t slot = (call & ~layout::kWithConfiguration) >> 8;
    task.Set(fw::Load(mailbox + slot + offsetof(layout::Record, task)));
    const uint32_t callable = words.callable[(call & 0xFF) - 1];
    if ((call & layout::kWithConfiguration) != 0) {
      caller.CallWith(callable, layout::MessageAddress(
                                    CircularBuffer(Optional(layout::kConfiguration)).address()));
    } else {
      caller.Call(callable);
    }
    task.Clear();
    fw::Fence();  // what the part stored comes first
    fw::Store(at, 0);
  }
}
