// What the device thread keeps of one hardware queue of the card.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include "daemon/engine/work.h"
#include "runtime/base/clock.h"
#include "runtime/dispatch/dispatcher.h"

namespace ttfd {

struct WorkInFlight {
  Work work;
  uint64_t ticket = 0;
  uint64_t turn = 0;          // of its submission, over all hardware queues
  std::vector<Ticket> after;  // of other queues: the device does not begin before them
};

// Device thread only, but for what GetStatus reads.
struct HardwareQueue {
  HardwareQueue(uint32_t its_index, WorkQueue& its_order) : index(its_index), order(its_order) {}

  const uint32_t index;
  WorkQueue& order;  // of what waits for its turn

  std::deque<Work> again;  // were on the card when it was reset, and go before all others
  Work held;               // popped, waits for room in the rings or for what may not run beside it
  bool holding = false;
  std::deque<WorkInFlight> in_flight;
  Duration in_flight_cost{};  // of those that everybody waits for
  Duration apart_cost{};      // of the others: kernels on workers of their own
  uint64_t uncovered = 0;  // the last ticket, if no event has been asked for it; 0: all have theirs
  // Of what no event was asked for, something runs kernels on a sub-device: the dispatcher would wait for them
  // and hold up the work of other sub-devices, so the event is kept back until they have ended.
  bool apart = false;
  uint32_t count_in = 0;       // tries until the card is asked again whether they have
  TimePoint progress_time;     // of the last sign of life
  TimePoint retire_time;       // of the last completion
  TimePoint retire_work_time;  // the same by the clock that works are charged by
  bool looked = false;         // at the card itself, since then
  uint64_t look = 0;           // what it showed

  std::atomic<uint32_t> shown_in_flight{0};
  std::atomic<uint32_t> shown_waiting{0};    // for their turn
  std::atomic<uint64_t> shown_completed{0};  // works, since the daemon started
  std::atomic<uint64_t> shown_busy_ns{0};    // device time, since then

  bool idle() const { return in_flight.empty() && !holding && again.empty() && order.empty(); }
  Duration& CostOf(const Work& work) {
    return work.runs_kernels() && work.route.workers.any() ? apart_cost : in_flight_cost;
  }
  // The work at the head of the device's queue; null: none.
  const Work* head() const { return in_flight.empty() ? nullptr : &in_flight.front().work; }
};

}  // namespace ttfd
