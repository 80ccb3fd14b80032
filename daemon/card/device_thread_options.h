// Options of the device thread itself; CardExecutorOptions has those of each card.
#pragma once

#include <functional>

#include "runtime/base/clock.h"
#include "runtime/base/role_cpu_clock.h"

namespace ttfd {

struct DeviceThreadOptions {
  // Longest sleep of the idle device thread, so that its heartbeat continues (systemd's watchdog reads it).
  Duration idle_tick = std::chrono::seconds(2);
  // How long to look for new work before sleeping: a wake costs 7 us to give and 23 us until it is felt.
  Duration spin = Duration::zero();
  // The cards' time, which stops while a debugger has stopped a card: what its timeouts are measured
  // with. Null: the thread's own clock. Outlives the thread.
  Clock* device_clock = nullptr;
  // The clock that slices are charged by. A device that runs on the device thread stops when the thread does, and no
  // user pays for that. Null: the cards' time. Outlives the thread.
  RoleCpuClock* work_clock = nullptr;
  // Device thread, when it has nothing to do: serves a debugger that shares it. True: it is to be called
  // again at once.
  std::function<bool()> serve_debugger;
  // Device thread, once when it starts.
  std::function<void()> on_thread_start;
  // The calling thread has the role of the device thread from here on, or has it no more (DeviceThread::RunBorrowed).
  std::function<void(bool taken)> on_role;
  // At the end of every round in which sessions received something; idle: nothing else to do.
  std::function<void(bool idle)> on_round_end;
};

// Clocks that time is measured with.
struct CardClocks {
  Clock& host;
  Clock& device;  // DeviceThreadOptions::device_clock
  Clock& work;    // DeviceThreadOptions::work_clock
};

}  // namespace ttfd
