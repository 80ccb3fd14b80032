// A tile's Tensix engine as the harts of the tile reach it: who pushes for which thread, who waits, and registers.
//
// The engine takes memory from the first access on that changes it; until then its registers read as after a reset. An
// instruction is executed when it is pushed, or its hart is parked before it. With the hazard "compute" instructions go
// through queues (ComputeQueue) instead, and a hart is parked where a queue is full or it waits for its thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "runtime/hw/tensix_config.h"
#include "runtime/sim/compute_queue.h"
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

  // A hart's accesses. A store that pushes, and a load that waits for its thread, may park the hart, too: then it has
  // not happened.
  Refusal Read(Hart& hart, uint32_t address, uint32_t* value);
  Refusal Write(Hart& hart, uint32_t address, uint32_t value);

  // With queues: a hart passes a fence; a hart or the NoC reads or writes L1, or the host writes it.
  void Fence(const Hart& hart);
  void ReadL1(uint32_t address, uint32_t length) {
    if (queue_ != nullptr) AccessL1(address, length, false);
  }
  void AccessL1(uint32_t address, uint32_t length, bool writes);

  void Reset();

  // The wait that parks a hart here, or holds back its thread's queue.
  using Wait = ComputeQueue::Wait;
  const Wait& WaitOf(uint32_t hart) const;
  // The hart is parked no longer.
  void Unparked(uint32_t hart) { waits_[hart] = {}; }

 private:
  tensix::Engine& engine() {
    if (engine_ == nullptr) [[unlikely]] {
      Allocate();
    }
    return *engine_;
  }
  void Allocate();
  Refusal PushTo(uint32_t thread, Hart& hart, uint32_t instruction);
  // Carries out, around the engine, what the last access did there.
  Refusal Finish(tensix::Outcome outcome, Hart& hart, uint32_t thread, uint64_t address,
                 FaultKind kind);
  void ShowChanges();
  void Park(Hart& hart, const Wait& wait);
  void WakeHarts(uint32_t events);

  // With queues.
  void ParkUntil(uint32_t event, Hart& hart, uint32_t instruction);
  void Enqueue(uint32_t thread, Hart& hart, uint32_t instruction);
  // A thread that is ready continues, later.
  void Schedule(uint32_t thread);
  void Run(uint32_t thread);
  // Every write to L1 is reported to AccessL1(), or none.
  void MarkL1(bool reported);

  TensixTile* tile_ = nullptr;
  std::unique_ptr<tensix::Engine> engine_;
  std::unique_ptr<ComputeQueue> queue_;  // null: without the hazard, or there is no engine yet
  uint32_t scheduled_ = 0;               // threads that continue in an event, one bit each
  bool engine_writes_ = false;           // the write to L1 that is reported is the engine's
  std::array<Wait, hw::kHarts> waits_{};
};

}  // namespace ttfd::sim
