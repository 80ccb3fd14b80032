// Somebody who watches a chip execute: a trace, a profile, a debugger.
//
// Attached by Chip::Attach. While anybody is attached, harts run by a slower interpreter that calls
// these; while nobody is, nothing of this costs anything. Calls come from inside Chip::Advance, on
// its thread. An inspector may read the hart and the chip and must not change them; a debugger, which
// does, changes them only between two calls of Advance.
#pragma once

#include <cstdint>

#include "runtime/hw/grid.h"

namespace ttfd::sim {

struct Hart;

enum class NocEvent : uint8_t {
  kIssued,     // a hart wrote CMD_CTRL and the NIU accepted the command
  kDelivered,  // its data, or its increment, is where it was sent
  kCounted,    // the issuing NIU's counters say so
};

// A NoC command as inspectors see it. Coordinates are translated ones.
struct NocView {
  NocEvent event;
  const char* kind;  // "read", "write", "multicast", "inline", "increment"
  uint32_t niu;      // 0, 1
  hw::Coordinate source;
  uint32_t local;  // address in the source's L1
  hw::Coordinate remote_start;
  hw::Coordinate remote_end;  // equal to the start but for multicasts
  uint64_t remote;            // address at the other end
  uint32_t length;            // bytes
  uint32_t data;              // of inline writes and increments
  uint32_t control;           // the word in CTRL
  uint64_t clock;
};

class Inspector {
 public:
  virtual ~Inspector() = default;

  // The hart is about to execute the instruction `word` at hart.pc; hart.time and the registers are
  // as before it. False: it shall not; the chip stops as a whole, Advance returns with `halted`, and
  // every inspector is asked again about the same instruction when Advance is called again. A hart
  // that parks does so in front of an instruction that was asked about; it is asked about again when
  // the hart is woken.
  virtual bool BeforeInstruction(const Hart& /*hart*/, uint32_t /*word*/) { return true; }

  // The instruction at hart.pc has read or is about to write `bytes` (1, 2 or 4) at `address` of its
  // tile's address space; `value` has no other bits. An AMO does both.
  virtual void OnLoad(const Hart& /*hart*/, uint32_t /*address*/, uint32_t /*bytes*/,
                      uint32_t /*value*/) {}
  virtual void OnStore(const Hart& /*hart*/, uint32_t /*address*/, uint32_t /*bytes*/,
                       uint32_t /*value*/) {}

  // Something moved on the NoC. The host's own accesses are not shown.
  virtual void OnNoc(const NocView& /*view*/) {}

  // The hart was put into reset or left it, or was parked or woken: hart.state and hart.pc say which.
  virtual void OnState(const Hart& /*hart*/) {}

  // The chip was reset.
  virtual void OnReset() {}
};

}  // namespace ttfd::sim
