// Loads, stores, fence and L1 read-back: the only file with `volatile` in it.
//
// Registers take aligned 32-bit accesses only. Sixteen-bit accesses are for L1.
#pragma once

#include <stdint.h>

namespace ttfd::firmware {

inline uint32_t Load(uint32_t address) {
  return *reinterpret_cast<const volatile uint32_t*>(address);
}

inline void Store(uint32_t address, uint32_t value) {
  *reinterpret_cast<volatile uint32_t*>(address) = value;
}

inline uint32_t LoadHalf(uint32_t address) {
  return *reinterpret_cast<const volatile uint16_t*>(address);
}

inline void StoreHalf(uint32_t address, uint32_t value) {
  *reinterpret_cast<volatile uint16_t*>(address) = static_cast<uint16_t>(value);
}

// Waits until the store queue is empty and loads have returned, and drops the L0 data cache. It does
// not order stores to different regions (L1, registers): see SettleL1.
inline void Fence() { asm volatile("fence" ::: "memory"); }

// Loads and uses the value, which holds back whatever follows until the load was answered: behind all
// stores to its region that left the hart before it. One to the same word has; of one to another word
// that is sure only after a fence (tt-isa-documentation BlackholeA0/TensixTile/BabyRISCV/MemoryOrdering.md).
inline uint32_t Settle(uint32_t address) {
  uint32_t value = Load(address);
  asm volatile("addi %0, %0, 0" : "+r"(value)::"memory");
  return value;
}

// Stores to L1 and to registers are processed independently. Code that stored to L1 and is about to
// tell somebody through a register - the NIU, a stream - does this first.
inline void SettleL1(uint32_t last_stored_address) { Settle(last_stored_address); }

}  // namespace ttfd::firmware
