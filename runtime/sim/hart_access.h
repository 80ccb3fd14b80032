// Parts of the interpreter that are out of line: registers, faults, poll points. The hart's pc and time
// are saved before any of these is called.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/hw/noc.h"
#include "runtime/hw/tensix.h"
#include "runtime/sim/fault.h"
#include "runtime/sim/hart.h"

namespace ttfd::sim {

// Stops the hart with a fault at its pc.
void RaiseFault(Hart& hart, const Refusal& refusal);
// Stops the hart, unless it is held in reset. The chip reports the first fault.
void StopFaulted(Hart& hart, Fault fault);

// A register of the hart's tile whose value changes only by writes that wake watchers, and whose
// reading changes nothing.
inline bool IsPureRegister(uint32_t address) {
  if (address % 4 != 0 || address < hw::kFirstRegisterAddress) return false;
  const bool clock = address >= hw::kWallClockLow && address <= hw::kWallClockHighLatched;
  const bool pc = address >= hw::kPcSnapshot && address < hw::kPcSnapshot + 4 * hw::kHarts;
  return !clock && !pc;
}

// Whether the hart's guard lets it access its own L1, which is checked to be inside. False: a fault was raised.
bool AskGuard(Hart& hart, uint32_t address, uint32_t bytes, bool writes);

// Accesses that are neither L1 nor local RAM. None, or false: a fault was raised. By value: a handler that passes the
// address of something on its stack cannot end by a jump (interpret.cc).
std::optional<uint32_t> LoadRegister(Hart& hart, uint32_t address, uint32_t bytes);
bool StoreRegister(Hart& hart, uint32_t address, uint32_t bytes, uint32_t value);
// Carries out a store to a register. True, and the hart is parked: it was not carried out, and is executed again later.
bool WriteRegisterNow(Hart& hart, uint32_t address, uint32_t value);

// Pushes a Tensix instruction of the hart's code. True, and the hart is parked: it is executed again later.
bool PushInstruction(Hart& hart, uint32_t instruction);

// Lets `clocks` pass in which the hart does nothing, and which do not count where it is to be recognised.
void Stall(Hart& hart, uint64_t clocks);

// The hart is at a place where it was or slept before. True when it is there in the state of at most
// kMaxPollLoop instructions ago, or slept there: it is asleep now, or is to be observed.
bool ArriveAgain(Hart& hart);

inline bool IsRecent(const Arrival& arrival, const Hart& hart) {
  return arrival.pc == hart.pc && hart.time - arrival.time <= kMaxPollLoop;
}

// Passes a poll point where the hart was not lately. False: it was.
inline bool PassPollPoint(Hart& hart) {
  PollState& poll = hart.poll;
  if (IsRecent(poll.last, hart) || IsRecent(poll.anchor, hart) || hart.pc == poll.slept_at) {
    return false;
  }
  const auto pass = [&hart](Arrival* arrival) {
    arrival->pc = hart.pc;
    arrival->time = hart.time;
    arrival->has_registers = false;
  };
  if (hart.time - poll.last.time > kShortPollLoop) pass(&poll.last);
  if (hart.time - poll.anchor.time > kMaxPollLoop) pass(&poll.anchor);
  return true;
}

// Observing: a trip begins.
void BeginTrip(Hart& hart);

// Observing: the hart is about to execute an instruction with these registers (Decoded).
inline void RecordRegisters(PollState& poll, uint32_t rd, uint32_t rs1, uint32_t rs2) {
  poll.registers_read |= (uint64_t{1} << rs1 | uint64_t{1} << rs2) & ~poll.registers_set;
  poll.registers_set |= uint64_t{1} << rd;
}

// Observing: the word at `address` decides what the hart does.
void RecordRead(Hart& hart, uint32_t address);

// Observing: the word of local RAM at offset `address` is about to change.
void RecordLocalWrite(Hart& hart, uint32_t address);

// Observing, at a poll point: parks the hart if it is back where the trip began, in the same state.
bool FinishTrip(Hart& hart);

}  // namespace ttfd::sim
