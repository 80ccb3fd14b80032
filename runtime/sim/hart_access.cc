// Registers, faults and poll points as the interpreter needs them.
#include "runtime/sim/hart_access.h"

#include <cstring>

#include "runtime/base/bytes.h"
#include "runtime/hw/noc.h"
#include "runtime/hw/stream.h"
#include "runtime/hw/tensix.h"
#include "runtime/sim/machine.h"
#include "runtime/sim/tensix_tile.h"

namespace ttfd::sim {
namespace {

// Why an address that is not a register cannot be accessed either.
FaultKind KindOfBadAddress(const Hart& hart, uint32_t address, uint32_t bytes) {
  // Aligned words of L1 and local RAM do not come here.
  if (bytes == 4 && address % 4 == 0 && address >= hw::kFirstRegisterAddress) [[likely]]
    return FaultKind::kNone;
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

bool SameState(const Arrival& arrival, const Hart& hart) {
  return arrival.pc == hart.pc && std::memcmp(arrival.x, hart.x, sizeof(arrival.x)) == 0;
}

bool IsBackAt(const Arrival& arrival, const Hart& hart) {
  return hart.time - arrival.time <= kMaxPollLoop && SameState(arrival, hart);
}

void Remember(const Hart& hart, Arrival* arrival) {
  arrival->pc = hart.pc;
  arrival->time = hart.time;
  std::memcpy(arrival->x, hart.x, sizeof(arrival->x));
}

}  // namespace

void RaiseFault(Hart& hart, FaultKind kind, uint64_t address, const char* reason) {
  const TensixTile& tile = *hart.tile;
  Machine& machine = tile.machine();
  if (machine.fault.has_value()) return;
  machine.fault = Fault{kind,    tile.translated(), tile.physical(), hart.index,
                        hart.pc, address,           hart.time,       reason};
}

bool IsPureRegister(uint32_t address) {
  if (address % 4 != 0 || address < hw::kFirstRegisterAddress) return false;
  const bool clock = address >= hw::kWallClockLow && address <= hw::kWallClockHighLatched;
  const bool pc = address >= hw::kPcSnapshot && address < hw::kPcSnapshot + 4 * hw::kHarts;
  return !clock && !pc;
}

bool LoadRegister(Hart& hart, uint32_t address, uint32_t bytes, uint32_t* value) {
  const FaultKind bad = KindOfBadAddress(hart, address, bytes);
  if (bad != FaultKind::kNone) {
    RaiseFault(hart, bad, address, ReasonOfBadAddress(bad));
    return false;
  }
  const Refusal refusal = hart.tile->ReadRegister(Accessor::Hart(hart.index), address, value);
  if (refusal) RaiseFault(hart, refusal.kind, refusal.address, refusal.reason);
  return !refusal;
}

bool StoreRegister(Hart& hart, uint32_t address, uint32_t bytes, uint32_t value) {
  const FaultKind bad = KindOfBadAddress(hart, address, bytes);
  if (bad != FaultKind::kNone) {
    RaiseFault(hart, bad, address, ReasonOfBadAddress(bad));
    return false;
  }
  const Refusal refusal = hart.tile->WriteRegister(Accessor::Hart(hart.index), address, value);
  if (refusal) RaiseFault(hart, refusal.kind, refusal.address, refusal.reason);
  return !refusal;
}

bool ArriveAtPollPoint(Hart& hart) {
  PollState& poll = hart.poll;
  if (IsBackAt(poll.last, hart)) return true;
  if (IsBackAt(poll.anchor, hart)) {
    poll.last = poll.anchor;
    return true;
  }
  const bool last_is_old = hart.time - poll.last.time > kShortPollLoop;
  if (hart.pc == poll.last.pc || last_is_old) Remember(hart, &poll.last);
  if (hart.time - poll.anchor.time > kMaxPollLoop) Remember(hart, &poll.anchor);
  return false;
}

void RecordRead(Hart& hart, uint32_t address) {
  PollState& poll = hart.poll;
  const uint32_t word = address & ~3u;
  for (uint32_t i = 0; i < poll.reads; ++i) {
    if (poll.read[i] == word) return;
  }
  if (poll.reads == kMaxPollLoop) {
    poll.spoiled = true;
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
    poll.spoiled = true;
    return;
  }
  poll.write[poll.writes++] = {word, LoadAt<uint32_t>(hart.local_ram + word)};
}

bool FinishTrip(Hart& hart) {
  const PollState& poll = hart.poll;
  if (!SameState(poll.last, hart)) return false;
  for (uint32_t i = 0; i < poll.writes; ++i) {
    const PollState::LocalWrite& write = poll.write[i];
    if (LoadAt<uint32_t>(hart.local_ram + write.address) != write.before) return false;
  }
  hart.tile->Park(hart);
  return true;
}

}  // namespace ttfd::sim
