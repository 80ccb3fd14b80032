// What the interpreter does out of line: registers, faults, poll points. The hart's pc and time are
// saved before any of these is called.
#pragma once

#include <cstdint>

#include "runtime/sim/fault.h"
#include "runtime/sim/hart.h"

namespace ttfd::sim {

// Stops the chip (the first fault wins).
void RaiseFault(Hart& hart, FaultKind kind, uint64_t address, const char* reason);

// A register of the hart's tile whose value changes only by writes that wake watchers, and whose
// reading changes nothing.
bool IsPureRegister(uint32_t address);

// Accesses that are neither L1 nor local RAM. False: a fault was raised.
bool LoadRegister(Hart& hart, uint32_t address, uint32_t bytes, uint32_t* value);
bool StoreRegister(Hart& hart, uint32_t address, uint32_t bytes, uint32_t value);

// True when the hart is where it was at most kMaxPollLoop instructions ago, in the same state.
bool ArriveAtPollPoint(Hart& hart);

// Observing: the word at `address` decides what the hart does.
void RecordRead(Hart& hart, uint32_t address);

// Observing: the word of local RAM at offset `address` is about to change.
void RecordLocalWrite(Hart& hart, uint32_t address);

// Observing, at a poll point: parks the hart if it is back where the trip began, in the same state.
bool FinishTrip(Hart& hart);

}  // namespace ttfd::sim
