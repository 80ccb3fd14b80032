// Options of the cards of a device thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "daemon/hang/hang_report.h"
#include "runtime/base/clock.h"

namespace ttfd {

struct CardExecutorOptions {
  // Estimated device time a hardware queue is given ahead of completion: what a newcomer waits for at most, besides
  // one command. Independent launches do not count.
  Duration window = std::chrono::microseconds(100);
  // A single slice that is expected to take no longer than this has another one after it all the same, so that the
  // card need not wait for the host between the two.
  Duration overlap = std::chrono::microseconds(500);
  // The same as `window` for the kernels of a session on workers of its own: what it may have there ahead of
  // completion. They run next to those of other sessions; but behind one of them the card waits with another.
  Duration independent_window = std::chrono::milliseconds(1);
  // Commands of a hardware queue ahead of completion, however cheap.
  size_t window_commands = 512;
  uint32_t boot_attempts = 2;  // of one recovery, before the device counts as lost for good
  // Keeper that receives hang reports; null: they are only logged. Outlives the executors.
  HangKeeper* hangs = nullptr;
};

}  // namespace ttfd
