// Options of the device thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "daemon/api/device_state.h"
#include "daemon/hang/hang_report.h"
#include "runtime/base/clock.h"
#include "runtime/base/role_cpu_clock.h"

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
  // Longest sleep of the idle device thread, so that its heartbeat continues (systemd's watchdog reads it).
  Duration idle_tick = std::chrono::seconds(2);
  // How long to look for new work before sleeping: a wake costs 7 us to give and 23 us until it is felt.
  Duration spin = Duration::zero();
  uint32_t boot_attempts = 2;  // of one recovery, before the device counts as lost for good
  // The card's time, which stops while a debugger has stopped the card: what its timeouts are measured
  // with. Null: the executor's own clock. Outlives the executor.
  Clock* device_clock = nullptr;
  // The clock that slices are charged by. A device that runs on the device thread stops when the thread does, and no
  // user pays for that. Null: the card's time. Outlives the executor.
  RoleCpuClock* work_clock = nullptr;
  // Keeper that receives hang reports; null: they are only logged. Outlives the executor.
  HangKeeper* hangs = nullptr;
  // Device thread, when it has nothing to do: serves a debugger that shares it. True: it is to be called
  // again at once.
  std::function<bool()> serve_debugger;
  // Device thread: there are sessions from now on, or none (Device::SetInUse).
  std::function<void(bool in_use)> set_in_use;
  // Device thread.
  std::function<DeviceReading()> read_device = [] { return DeviceReading{}; };
  // Device thread, once when it starts.
  std::function<void()> on_thread_start;
  // The calling thread has the role of the device thread from here on, or has it no more (CardExecutor::RunBorrowed).
  std::function<void(bool taken)> on_role;
  // At the end of every round in which sessions received something; idle: nothing else to do.
  std::function<void(bool idle)> on_round_end;
};

// Clocks that time is measured with.
struct CardClocks {
  Clock& host;
  Clock& device;  // CardExecutorOptions::device_clock
  Clock& work;    // CardExecutorOptions::work_clock
};

}  // namespace ttfd
