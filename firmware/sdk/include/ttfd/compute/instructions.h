// Instructions for the tile's Tensix engine, from its compute harts: TRISC0, TRISC1 and TRISC2. Each hart has a thread
// of the engine, T0, T1 and T2, with a queue of instructions; the three threads share configuration, registers and
// semaphores.
//
// Instructions and their fields are the types of runtime/hw/tensix_isa.h, configuration has the names of
// tensix_config.h, both in namespace ttfd::hw::tensix. Push<SETRWC{}.bit_mask(0xF)>() puts an instruction into the
// hart's code, the cheapest form; Push(SETADC{}.value(tile)) makes one at run time. One without fields is NOP{}: NOP()
// would be a function type.
//
// A push returns when the instruction is queued, long before it is executed. Three rules for kernels:
// - Configuration that a hart stores takes effect at once, ahead of queued instructions: Synchronize() before
//   SetConfig() of a word that they still use, ReadConfig() after it.
// - The engine reads and writes L1 on its own: Synchronize() before Pop() of a page that it unpacks, and before Push()
//   of a page that it packs.
// - The engine keeps its state from one launch to the next, of any user. A kernel sets all that it depends on. When it
//   returns, its thread is idle (Synchronize()), the semaphores it used are 0, and no source bank is valid.
//
// Push() counts the banks that instructions fill and free, and the posts and gets of semaphores, those of SEMINIT's
// init_value included. Where the counts of a launch differ on a tile, it ends as a fault that says which, and the card
// is reset before another launch. Push() alone counts: an instruction that a kernel pushes by a store or assembly of
// its own, or that REPLAY or MOP repeats, changes the engine uncounted, and so do stores to kSemaphore and
// kThreadKeepDvalid.
//
// Sources: tt-isa-documentation BlackholeA0/TensixTile/BabyRISCV/PushTensixInstruction.md and
// TensixCoprocessor/BackendConfiguration.md.
#pragma once

#include <stdint.h>
#include <ttfd/tile.h>

#include "firmware/common/status.h"
#include "runtime/abi/engine_balance.h"
#include "runtime/hw/tensix_config.h"
#include "runtime/hw/tensix_isa.h"

namespace ttfd::kernel {

namespace internal {
// Adds to this hart's share of the engine's balance. That is in gp, which compiled code does not use: no kernel needs
// .bss for it, and one that pushes nothing pays nothing.
[[gnu::always_inline]] inline void AddToEngineBalance(uint32_t change) {
  if (__builtin_constant_p(change) && change == 0) {
    return;
  }
  asm volatile("add gp, gp, %0" ::"rI"(change));
}
}  // namespace internal

static_assert(kHart >= hw::kTrisc0, "only TRISC0, TRISC1 and TRISC2 have a thread of the engine");

// Semaphore 1 of the engine, by TT-Metalium's numbering: TRISC1 posts it for each half of Dst that is ready to be
// packed, TRISC2 gets it.
inline constexpr uint32_t kSemaphoreMathPack = 1;
// Semaphore 2: TRISC1 posts it and waits, TRISC0 unpacks a tile into Dst and gets it.
inline constexpr uint32_t kSemaphoreUnpackToDst = 2;

// The units that address counters belong to, for the cnt_set_mask of SETADC and its relatives.
inline constexpr uint32_t kCountersUnpack0 = 1u << 0;
inline constexpr uint32_t kCountersUnpack1 = 1u << 1;
inline constexpr uint32_t kCountersPack = 1u << 2;

// Queues an instruction for the own thread. The word is part of the hart's code and costs no register. The hart waits
// while the queue is full.
template <auto kInstruction>
[[gnu::always_inline]] inline void Push() {
  constexpr uint32_t kWord = hw::tensix::InlineWord(kInstruction.word);
  asm volatile(".word %0" ::"i"(kWord));
  internal::AddToEngineBalance(abi::EngineBalanceOf(kInstruction));
}

// The same for an instruction that is made at run time. Silicon waits while the queue is full; ttsim 1.10.0 stops with
// an error when 512 instructions are queued.
template <typename Instruction>
inline void Push(Instruction instruction) {
  firmware::Store(hw::tensix::kPush, instruction.word);
  internal::AddToEngineBalance(abi::EngineBalanceOf(instruction));
}

// Waits until every instruction that this hart pushed has been executed, its writes to L1 included. The hart stops in a
// load, which is why it shows the waypoint before it knows whether there is anything to wait for.
inline void Synchronize() {
  firmware::SetWaypoint(abi::kWaypointEngine);
  firmware::Store(hw::tensix::kSync, 0);
  firmware::Settle(hw::tensix::kSync);
  firmware::SetWaypoint(firmware::kRunningWaypoint);
}

// Queues the write of a word of the own thread's configuration, whose id is one of kThread... of tensix_config.h.
template <uint32_t kId, uint32_t kValue>
[[gnu::always_inline]] inline void SetThreadConfig() {
  Push<hw::tensix::SETC16{}.setc16_reg(kId).setc16_value(kValue)>();
}

// Stores word `word` of the configuration that all threads share. Waits for nothing: see ReadConfig().
inline void SetConfig(uint32_t word, uint32_t value) {
  firmware::Store(hw::kTensixConfig + 4 * word, value);
}

// A value of one field of a configuration word.
struct FieldValue {
  hw::tensix::ConfigField config;
  uint32_t value;
};

// Stores the configuration word of these fields, which are of one word; its other fields become 0.
template <FieldValue kFirst, FieldValue... kMore>
[[gnu::always_inline]] inline void SetConfig() {
  static_assert(((kMore.config.word == kFirst.config.word) && ...), "fields of different words");
  constexpr uint32_t kValue =
      (kFirst.config.field.In(0, kFirst.value) | ... | kMore.config.field.In(0, kMore.value));
  SetConfig(kFirst.config.word, kValue);
}

// Reads word `word` of the shared configuration and waits for the answer. If it is the word stored last, all that this
// hart stored into configuration has arrived, and instructions pushed from here on see it. ttsim 1.10.0 refuses to read
// some words.
inline uint32_t ReadConfig(uint32_t word) { return firmware::Settle(hw::kTensixConfig + 4 * word); }

// Queues the setting of the address counters of `kUnits` (kCounters...): X covers the first `kDatums` datums, Y, Z and
// W are 0. Unpackers take their datums at once; the packer takes a row of them from each of the rows it reads.
template <uint32_t kUnits, uint32_t kDatums>
[[gnu::always_inline]] inline void SetCounters() {
  using namespace hw::tensix;
  Push<SETADCXX{}.cnt_set_mask(kUnits).x_end(kDatums - 1)>();
  Push<SETADCXY{}.cnt_set_mask(kUnits).bit_mask(0b1010)>();  // Y of both channels
  Push<SETADCZW{}.cnt_set_mask(kUnits).bit_mask(0b1111)>();
}

}  // namespace ttfd::kernel
