// What the device thread is told when it is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "daemon/hang/hang_report.h"
#include "runtime/base/clock.h"
#include "runtime/device/card_health.h"

namespace ttfd {

struct CardExecutorOptions {
  // Estimated device time a hardware queue is given ahead of completion: what a newcomer waits for at most, besides
  // one command.
  Duration window = std::chrono::microseconds(100);
  // A single work that is expected to take no longer than this has another one behind it all the same, so that the
  // card need not wait for the host between the two.
  Duration overlap = std::chrono::microseconds(500);
  // The same as `window` for the kernels of a session on workers of its own: what it may have there ahead of
  // completion. They run beside everybody else's; but behind one of them the card waits with another.
  Duration independent_window = std::chrono::milliseconds(1);
  // Commands of a hardware queue ahead of completion, however cheap.
  size_t window_commands = 512;
  // Longest sleep of the idle device thread, so that its heartbeat goes on (systemd's watchdog reads it).
  Duration idle_tick = std::chrono::seconds(2);
  // How long to look for new work before sleeping: a wake costs 7 us to give and 23 us until it is felt.
  Duration spin = Duration::zero();
  uint32_t boot_attempts = 2;  // of one recovery, before the device counts as lost for good
  // The card's time, which stands still while a debugger has stopped the card: what its timeouts are measured
  // with. Null: the executor's own clock. Outlives the executor.
  Clock* device_clock = nullptr;
  // What works are charged by, asked on the device thread. A device that runs on that thread stands still when the
  // thread does, and nobody is to pay for that. Null: the card's time. Outlives the executor.
  Clock* work_clock = nullptr;
  // What hang reports are given to; null: they are only logged. Outlives the executor.
  HangKeeper* hangs = nullptr;
  // Device thread, when it has nothing to do: looks after somebody who shares it (a debugger). True: wants to be
  // asked again at once.
  std::function<bool()> attend;
  // Device thread: there are sessions from now on, or none (Device::SetInUse).
  std::function<void(bool in_use)> set_in_use;
  // Device thread: Device::ReadHealth.
  std::function<std::optional<CardHealth>()> read_health = [] { return std::nullopt; };
  // Device thread, once when it starts and at the end of every round in which owners heard
  // something; idle: nothing else to do.
  std::function<void()> on_thread_start;
  std::function<void(bool idle)> on_round_end;
};

// What time is measured with.
struct CardClocks {
  Clock& host;
  Clock& device;  // CardExecutorOptions::device_clock
  Clock& work;    // CardExecutorOptions::work_clock
};

}  // namespace ttfd
