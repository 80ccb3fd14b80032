// Actions of the interpreter's careful handlers besides executing: they notify inspectors, and let
// hazards happen. The hart's pc and time are saved before any of these is called.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/sim/hart.h"
#include "runtime/sim/hart_hazards.h"
#include "runtime/sim/interpret.h"
#include "runtime/sim/tensix_tile.h"

namespace ttfd::sim {

// The hart is about to execute `next`, the instruction at its pc. kNone: it may.
Stop BeginStep(Hart& hart, const Decoded& next);

// The word that is executed at `ip`, which the hart may have fetched before L1 held what it holds now.
uint32_t InstructionWord(const Hart& hart, const Decoded* ip);

// Brings the instruction at `pc` into the hart's own table. False: it has none.
inline bool FetchIntoCache(Hart& hart, const std::byte* l1, uint32_t pc) {
  if (hart.hazards == nullptr || hart.hazards->instructions() == nullptr) return false;
  hart.hazards->FetchInstructions(l1, pc);
  return true;
}

// Aligned accesses to L1; `rd` is the register that is loaded. StoreL1 returns whether it changes L1,
// now or later.
uint32_t LoadL1(Hart& hart, uint32_t address, uint32_t bytes, uint32_t rd);
bool StoreL1(Hart& hart, uint32_t address, uint32_t bytes, uint32_t value);

// False: the local RAM is still being cleared, and the hart waits.
inline bool LocalRamIsReady(const Hart& hart) {
  return hart.hazards == nullptr || hart.time >= hart.hazards->local_ram_ready();
}

inline void PassFence(Hart& hart) {
  if (hart.hazards != nullptr) hart.hazards->Fence();
  hart.tile->compute().Fence(hart);
}
inline void BeforeAtomic(Hart& hart) {
  if (hart.hazards != nullptr) hart.hazards->BeforeAtomic();
}

// Reports what the instruction loads, or is about to store. Bits above `bytes` do not count.
void TellOfLoad(const Hart& hart, uint32_t address, uint32_t bytes, uint32_t value);
void TellOfStore(const Hart& hart, uint32_t address, uint32_t bytes, uint32_t value);

}  // namespace ttfd::sim
