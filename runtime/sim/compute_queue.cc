// The order in which queued instructions reach the engine.
#include "runtime/sim/compute_queue.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/hw/tensix.h"
#include "runtime/sim/tensix/disassemble.h"
#include "runtime/sim/tensix/opcodes.h"

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
  switch (tensix::OpcodeAt(instruction).unit) {
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

// False: it only waits, changes counters or computes in registers.
bool AccessesL1(uint32_t instruction) {
  const uint32_t opcode = isa::OpcodeOf(instruction);
  return opcode == isa::UNPACR::kOpcode || opcode == isa::PACR::kOpcode;
}

}  // namespace

void ComputeQueue::Push(uint32_t thread, const Entry& entry) {
  threads_[thread].queue.push_back(entry);
  threads_[thread].queue.back().pushed = unsettled_.Next();
  if (AccessesL1(entry.instruction)) ++transfers_;
}

// The engine refuses at_.
ComputeQueue::Step ComputeQueue::RefuseAs(uint32_t thread) {
  const tensix::Report& report = engine_.report();
  refusal_ = {FaultKind::kTensixInstruction, at_.instruction, report.reason, report.field, thread};
  return Step::kRefused;
}

Refusal ComputeQueue::MissingWait(uint64_t address) {
  return {FaultKind::kMissingWait, address, text_.c_str()};
}

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
  if (isa::OpcodeOf(at.latched.instruction) == isa::SEMWAIT::kOpcode) {
    at.waited = unsettled_.Next();
  } else {
    unsettled_.EndWait(thread, isa::STALLWAIT{at.latched.instruction}.wait_res(), engine_,
                       at.latched.pushed);
  }
  at.latched = {};
  return Step::kDone;
}

// The next instruction is a wait, and there is none in the gate.
ComputeQueue::Step ComputeQueue::Latch(Thread& at, uint32_t thread) {
  at_ = at.queue.front();
  if (engine_.Push(thread, at_.instruction) == tensix::Outcome::kRefused) return RefuseAs(thread);
  at.latched = at_;
  at.queue.pop_front();
  return Step::kDone;
}

ComputeQueue::Step ComputeQueue::Execute(uint32_t thread) {
  Thread& at = threads_[thread];
  if (at.queue.empty()) {
    at.busy = false;
    return PassGate(at, thread);
  }
  at.busy = true;
  const uint32_t next = at.queue.front().instruction;
  const bool waits = IsWait(next);
  if (waits || (HeldByOneOf(next) & UnitsHeldBy(at.latched.instruction)) != 0) {
    if (PassGate(at, thread) == Step::kHeld) return Step::kHeld;
  }
  if (waits) return Latch(at, thread);
  at_ = at.queue.front();
  tensix::Footprint footprint = tensix::FootprintOf(engine_, thread, next);
  const tensix::Outcome outcome = engine_.Push(thread, next);
  if (outcome == tensix::Outcome::kWaits) return Hold(at, next);
  if (outcome == tensix::Outcome::kRefused) return RefuseAs(thread);
  at.queue.pop_front();
  if (AccessesL1(next)) {
    --transfers_;
    const bool is_32_bit = engine_.config()[isa::kPackRead32Bit] != 0;
    tensix::AddTransfer(engine_.report(), is_32_bit, &footprint);
  }
  if (unsettled_.Execute(thread, next, footprint, std::max(at_.pushed, at.waited))) {
    return Step::kDone;
  }
  text_ = fmt::format("T{} {} {}", thread, tensix::Disassemble(next), unsettled_.report());
  refusal_ = MissingWait(next);
  return Step::kRefused;
}

bool ComputeQueue::IsQueuedFor(uint32_t hart, tensix::Resource resource, uint32_t index,
                               bool stores) {
  for (uint32_t thread = 0; thread < isa::kThreads; ++thread) {
    if (IsQueuedFor(hart, thread, resource, index, stores)) return true;
  }
  return false;
}

bool ComputeQueue::IsQueuedFor(uint32_t hart, uint32_t thread, tensix::Resource resource,
                               uint32_t index, bool stores) {
  for (const Entry& entry : threads_[thread].queue) {
    if (hart != hw::kTrisc0 + thread && hart != entry.hart) continue;
    const bool writes = tensix::Uses(entry.instruction, resource, index, true);
    if (!writes && !(stores && tensix::Uses(entry.instruction, resource, index, false))) continue;
    text_ = fmt::format(
        "{} {} {}, which T{} {}, still queued, is going to {}", stores ? "writes" : "reads",
        resource == tensix::Resource::kGpr ? "general register" : "configuration word", index,
        thread, tensix::Disassemble(entry.instruction), writes ? "write" : "read");
    return true;
  }
  return false;
}

Refusal ComputeQueue::Store(uint32_t hart, tensix::Resource resource, uint32_t index,
                            uint32_t value) {
  const bool is_config = resource == tensix::Resource::kConfig;
  const uint32_t thread = hart >= hw::kTrisc0 ? hart - hw::kTrisc0 : 0;
  const uint32_t old = is_config ? engine_.config().word(index) : engine_.gpr(thread, index);
  // A store of the same value disturbs no instruction.
  if (old != value) {
    if (IsQueuedFor(hart, resource, index, true)) return MissingWait(index);
    if (!unsettled_.Store(hart, resource, index)) {
      text_ = unsettled_.report();
      return MissingWait(index);
    }
  }
  if (is_config) unsettled_.StoredConfig(hart, index);
  return {};
}

Refusal ComputeQueue::Load(uint32_t hart, tensix::Resource resource, uint32_t index) {
  if (resource == tensix::Resource::kConfig) unsettled_.LoadedConfig(hart, index);
  if (IsQueuedFor(hart, resource, index, false)) return MissingWait(index);
  if (unsettled_.Load(hart, resource, index)) return {};
  text_ = unsettled_.report();
  return MissingWait(index);
}

Refusal ComputeQueue::AccessL1(uint32_t address, uint32_t length, bool writes, uint32_t* hart) {
  if (unsettled_.AccessL1(address, length, writes, transfers_ != 0)) return {};
  *hart = unsettled_.hart();
  text_ = "a hart, the NoC or the host " + unsettled_.report();
  return MissingWait(address);
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
  return 1 + Delay(rng_) * (thread == slow_ ? kSlowness : 1);
}

}  // namespace ttfd::sim
