// A tile's Tensix engine as the harts of the tile reach it: who pushes for which thread, who waits, and registers.
//
// The engine takes memory from the first access on that changes it; until then its registers read as after a reset.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "runtime/hw/tensix_config.h"
#include "runtime/sim/fault.h"
#include "runtime/sim/tensix/engine.h"

namespace ttfd::sim {

class TensixTile;
struct Hart;

class ComputeUnit {
 public:
  // Registers from here to the end of the address space, but the instruction caches' (hw::kInstructionCacheInvalidate).
  static constexpr uint32_t kFirstRegister = hw::tensix::kGprs;

  // `tile` outlives the unit.
  void Init(TensixTile& tile) { tile_ = &tile; }

  // An instruction in the code of `hart`. Where it has to wait, the hart is parked in front of it.
  Refusal Push(Hart& hart, uint32_t instruction);

  // A hart's accesses. A store that pushes may park the hart, too: then it has not happened.
  Refusal Read(const Hart& hart, uint32_t address, uint32_t* value) const;
  Refusal Write(Hart& hart, uint32_t address, uint32_t value);

  void Reset();

  // The wait that parks a hart here.
  struct Wait {
    uint32_t events = 0;  // tensix/report.h; 0: it does not wait here
    uint32_t instruction = 0;
  };
  const Wait& WaitOf(uint32_t hart) const { return waits_[hart]; }
  // The hart is parked no longer.
  void Unparked(uint32_t hart) { waits_[hart] = {}; }

 private:
  tensix::Engine& engine();
  Refusal PushTo(uint32_t thread, Hart& hart, uint32_t instruction);
  // Carries out, around the engine, what the last access did there.
  Refusal Finish(tensix::Outcome outcome, Hart& hart, uint32_t thread, uint64_t address,
                 FaultKind kind);
  void WakeHarts(uint32_t events);

  TensixTile* tile_ = nullptr;
  std::unique_ptr<tensix::Engine> engine_;
  std::array<Wait, hw::kHarts> waits_{};
};

}  // namespace ttfd::sim
