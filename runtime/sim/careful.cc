// Inspectors and hazards between the instructions of a hart.
#include "runtime/sim/careful.h"

#include <cstring>

#include "runtime/base/bytes.h"
#include "runtime/sim/inspector.h"
#include "runtime/sim/machine.h"
#include "runtime/sim/tensix_tile.h"

namespace ttfd::sim {
namespace {

uint32_t LowBytes(uint32_t value, uint32_t bytes) {
  return bytes == 4 ? value : value & ((1u << 8 * bytes) - 1);
}

// False: an inspector stopped the chip.
bool MayExecute(Hart& hart, const Decoded& next) {
  Machine& machine = hart.tile->machine();
  if (hart.permitted == hart.time || machine.inspectors.empty()) return true;
  if (next.operation == 0) return true;  // it comes here again when it is decoded
  const uint32_t word = InstructionWord(hart, &next);
  for (Inspector* const inspector : machine.inspectors) {
    if (inspector->BeforeInstruction(hart, word)) continue;
    machine.halted = true;
    return false;
  }
  hart.permitted = hart.time;
  return true;
}

}  // namespace

Stop BeginStep(Hart& hart, const Decoded& next) {
  if (hart.hazards != nullptr) {
    hart.hazards->BeginStep(next);
  }
  if (hart.state != HartState::kRunnable) return Stop::kHeld;
  return MayExecute(hart, next) ? Stop::kNone : Stop::kHalted;
}

uint32_t InstructionWord(const Hart& hart, const Decoded* ip) {
  const bool cached = hart.hazards != nullptr && hart.hazards->instructions() != nullptr;
  if (cached && ip->operation != 0) return static_cast<uint32_t>(ip->handler);
  return LoadAt<uint32_t>(hart.tile->memory().l1() + (ip - hart.code) * 4);
}

uint32_t LoadL1(Hart& hart, uint32_t address, uint32_t bytes, uint32_t rd) {
  hart.tile->compute().ReadL1(address, bytes);
  if (hart.hazards != nullptr) return hart.hazards->LoadL1(address, bytes, rd);
  uint32_t value = 0;
  std::memcpy(&value, hart.tile->memory().l1() + address, bytes);
  return value;
}

bool StoreL1(Hart& hart, uint32_t address, uint32_t bytes, uint32_t value) {
  if (hart.hazards != nullptr) return hart.hazards->StoreL1(address, bytes, value);
  std::byte* const to = hart.tile->memory().l1() + address;
  const bool differs = std::memcmp(to, &value, bytes) != 0;
  std::memcpy(to, &value, bytes);
  hart.tile->WroteMemory(address, bytes);
  return differs;
}

void TellOfLoad(const Hart& hart, uint32_t address, uint32_t bytes, uint32_t value) {
  for (Inspector* const inspector : hart.tile->machine().inspectors) {
    inspector->OnLoad(hart, address, bytes, LowBytes(value, bytes));
  }
}

void TellOfStore(const Hart& hart, uint32_t address, uint32_t bytes, uint32_t value) {
  for (Inspector* const inspector : hart.tile->machine().inspectors) {
    inspector->OnStore(hart, address, bytes, LowBytes(value, bytes));
  }
}

}  // namespace ttfd::sim
