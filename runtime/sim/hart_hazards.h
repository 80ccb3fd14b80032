// State of a hart besides its registers while hazards of its own are on: an L0 data cache, stores on
// their way, an instruction cache, and a local RAM that takes time to become zero.
//
// Used by the interpreter's careful handlers, and by the tile when the hart enters or leaves reset. A hart
// sees its own stores in order; everybody else sees memory without those that are still on their way.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/sim/hart.h"
#include "runtime/sim/hazards.h"
#include "runtime/sim/instruction_cache.h"
#include "runtime/sim/l0_cache.h"
#include "runtime/sim/rng.h"
#include "runtime/sim/store_queue.h"

namespace ttfd::sim {

class HartHazards {
 public:
  // `hart` outlives it and has its tile. `number` tells the harts of a chip apart. `code`: for the
  // instruction cache (InstructionCache::kBytes, zero); null: that hazard is off.
  HartHazards(Hart& hart, const HazardOptions& options, uint64_t number, Decoded* code);

  // The hart is about to execute `next`: what is due happens first. The hart may have put itself into
  // reset by that, or the chip may have a fault.
  void BeginStep(const Decoded& next) {
    if (hart_.time >= attention_) Attend();
    if (loads_ != 0) ConsumeLoads(next);
  }

  // Nothing of the hart's own is going to change what it reads: it may be put to sleep.
  bool settled() const { return stores_.empty() && invalidate_at_ == kNever; }

  // An aligned load of 1, 2 or 4 bytes to register `rd`. One of a stale line spoils the trip that is
  // observed: the line may be evicted.
  uint32_t LoadL1(uint32_t address, uint32_t bytes, uint32_t rd);
  // The word at `address`, of which memory holds `in_memory`, when the stores on their way are carried out.
  uint32_t WithStores(uint32_t address, uint32_t in_memory) const {
    return stores_.Forward(address, 4, in_memory);
  }
  // True: L1 changes now or later.
  bool StoreL1(uint32_t address, uint32_t bytes, uint32_t value);
  // Carries out the hart's own earlier stores that a load of this register depends on.
  void BeforeRegisterLoad(uint32_t address);
  // False: the register is to be written at once.
  bool StoreRegister(uint32_t address, uint32_t value);
  // Stores on their way are carried out.
  void CarryOutAll();
  void BeforeAtomic();
  void Fence();
  // From when on the hart may access its local RAM.
  uint64_t local_ram_ready() const { return local_ram_ready_; }

  // Null: that hazard is off.
  InstructionCache* instructions() { return instructions_ ? &*instructions_ : nullptr; }
  void FetchInstructions(const std::byte* l1, uint32_t pc) { instructions_->Fetch(l1, pc, rng_); }
  // RISCV_IC_INVALIDATE: up to 20 more instructions are executed as they were.
  void InvalidateInstructions();

  // The hart enters reset: its stores are carried out. It leaves reset: its caches are empty.
  void Hold();
  void Release();
  // The chip is reset: what is on its way is lost.
  void Reset();

 private:
  // A load from L1 that is answered only behind the hart's store `number`. Until the register is used,
  // or so many instructions have followed that the load must have retired, nothing waits for that.
  struct LoadOnItsWay {
    uint32_t rd;
    uint64_t number;
    uint64_t until;
  };
  static constexpr uint64_t kRetireQueue = 8;

  bool has(Hazard hazard) const { return (on_ & hazard) != 0; }
  void Attend();
  void ConsumeLoads(const Decoded& next);
  // The oldest `count` loads are answered.
  void AnswerLoads(size_t count);
  bool Push(uint32_t address, uint32_t bytes, uint32_t value);
  void CarryOutUpTo(uint32_t region, uint64_t number);
  void CarryOut(const PendingStore& store);
  void Changed();

  Hart& hart_;
  const uint32_t on_;
  Rng rng_;
  uint64_t attention_ = kNever;  // when something happens by itself
  L0Cache cache_;
  StoreQueue stores_;
  std::array<LoadOnItsWay, kRetireQueue> on_their_way_ = {};  // the first loads_, in order
  size_t loads_ = 0;
  std::optional<InstructionCache> instructions_;
  uint64_t invalidate_at_ = kNever;
  uint64_t local_ram_ready_ = 0;
};

}  // namespace ttfd::sim
