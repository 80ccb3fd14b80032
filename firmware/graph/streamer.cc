// The streamer of a task graph: brings blocks of records from DRAM into the window as tasks end. NCRISC of the
// scheduler's tile.
#include <ttfd/kernel.h>

#include "firmware/graph/layout.h"

using namespace ttfd::kernel;
namespace layout = ttfd::graph::layout;

namespace {

// Waits until so many blocks have been released. Returns false if the run was cancelled.
bool AwaitReleased(uint32_t at, uint32_t blocks) {
  ttfd::firmware::WaitForMemory(ttfd::abi::kWaypointSemaphore, [at, blocks] {
    const uint32_t released = ttfd::firmware::Load(at);
    return released == layout::kNoMore || static_cast<int32_t>(released - blocks) >= 0;
  });
  return ttfd::firmware::Load(at) != layout::kNoMore;
}

}  // namespace

void kernel_main() {
  const auto& words = CommonArguments<layout::ScheduleWords>();
  const uint32_t blocks = words.blocks;
  const uint32_t window = words.window;
  const InterleavedBuffer records(words.records, layout::kBlockBytes);
  const uint32_t begin = layout::WindowBegin(CircularBuffer(layout::kWindow).address());
  const uint32_t end = begin + window * layout::kBlockBytes;
  const Semaphore released(layout::kReleased);
  Semaphore loaded(layout::kLoaded);
  uint32_t to = begin;
  for (uint32_t block = 0; block != blocks + words.reach; ++block) {
    if (block >= window && !AwaitReleased(released.address(), block - window + 1)) return;
    if (block < blocks) {
      Read(records.Page(block), to, layout::kBlockBytes);
      ReadBarrier();
    }
    loaded.Set(block + 1);
    to += layout::kBlockBytes;
    if (to == end) to = begin;
  }
}
