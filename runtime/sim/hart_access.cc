// Registers, faults and poll points as the interpreter needs them.
#include "runtime/sim/hart_access.h"

#include <bit>
#include <cstring>

#include "runtime/base/bytes.h"
#include "runtime/hw/noc.h"
#include "runtime/hw/stream.h"
#include "runtime/hw/tensix.h"
#include "runtime/hw/tensix_isa.h"
#include "runtime/sim/hart_hazards.h"
#include "runtime/sim/machine.h"
#include "runtime/sim/memory_guard.h"
#include "runtime/sim/tensix_tile.h"

namespace ttfd::sim {
namespace {

// Without x0 and the slot for what it is set to.
constexpr uint64_t kRealRegisters = (uint64_t{1} << 32) - 2;

bool IsRegister(uint32_t address, uint32_t bytes) {
  return bytes == 4 && address % 4 == 0 && address >= hw::kFirstRegisterAddress;
}

// Why an address that is not a register cannot be accessed either. Aligned accesses to L1 and local
// RAM do not come here.
FaultKind KindOfBadAddress(const Hart& hart, uint32_t address, uint32_t bytes) {
  const bool memory =
      address < hw::kL1Bytes || address - hw::kLocalRamAddress < hart.local_ram_bytes;
  if (memory) return FaultKind::kMisaligned;
  if (address < hw::kFirstRegisterAddress) return FaultKind::kUnmapped;
  return bytes != 4 ? FaultKind::kRegisterWidth : FaultKind::kMisaligned;
}

const char* ReasonOfBadAddress(FaultKind kind) {
  switch (kind) {
    case FaultKind::kMisaligned:
      return "the cores do not access memory unaligned";
    case FaultKind::kRegisterWidth:
      return "registers take 4 bytes at a time";
    default:
      return "no memory and no register is there";
  }
}

void RaiseBadAddress(Hart& hart, uint32_t address, uint32_t bytes) {
  const FaultKind kind = KindOfBadAddress(hart, address, bytes);
  RaiseFault(hart, {kind, address, ReasonOfBadAddress(kind)});
}

bool SameState(const Arrival& arrival, const Hart& hart) {
  return arrival.pc == hart.pc && std::memcmp(arrival.x, hart.x, sizeof(arrival.x)) == 0;
}

void Remember(const Hart& hart, Arrival* arrival) {
  arrival->pc = hart.pc;
  arrival->has_registers = true;
  arrival->time = hart.time;
  std::memcpy(arrival->x, hart.x, sizeof(arrival->x));
}

// Takes the trip that the hart slept after the last time, if it would be the same, and goes to sleep.
bool SleepAgain(Hart& hart) {
  const PollState& poll = hart.poll;
  // Carefully: the trip may be watched, and is not decided by memory alone.
  if (!poll.proven || hart.tile->machine().careful) return false;
  for (uint64_t bits = poll.registers_read; bits != 0; bits &= bits - 1) {
    const int x = std::countr_zero(bits);
    if (hart.x[x] != poll.proven_x[x]) return false;
  }
  const std::byte* const l1 = hart.tile->memory().l1();
  for (uint32_t i = 0; i < poll.reads; ++i) {
    if (LoadAt<uint32_t>(l1 + poll.read[i]) != poll.proven_word[i]) return false;
  }
  for (uint64_t bits = poll.registers_set; bits != 0; bits &= bits - 1) {
    const int x = std::countr_zero(bits);
    hart.x[x] = poll.proven_x[x];
  }
  hart.time += poll.proven_clocks;
  hart.tile->Park(hart);
  return true;
}

// The hart, at the end of a trip, is in the state in which it began.
void KeepProof(Hart& hart) {
  PollState& poll = hart.poll;
  poll.proven = poll.replayable && !hart.tile->machine().careful;
  if (!poll.proven) return;
  poll.registers_read &= kRealRegisters;
  poll.registers_set &= kRealRegisters;
  poll.proven_clocks = hart.time - poll.start;
  std::memcpy(poll.proven_x, hart.x, sizeof(poll.proven_x));
  for (uint32_t i = 0; i < poll.reads; ++i) {
    poll.proven_word[i] = LoadAt<uint32_t>(hart.tile->memory().l1() + poll.read[i]);
  }
}

}  // namespace

namespace {

// An access below local RAM by a hart whose stack pointer is there, too.
bool IsStackOverflow(const Hart& hart, FaultKind kind, uint64_t address) {
  constexpr uint32_t kMaxFrame = 1 << 20;  // what lies further down is something else
  constexpr uint32_t kBottom = hw::kLocalRamAddress;
  const bool nothing_there =
      kind == FaultKind::kUnmapped || kind == FaultKind::kUnsupportedRegister;
  return nothing_there && address < kBottom && address >= kBottom - kMaxFrame &&
         hart.x[2] < kBottom && hart.x[2] >= kBottom - kMaxFrame;
}

}  // namespace

void RaiseFault(Hart& hart, const Refusal& refusal) {
  const TensixTile& tile = *hart.tile;
  const char* const reason = IsStackOverflow(hart, refusal.kind, refusal.address)
                                 ? "the stack has overflowed: it left the hart's local RAM"
                                 : refusal.reason;
  StopFaulted(hart,
              Fault{refusal.kind, tile.translated(), tile.physical(), hart.index, hart.pc,
                    refusal.address, hart.time, reason, hart.x[1], refusal.field, refusal.thread});
}

void StopFaulted(Hart& hart, Fault fault) {
  Machine& machine = hart.tile->machine();
  if (!machine.fault.has_value()) machine.fault = std::move(fault);
  if (hart.state != HartState::kHeld) hart.tile->Stop(hart, HartState::kFaulted);
}

bool AskGuard(Hart& hart, uint32_t address, uint32_t bytes, bool writes) {
  const TensixTile& tile = *hart.tile;
  const Refusal refusal = hart.guard->Check(tile, {GuardedMemory::kL1, writes, address, bytes});
  if (refusal) RaiseFault(hart, refusal);
  return !refusal;
}

std::optional<uint32_t> LoadRegister(Hart& hart, uint32_t address, uint32_t bytes) {
  if (!IsRegister(address, bytes)) [[unlikely]] {
    RaiseBadAddress(hart, address, bytes);
    return std::nullopt;
  }
  if (hart.hazards != nullptr) hart.hazards->BeforeRegisterLoad(address);
  uint32_t value = 0;
  const Refusal refusal = hart.tile->ReadRegister(Accessor::Hart(hart.index), address, &value);
  if (!refusal) return value;
  RaiseFault(hart, refusal);
  return std::nullopt;
}

bool StoreRegister(Hart& hart, uint32_t address, uint32_t bytes, uint32_t value) {
  if (!IsRegister(address, bytes)) [[unlikely]] {
    RaiseBadAddress(hart, address, bytes);
    return false;
  }
  if (hart.hazards != nullptr && hart.hazards->StoreRegister(address, value)) return true;
  return WriteRegisterNow(hart, address, value);
}

bool WriteRegisterNow(Hart& hart, uint32_t address, uint32_t value) {
  if (hart.tile->IssueStreamUpdate(address, value)) return true;
  const Refusal refusal = hart.tile->WriteRegister(Accessor::Hart(hart.index), address, value);
  if (refusal) RaiseFault(hart, refusal);
  return !refusal;
}

bool PushInstruction(Hart& hart, uint32_t instruction) {
  hart.poll.side_effect = true;
  const bool waits_for_stores =
      hw::tensix::OpcodeOf(instruction) == hw::tensix::STALLWAIT::kOpcode &&
      (instruction & hw::tensix::kUntilConfig) != 0;
  if (waits_for_stores && hart.hazards != nullptr) hart.hazards->CarryOutAll();
  const Refusal refusal = hart.tile->compute().Push(hart, instruction);
  if (refusal) RaiseFault(hart, refusal);
  return !refusal;
}

void Stall(Hart& hart, uint64_t clocks) {
  PollState& poll = hart.poll;
  if (hart.permitted == hart.time) hart.permitted += clocks;
  if (poll.woken == hart.time) poll.woken += clocks;
  poll.last.time += clocks;
  poll.anchor.time += clocks;
  hart.time += clocks;
}

bool ArriveAgain(Hart& hart) {
  PollState& poll = hart.poll;
  if (hart.time == poll.woken) return false;  // it has not moved yet
  poll.again = hart.pc == poll.slept_at;
  if (poll.again) {
    if (SleepAgain(hart)) return true;
    poll.slept_at = kNowhere;  // until it sleeps there again
    Remember(hart, &poll.last);
    return true;
  }
  for (Arrival* const arrival : {&poll.last, &poll.anchor}) {
    if (!IsRecent(*arrival, hart) || !arrival->has_registers || !SameState(*arrival, hart))
      continue;
    if (arrival == &poll.anchor) poll.last = poll.anchor;
    return true;
  }
  const bool last_is_old = hart.time - poll.last.time > kShortPollLoop;
  if (hart.pc == poll.last.pc || last_is_old) Remember(hart, &poll.last);
  const bool anchor_is_old = hart.time - poll.anchor.time > kMaxPollLoop;
  if (anchor_is_old || (hart.pc == poll.anchor.pc && !poll.anchor.has_registers)) {
    Remember(hart, &poll.anchor);
  }
  return false;
}

void BeginTrip(Hart& hart) {
  PollState& poll = hart.poll;
  poll.start = hart.time;
  poll.reads = 0;
  poll.writes = 0;
  poll.replayable = true;
  poll.registers_read = 0;
  poll.registers_set = 0;
  poll.proven = false;
}

void RecordRead(Hart& hart, uint32_t address) {
  PollState& poll = hart.poll;
  const uint32_t word = address & ~3u;
  for (uint32_t i = 0; i < poll.reads; ++i) {
    if (poll.read[i] == word) return;
  }
  if (poll.reads == kMaxPollLoop) {
    poll.side_effect = true;
    return;
  }
  poll.read[poll.reads++] = word;
}

void RecordLocalWrite(Hart& hart, uint32_t address) {
  PollState& poll = hart.poll;
  const uint32_t word = address & ~3u;
  for (uint32_t i = 0; i < poll.writes; ++i) {
    if (poll.write[i].address == word) return;
  }
  if (poll.writes == kMaxPollLoop) {  // a long run without a jump
    poll.side_effect = true;
    return;
  }
  poll.write[poll.writes++] = {word, LoadAt<uint32_t>(hart.local_ram + word)};
}

bool FinishTrip(Hart& hart) {
  PollState& poll = hart.poll;
  // A store of its own may have been carried out in front of this very instruction: after the words were read.
  if (poll.side_effect) return false;
  if (hart.hazards != nullptr && !hart.hazards->settled()) return false;
  if (!SameState(poll.last, hart)) {
    if (!poll.again || hart.pc != poll.last.pc) return false;
    // The first trip of a loop may begin with registers that no later one has.
    poll.again = false;
    BeginTrip(hart);
    Remember(hart, &poll.last);
    return false;
  }
  for (uint32_t i = 0; i < poll.writes; ++i) {
    const PollState::LocalWrite& write = poll.write[i];
    if (LoadAt<uint32_t>(hart.local_ram + write.address) != write.before) return false;
  }
  poll.slept_at = hart.pc;
  KeepProof(hart);
  hart.tile->Park(hart);
  return true;
}

}  // namespace ttfd::sim
