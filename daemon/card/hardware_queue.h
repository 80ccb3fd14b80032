// State that the device thread keeps of one hardware queue of the card.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include "daemon/api/device_state.h"
#include "daemon/card/busy_workers.h"
#include "daemon/card/scheduler.h"
#include "daemon/session/session.h"
#include "runtime/base/clock.h"
#include "runtime/card/card.h"

namespace ttfd {

// Since when a slice could run, and whether it moves.
struct Watch {
  bool begun = false;    // nothing on its hardware queue that it waits for is left
  TimePoint began;       // since then
  TimePoint work_began;  // the same by the clock that slices are charged by
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

struct SubmittedSlice {
  std::shared_ptr<Session> session;  // null: its command has failed already
  Slice slice;
  uint64_t ticket = 0;
  uint64_t turn = 0;          // of its submission, over all hardware queues
  std::vector<Ticket> after;  // of other queues: the device does not begin before them
  Watch watch = {};
  bool ended = false;  // while slices are retired
};

// Device thread only, but for what GetStatus reads.
struct HardwareQueue {
  HardwareQueue(uint32_t its_index, Scheduler& its_scheduler, Duration independent_window)
      : index(its_index), scheduler(its_scheduler), busy(independent_window) {}

  const uint32_t index;
  Scheduler& scheduler;

  // The queue whose next slice the card has no space for, or refuses with an error; null: there is none.
  SessionQueue* refused = nullptr;
  std::shared_ptr<Session> refused_session;  // of it
  Watch refused_watch;                       // while nothing of the hardware queue is on the card
  std::deque<SubmittedSlice> in_flight;      // in the order of their tickets
  Duration in_flight_cost{};                 // of those that everybody waits for
  BusyWorkers busy;                          // with the others: independent kernels
  // The last ticket but for those of independent kernels, if no event has been asked for it; 0: all have theirs.
  uint64_t uncovered = 0;

  std::atomic<uint32_t> shown_in_flight{0};
  std::atomic<uint32_t> shown_waiting{0};    // queues of sessions whose next slice waits
  std::atomic<uint64_t> shown_completed{0};  // slices, since the daemon started
  std::atomic<uint64_t> shown_busy_ns{0};    // device time of slices that have ended, since then
  // Device time of slices on the card, at the last reading. 0 after any has ended.
  std::atomic<uint64_t> shown_running_ns{0};

  // Any thread.
  HardwareQueueStats Stats() const {
    constexpr auto kRelaxed = std::memory_order_relaxed;
    return {index, shown_in_flight.load(kRelaxed), shown_completed.load(kRelaxed),
            shown_waiting.load(kRelaxed),
            shown_busy_ns.load(kRelaxed) + shown_running_ns.load(kRelaxed)};
  }
  // Slices have ended that took `time` of the device.
  void AddBusy(Duration time) {
    shown_running_ns.store(0, std::memory_order_relaxed);
    shown_busy_ns.fetch_add(static_cast<uint64_t>(std::chrono::nanoseconds(time).count()),
                            std::memory_order_relaxed);
  }
  void ShowDepths() {
    shown_in_flight.store(static_cast<uint32_t>(in_flight.size()), std::memory_order_relaxed);
    shown_waiting.store(static_cast<uint32_t>(scheduler.size()), std::memory_order_relaxed);
  }
  void ShowRunning(TimePoint work_now) {
    const bool running = !in_flight.empty() && in_flight.front().watch.begun;
    const Duration ran = running ? work_now - in_flight.front().watch.work_began : Duration(0);
    shown_running_ns.store(static_cast<uint64_t>(std::chrono::nanoseconds(ran).count()),
                           std::memory_order_relaxed);
  }
  bool idle() const { return in_flight.empty() && scheduler.empty(); }
  size_t in_order() const { return in_flight.size() - busy.slices(); }
  Slice* refused_slice() const { return refused == nullptr ? nullptr : refused->slices.next(); }
  // Nothing is left on the card.
  void ClearInFlight() {
    in_flight.clear();
    shown_running_ns.store(0, std::memory_order_relaxed);
    in_flight_cost = Duration::zero();
    busy.Clear();
    uncovered = 0;
  }
};

using HardwareQueues = std::array<HardwareQueue, kHardwareQueues>;

}  // namespace ttfd
