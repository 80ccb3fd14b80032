// The queues of instructions before a tile's Tensix engine, one a thread, with the hazard "compute" only.
//
// Owned by the tile's ComputeUnit, which decides when a thread goes on and which harts wait. A thread's instructions are
// executed in order, those of different threads in any. A wait (STALLWAIT, SEMWAIT) is latched in the thread's gate:
// instructions of units that it does not name pass, the first one of a unit that it names, and the next wait, are held
// back until its condition holds. Source: tt-isa-documentation BlackholeA0/TensixTile/TensixCoprocessor/STALLWAIT.md.
#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "runtime/hw/tensix_isa.h"
#include "runtime/sim/chance.h"
#include "runtime/sim/tensix/engine.h"

namespace ttfd::sim {

class ComputeQueue {
 public:
  // A queue takes an instruction while it holds at most this many: TensixCoprocessor/README.md.
  static constexpr size_t kMostForPush = 28;

  struct Entry {
    uint32_t instruction = 0;
    uint32_t hart = 0;  // that pushed it,
    uint32_t pc = 0;    // and where
  };
  // An instruction that does not go on, and the events (tensix/report.h) of which it needs one.
  struct Wait {
    uint32_t events = 0;  // 0: none
    uint32_t instruction = 0;
  };
  enum class Step : uint8_t { kDone, kHeld, kRefused };

  // `engine` outlives the queues.
  ComputeQueue(tensix::Engine& engine, Chance chance)
      : engine_(engine), chance_(chance), slow_(chance_.Below(hw::tensix::kThreads + 1)) {}

  bool HasSpace(uint32_t thread) const { return threads_[thread].queue.size() <= kMostForPush; }
  // Nothing is queued and no wait is latched.
  bool IsDrained(uint32_t thread) const {
    return threads_[thread].queue.empty() && threads_[thread].latched.instruction == 0;
  }
  // There is something that may go on.
  bool IsReady(uint32_t thread) const {
    return !IsDrained(thread) && threads_[thread].wait.events == 0;
  }
  // REQUIRES HasSpace().
  void Push(uint32_t thread, const Entry& entry) { threads_[thread].queue.push_back(entry); }

  // Executes the next instruction of a thread that is ready. kRefused: the engine's report says why, at() what.
  Step Execute(uint32_t thread);
  const Entry& at() const { return at_; }

  const Wait& wait(uint32_t thread) const { return threads_[thread].wait; }
  // The threads, one bit each, that these events let go on.
  uint32_t Wake(uint32_t events);

  // Clocks until a thread goes on, and how many instructions it executes then.
  uint64_t Pause(uint32_t thread);
  uint32_t Burst() { return 1 + chance_.Below(kLongestBurst); }

 private:
  static constexpr uint32_t kLongestBurst = 16;
  static constexpr uint64_t kSlowness = 8;

  struct Thread {
    std::deque<Entry> queue;
    Entry latched;  // instruction 0: none
    Wait wait;
  };
  Step Latch(Thread& at, uint32_t thread);
  Step PassGate(Thread& at, uint32_t thread);
  Step Hold(Thread& at, uint32_t instruction);

  tensix::Engine& engine_;
  Chance chance_;
  const uint32_t slow_;  // a thread that takes its time; kThreads: none
  std::array<Thread, hw::tensix::kThreads> threads_;
  Entry at_;
};

}  // namespace ttfd::sim
