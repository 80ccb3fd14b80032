// The balance of a launch: source banks and semaphores that its kernels leave in the tile's Tensix engine. A balance
// other than 0 ends the launch as a fault.
//
// Source banks filled less those freed, and posts of semaphores less gets, are one number: a sum of weights, one for
// each bank and semaphore, modulo 2^32. Each TRISC has its share in gp. The SDK adds the weight of an instruction where
// it is pushed, base firmware takes the share when the kernel has returned (SubordinateSync::engine_balance), and BRISC
// adds the three. Where all was balanced the sum is 0, however many instructions there were. Otherwise its fields say
// what was not, if each difference fits its field.
#pragma once

#include <stdint.h>

#include "runtime/hw/tensix_isa.h"

namespace ttfd::abi {

// Fields of the sum, from low bits to high ones, each with a sign: SrcA, the semaphores, SrcB. SrcB's is the widest,
// since it has no field above it to carry into.
inline constexpr uint32_t kBalanceSourceABits = 3;
inline constexpr uint32_t kBalanceSemaphoreBits = 3;
inline constexpr uint32_t kBalanceSourceBBits = 5;
static_assert(kBalanceSourceABits + kBalanceSemaphoreBits * hw::tensix::kSemaphores +
                  kBalanceSourceBBits ==
              32);
inline constexpr uint32_t kBalanceSourceA = 1;  // weights
inline constexpr uint32_t kBalanceSourceB =
    1u << (kBalanceSourceABits + kBalanceSemaphoreBits * hw::tensix::kSemaphores);
constexpr uint32_t BalanceOfSemaphore(uint32_t semaphore) {
  return 1u << (kBalanceSourceABits + kBalanceSemaphoreBits * semaphore);
}

// Bit 0 of `mask`: SrcA, bit 1: SrcB.
constexpr uint32_t BalanceOfSources(uint32_t mask) {
  return (mask & 1) * kBalanceSourceA + (mask >> 1 & 1) * kBalanceSourceB;
}
constexpr uint32_t BalanceOfSemaphores(uint32_t mask) {
  uint32_t balance = 0;
  for (uint32_t i = 0; i < hw::tensix::kSemaphores; ++i) {
    balance += (mask >> i & 1) * BalanceOfSemaphore(i);
  }
  return balance;
}

// Change of the balance by an instruction. Instructions of the FPU free the banks they name in clear_dvalid; thread
// configuration kThreadKeepDvalid, which would have them keep a bank, is taken to be 0.
template <typename Instruction>
constexpr uint32_t EngineBalanceOf(Instruction instruction) {
  if constexpr (requires { instruction.clear_dvalid(); }) {
    return 0 - BalanceOfSources(instruction.clear_dvalid());
  } else {
    return 0;
  }
}
constexpr uint32_t EngineBalanceOf(hw::tensix::UNPACR instruction) {
  return instruction.set_dat_valid() * BalanceOfSources(1u << instruction.unpacker());
}
constexpr uint32_t EngineBalanceOf(hw::tensix::UNPACR_NOP instruction) {
  return instruction.set_dvalid() * BalanceOfSources(1u << instruction.unpacker());
}
constexpr uint32_t EngineBalanceOf(hw::tensix::SETDVALID instruction) {
  return BalanceOfSources(instruction.setvalid());
}
// A semaphore is 0 when it is initialised.
constexpr uint32_t EngineBalanceOf(hw::tensix::SEMINIT instruction) {
  return instruction.init_value() * BalanceOfSemaphores(instruction.sem_sel());
}
constexpr uint32_t EngineBalanceOf(hw::tensix::SEMPOST instruction) {
  return BalanceOfSemaphores(instruction.sem_sel());
}
constexpr uint32_t EngineBalanceOf(hw::tensix::SEMGET instruction) {
  return 0 - BalanceOfSemaphores(instruction.sem_sel());
}

}  // namespace ttfd::abi
