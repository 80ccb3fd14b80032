// The queues of instructions before a tile's Tensix engine, one a thread, with the hazard "compute" only.
//
// Owned by the tile's ComputeUnit, which decides when a thread continues and which harts wait. The instructions of a
// thread are executed in order, those of different threads in any. A wait (STALLWAIT, SEMWAIT) is latched in the
// thread's gate: instructions of units that it does not name pass; the first one of a unit that it names, and the next
// wait, are held back until its condition holds. Instructions and accesses that depend on unsettled ones are refused
// (Unsettled). Source: tt-isa-documentation BlackholeA0/TensixTile/TensixCoprocessor/STALLWAIT.md.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>

#include "runtime/hw/tensix_isa.h"
#include "runtime/sim/fault.h"
#include "runtime/sim/hazards.h"
#include "runtime/sim/rng.h"
#include "runtime/sim/tensix/engine.h"
#include "runtime/sim/tensix/footprint.h"
#include "runtime/sim/unsettled.h"

namespace ttfd::sim {

class ComputeQueue {
 public:
  // A queue takes an instruction while it holds at most this many: TensixCoprocessor/README.md.
  static constexpr size_t kMostForPush = 28;

  struct Entry {
    uint32_t instruction = 0;
    uint32_t hart = 0;    // that pushed it,
    uint32_t pc = 0;      // and where
    uint64_t pushed = 0;  // when, by Unsettled::Next(): Push() sets it
  };
  // An instruction that is held back, and the events (tensix/report.h) of which it needs one.
  struct Wait {
    uint32_t events = 0;  // 0: none
    uint32_t instruction = 0;
  };
  enum class Step : uint8_t { kDone, kHeld, kRefused };

  // `engine` outlives the queues.
  ComputeQueue(tensix::Engine& engine, const HazardOptions& hazards, Rng rng)
      : engine_(engine),
        rng_(rng),
        slow_(rng_.Below(hw::tensix::kThreads + 1)),
        unsettled_((hazards.on & kHazardStores) != 0) {}

  bool HasSpace(uint32_t thread) const { return threads_[thread].queue.size() <= kMostForPush; }
  bool IsEmpty(uint32_t thread) const { return threads_[thread].queue.empty(); }
  // Nothing is queued, no wait is latched, and the last instruction has had time to be over.
  bool IsDrained(uint32_t thread) const {
    return IsEmpty(thread) && threads_[thread].latched.instruction == 0 && !threads_[thread].busy;
  }
  // The next instruction may be executed.
  bool IsReady(uint32_t thread) const {
    return !IsDrained(thread) && threads_[thread].wait.events == 0;
  }
  // REQUIRES HasSpace().
  void Push(uint32_t thread, const Entry& entry);

  // Executes the next instruction of a thread that is ready, or lets it be drained. kRefused: refusal() says why, at()
  // which one.
  Step Execute(uint32_t thread);
  const Entry& at() const { return at_; }
  const Refusal& refusal() const { return refusal_; }

  // Accesses of harts, which are not queued. `value`: that is stored, of a word of configuration or a GPR.
  Refusal Store(uint32_t hart, tensix::Resource resource, uint32_t index, uint32_t value);
  Refusal Load(uint32_t hart, tensix::Resource resource, uint32_t index);
  void Fence(uint32_t hart) { unsettled_.Fenced(hart); }
  // A hart has seen that the thread is drained.
  void EndDrain(uint32_t thread) { unsettled_.Drain(thread); }
  // An access to L1 that is not the engine's. `hart`: whose instruction is concerned, if it is refused.
  Refusal AccessL1(uint32_t address, uint32_t length, bool writes, uint32_t* hart);

  const Wait& wait(uint32_t thread) const { return threads_[thread].wait; }
  // The threads, one bit each, that these events let continue.
  uint32_t Wake(uint32_t events);

  // Clocks until a thread continues, and how many instructions it executes then.
  uint64_t Pause(uint32_t thread);
  uint32_t Burst() { return 1 + rng_.Below(kLongestBurst); }

 private:
  static constexpr uint32_t kLongestBurst = 16;
  static constexpr uint64_t kSlowness = 8;

  struct Thread {
    std::deque<Entry> queue;
    Entry latched;  // instruction 0: none
    Wait wait;
    bool busy = false;    // the last instruction may not be over
    uint64_t waited = 0;  // when it waited for a semaphore last
  };
  Step Latch(Thread& at, uint32_t thread);
  Step PassGate(Thread& at, uint32_t thread);
  Step Hold(Thread& at, uint32_t instruction);
  Step RefuseAs(uint32_t thread);
  Refusal MissingWait(uint64_t address);
  // An instruction of the hart's own thread, or that the hart has pushed, is going to use what the hart accesses.
  bool IsQueuedFor(uint32_t hart, tensix::Resource resource, uint32_t index, bool stores);
  bool IsQueuedFor(uint32_t hart, uint32_t thread, tensix::Resource resource, uint32_t index,
                   bool stores);

  tensix::Engine& engine_;
  Rng rng_;
  const uint32_t slow_;  // a thread that takes its time; kThreads: none
  std::array<Thread, hw::tensix::kThreads> threads_;
  Unsettled unsettled_;
  uint32_t transfers_ = 0;  // instructions in the queues that access L1
  Entry at_;
  Refusal refusal_;
  std::string text_;  // of the last one
};

}  // namespace ttfd::sim
