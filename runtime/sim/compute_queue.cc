// The order in which queued instructions reach the engine.
#include "runtime/sim/compute_queue.h"

#include "runtime/sim/tensix/disassemble.h"

namespace ttfd::sim {
namespace {

namespace isa = hw::tensix;

bool IsWait(uint32_t instruction) {
  const uint32_t opcode = isa::OpcodeOf(instruction);
  return opcode == isa::STALLWAIT::kOpcode || opcode == isa::SEMWAIT::kOpcode;
}

// Units that a wait holds back: the same field in both kinds.
uint32_t UnitsHeldBy(uint32_t wait) { return isa::STALLWAIT{wait}.stall_res(); }

// The bits of stall_res of which one holds back an instruction.
uint32_t HeldByOneOf(uint32_t instruction) {
  switch (tensix::UnitOf(instruction)) {
    case isa::Unit::kAdc:
      return isa::kStallTdma;
    case isa::Unit::kSync:
      return isa::kStallSync;
    case isa::Unit::kPack:
      return isa::kStallTdma | isa::kStallPack;
    case isa::Unit::kUnpack:
      return isa::kStallTdma | isa::kStallUnpack;
    case isa::Unit::kMover:
      return isa::kStallTdma | isa::kStallMover;
    case isa::Unit::kThcon:
      return isa::kStallTdma | isa::kStallThcon;
    case isa::Unit::kMath:
      return isa::kStallMath;
    case isa::Unit::kConfig:
      return isa::kStallConfig;
    case isa::Unit::kSfpu:
      return isa::kStallSfpu;
    case isa::Unit::kFrontEnd:
      break;
  }
  return 0;
}

}  // namespace

ComputeQueue::Step ComputeQueue::Hold(Thread& at, uint32_t instruction) {
  at.wait = {engine_.report().waits_for, instruction};
  return Step::kHeld;
}

// The wait in the gate ends, or holds the thread back.
ComputeQueue::Step ComputeQueue::PassGate(Thread& at, uint32_t thread) {
  if (at.latched.instruction == 0) return Step::kDone;
  if (engine_.Push(thread, at.latched.instruction) == tensix::Outcome::kWaits) {
    return Hold(at, at.latched.instruction);
  }
  at.latched = {};
  return Step::kDone;
}

// The next instruction is a wait, and there is none in the gate.
ComputeQueue::Step ComputeQueue::Latch(Thread& at, uint32_t thread) {
  at_ = at.queue.front();
  if (engine_.Push(thread, at_.instruction) == tensix::Outcome::kRefused) return Step::kRefused;
  at.latched = at_;
  at.queue.pop_front();
  return Step::kDone;
}

ComputeQueue::Step ComputeQueue::Execute(uint32_t thread) {
  Thread& at = threads_[thread];
  if (at.queue.empty()) return PassGate(at, thread);  // a thread is drained when its wait is over
  const uint32_t next = at.queue.front().instruction;
  const bool waits = IsWait(next);
  if (waits || (HeldByOneOf(next) & UnitsHeldBy(at.latched.instruction)) != 0) {
    if (PassGate(at, thread) == Step::kHeld) return Step::kHeld;
  }
  if (waits) return Latch(at, thread);
  at_ = at.queue.front();
  const tensix::Outcome outcome = engine_.Push(thread, next);
  if (outcome == tensix::Outcome::kWaits) return Hold(at, next);
  if (outcome == tensix::Outcome::kRefused) return Step::kRefused;
  at.queue.pop_front();
  return Step::kDone;
}

uint32_t ComputeQueue::Wake(uint32_t events) {
  uint32_t woken = 0;
  for (uint32_t thread = 0; thread < isa::kThreads; ++thread) {
    Wait& wait = threads_[thread].wait;
    if ((wait.events & events) == 0) continue;
    wait = {};
    woken |= 1u << thread;
  }
  return woken;
}

uint64_t ComputeQueue::Pause(uint32_t thread) {
  return 1 + Delay(chance_) * (thread == slow_ ? kSlowness : 1);
}

}  // namespace ttfd::sim
