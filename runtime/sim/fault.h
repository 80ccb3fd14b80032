// Why the model stopped: every access the hardware documents call unsupported, misaligned or unsafe
// is a fault with a kind and a place.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/status.h"
#include "runtime/hw/grid.h"
#include "runtime/hw/tensix.h"

namespace ttfd::sim {

enum class FaultKind : uint8_t {
  kNone,
  kIllegalInstruction,  // no such encoding
  kTensixInstruction,   // one that the model does not execute, or a field of it
  kMissingWait,  // of a Tensix instruction, or an access, for what is under way (hazard "compute")
  kUnsupportedInstruction,  // fence.i, LR/SC, ebreak, ecall, wfi, an unusual fence
  kUnsupportedCsr,          // any CSR but 0x7C0, or a value with bits the model does not know
  kInstructionFetch,        // outside L1, or not a multiple of 4
  kMisaligned,              // load, store or AMO
  kUnmapped,                // no memory and no register there
  kRegisterWidth,           // registers take 4 aligned bytes
  kUnsupportedRegister,     // known to the documents, not to the model, or not from here
  kUnsupportedValue,        // a register bit the model does not know
  kNoSuchTile,              // harvested, not modelled, or off the grid
  kNocControl,              // a combination of control bits
  kNocLength,               // 0, or more than 16384
  kNocAlignment,            // the two ends of a transfer do not agree
  kNocLocalSide,            // the local end is not the issuing tile's own L1
  kNocMulticast,            // rectangle, path reservation or direction
  kNocAtomic,               // anything but a non-posted increment of 16-byte aligned L1
  kNocInlineToMemory,       // inline writes may reach registers only
  kNocBusy,                 // a command buffer was written before its command had been accepted
  kLinkCommand,             // of an Ethernet transmit queue, or a write that came over a link
  kOutOfBounds,             // memory of buffers that a MemoryGuard does not let a hart access
  kHostMemory,              // no host memory is mapped at that bus address
  kTlbWindow,               // a BAR access its window cannot serve
  kAddressTranslation,      // an iATU region that is malformed or overlaps another
};

const char* FaultKindName(FaultKind kind);

// An access that was not done, and why. The caller knows who asked: for a hart it becomes a Fault
// and stops the hart; for the host it becomes the answer to that call and nothing else changes.
struct Refusal {
  FaultKind kind = FaultKind::kNone;
  uint64_t address = 0;
  // Static text; of kMissingWait the tile's, until its next access; of kOutOfBounds the guard's, until the next one.
  const char* reason = "";
  // Tensix engine only: the refused field of the instruction or the configuration, and the thread (0 to 2).
  const char* field = "";
  uint32_t thread = 0;

  explicit operator bool() const { return kind != FaultKind::kNone; }
};

struct Fault {
  FaultKind kind = FaultKind::kNone;
  hw::Coordinate translated = {0, 0};
  hw::Coordinate physical = {0, 0};
  uint32_t hart = 0;  // hw::Hart; kNoHart: a write that came over a link did it
  static constexpr uint32_t kNoHart = hw::kHarts;
  uint32_t pc = 0;
  uint64_t address = 0;  // what was accessed; the instruction word for an instruction
  uint64_t clock = 0;
  std::string reason = {};
  uint32_t return_address = 0;  // the hart's ra
  const char* field = "";       // as of Refusal
  uint32_t thread = 0;
};

const char* HartName(uint32_t hart);

// The fault without its place: "misaligned access to 0x30001", "Tensix instruction ELWADD".
std::string BriefText(const Fault& fault);

// FAILED_PRECONDITION: "device fault: kind at tile (x,y) [physical (x,y)] HART pc 0x.. address
// 0x..: reason"; the reason of the Tensix engine is "T1 MVMUL dst=3: dst: reason".
Status ToStatus(const Fault& fault);
// INVALID_ARGUMENT; `what` names the host's call.
Status HostRefusal(const Refusal& refusal, const char* what);

}  // namespace ttfd::sim
