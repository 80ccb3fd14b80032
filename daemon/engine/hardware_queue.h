// What the device thread keeps of one hardware queue of the card.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include "daemon/engine/busy_workers.h"
#include "daemon/engine/device_state.h"
#include "daemon/engine/work.h"
#include "runtime/base/clock.h"
#include "runtime/dispatch/dispatcher.h"

namespace ttfd {

// Since when a work could run, and whether it moves.
struct Watch {
  bool begun = false;    // nothing on its hardware queue that it waits for is left
  TimePoint began;       // since then
  TimePoint work_began;  // the same by the clock that works are charged by
  TimePoint progress;    // the last sign of life
  bool waited = false;   // on the card for another hardware queue, when its time was over
  bool looked = false;   // at the card itself, since then
  uint64_t look = 0;     // what it showed

  void Begin(TimePoint now, TimePoint work_now) {
    *this = Watch();
    begun = true;
    began = progress = now;
    work_began = work_now;
  }
};

struct WorkInFlight {
  Work work;
  uint64_t ticket = 0;
  uint64_t turn = 0;          // of its submission, over all hardware queues
  std::vector<Ticket> after;  // of other queues: the device does not begin before them
  Watch watch = {};
};

// Device thread only, but for what GetStatus reads.
struct HardwareQueue {
  HardwareQueue(uint32_t its_index, WorkQueue& its_order, Duration apart_window)
      : index(its_index), order(its_order), busy(apart_window) {}

  const uint32_t index;
  WorkQueue& order;  // of what waits for its turn

  std::deque<Work> again;  // were on the card when it was reset, and go before all others
  Work held;               // popped, waits for room in the rings or for what may not run beside it
  bool holding = false;
  Watch held_watch;                    // while nothing of the queue is on the card
  std::deque<WorkInFlight> in_flight;  // in the order of their tickets
  Duration in_flight_cost{};           // of those that everybody waits for
  BusyWorkers busy;                    // with the others: kernels apart
  // The last ticket but for those of kernels apart, if no event has been asked for it; 0: all have theirs.
  uint64_t uncovered = 0;

  std::atomic<uint32_t> shown_in_flight{0};
  std::atomic<uint32_t> shown_waiting{0};    // for their turn
  std::atomic<uint64_t> shown_completed{0};  // works, since the daemon started
  std::atomic<uint64_t> shown_busy_ns{0};    // device time of works that have ended, since then
  // Device time of works on the card, at the last reading. 0 after any has ended.
  std::atomic<uint64_t> shown_running_ns{0};

  // Any thread.
  HardwareQueueStats Stats() const {
    constexpr auto kRelaxed = std::memory_order_relaxed;
    return {index, shown_in_flight.load(kRelaxed), shown_completed.load(kRelaxed),
            shown_waiting.load(kRelaxed),
            shown_busy_ns.load(kRelaxed) + shown_running_ns.load(kRelaxed)};
  }
  // Works have ended that took `time` of the device.
  void AddBusy(Duration time) {
    shown_running_ns.store(0, std::memory_order_relaxed);
    shown_busy_ns.fetch_add(static_cast<uint64_t>(std::chrono::nanoseconds(time).count()),
                            std::memory_order_relaxed);
  }
  void ShowDepths() {
    shown_in_flight.store(static_cast<uint32_t>(in_flight.size()), std::memory_order_relaxed);
    shown_waiting.store(static_cast<uint32_t>(order.size()), std::memory_order_relaxed);
  }
  void ShowRunning(TimePoint work_now) {
    const bool running = !in_flight.empty() && in_flight.front().watch.begun;
    const Duration ran = running ? work_now - in_flight.front().watch.work_began : Duration(0);
    shown_running_ns.store(static_cast<uint64_t>(std::chrono::nanoseconds(ran).count()),
                           std::memory_order_relaxed);
  }
  bool idle() const { return in_flight.empty() && !holding && again.empty() && order.empty(); }
  size_t in_order() const { return in_flight.size() - busy.works(); }
  // Nothing is left on the card.
  void ClearInFlight() {
    in_flight.clear();
    shown_running_ns.store(0, std::memory_order_relaxed);
    in_flight_cost = Duration::zero();
    busy.Clear();
    uncovered = 0;
  }
};

}  // namespace ttfd
