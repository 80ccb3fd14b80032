// The words of faults and refusals.
#include "runtime/sim/fault.h"

#include <fmt/format.h>

#include "runtime/hw/tensix.h"
#include "runtime/sim/tensix/disassemble.h"

namespace ttfd::sim {

const char* FaultKindName(FaultKind kind) {
  switch (kind) {
    case FaultKind::kNone:
      return "none";
    case FaultKind::kIllegalInstruction:
      return "illegal instruction";
    case FaultKind::kTensixInstruction:
      return "Tensix instruction";
    case FaultKind::kMissingWait:
      return "missing wait";
    case FaultKind::kUnsupportedInstruction:
      return "unsupported instruction";
    case FaultKind::kUnsupportedCsr:
      return "unsupported CSR access";
    case FaultKind::kInstructionFetch:
      return "instruction fetch";
    case FaultKind::kMisaligned:
      return "misaligned access";
    case FaultKind::kUnmapped:
      return "unmapped address";
    case FaultKind::kRegisterWidth:
      return "register access width";
    case FaultKind::kUnsupportedRegister:
      return "unsupported register";
    case FaultKind::kUnsupportedValue:
      return "unsupported register value";
    case FaultKind::kNoSuchTile:
      return "no such tile";
    case FaultKind::kNocControl:
      return "NoC control bits";
    case FaultKind::kNocLength:
      return "NoC packet length";
    case FaultKind::kNocAlignment:
      return "NoC alignment";
    case FaultKind::kNocLocalSide:
      return "NoC local side";
    case FaultKind::kNocMulticast:
      return "NoC multicast";
    case FaultKind::kNocAtomic:
      return "NoC atomic";
    case FaultKind::kNocInlineToMemory:
      return "NoC inline write to memory";
    case FaultKind::kNocBusy:
      return "NoC command buffer busy";
    case FaultKind::kLinkCommand:
      return "Ethernet link";
    case FaultKind::kOutOfBounds:
      return "out of bounds";
    case FaultKind::kHostMemory:
      return "host memory";
    case FaultKind::kTlbWindow:
      return "TLB window";
    case FaultKind::kAddressTranslation:
      return "outbound address translation";
  }
  return "unknown";
}

const char* HartName(uint32_t hart) {
  static constexpr const char* kNames[hw::kHarts] = {"BRISC", "NCRISC", "TRISC0", "TRISC1",
                                                     "TRISC2"};
  return hart < hw::kHarts ? kNames[hart] : "link";
}

namespace {

// "T1 MVMUL dst=3: dst: "; empty for faults of others.
std::string EngineText(const Fault& fault) {
  if (*fault.field == '\0') return "";
  if (fault.kind != FaultKind::kTensixInstruction) return fmt::format("{}: ", fault.field);
  return fmt::format("T{} {}: {}: ", fault.thread,
                     tensix::Disassemble(static_cast<uint32_t>(fault.address)), fault.field);
}

}  // namespace

std::string BriefText(const Fault& fault) {
  const char* const kind = FaultKindName(fault.kind);
  constexpr uint32_t kBelowStack = 0x10000;  // no register of ours is there
  if (fault.address < hw::kLocalRamAddress && fault.address >= hw::kLocalRamAddress - kBelowStack) {
    return "its stack overflowed";
  }
  switch (fault.kind) {
    case FaultKind::kTensixInstruction: {
      const std::string text = tensix::Disassemble(static_cast<uint32_t>(fault.address));
      return fmt::format("{} {}", kind, text.substr(0, text.find(' ')));
    }
    case FaultKind::kMissingWait:
    case FaultKind::kIllegalInstruction:
    case FaultKind::kUnsupportedInstruction:
    case FaultKind::kNoSuchTile:
      return kind;
    case FaultKind::kOutOfBounds:
      return fault.reason.substr(0, fault.reason.find(':'));
    case FaultKind::kNocLocalSide:
      return "NoC transfer outside L1";
    case FaultKind::kUnmapped:
      return fmt::format("{} {:#x}", kind, fault.address);
    default:
      return fmt::format("{} at {:#x}", kind, fault.address);
  }
}

Status ToStatus(const Fault& fault) {
  if (fault.hart == Fault::kNoHart) {
    return Error(StatusCode::kFailedPrecondition,
                 "device fault: {} at Ethernet tile ({},{}) address {:#x} clock {}: {}",
                 FaultKindName(fault.kind), fault.translated.x, fault.translated.y, fault.address,
                 fault.clock, fault.reason);
  }
  return Error(StatusCode::kFailedPrecondition,
               "device fault: {} at tile ({},{}) [physical ({},{})] {} pc {:#x} address {:#x} "
               "clock {}: {}{}",
               FaultKindName(fault.kind), fault.translated.x, fault.translated.y, fault.physical.x,
               fault.physical.y, HartName(fault.hart), fault.pc, fault.address, fault.clock,
               EngineText(fault), fault.reason);
}

Status HostRefusal(const Refusal& refusal, const char* what) {
  return InvalidArgument("{}: {} at {:#x}: {}", what, FaultKindName(refusal.kind), refusal.address,
                         refusal.reason);
}

}  // namespace ttfd::sim
