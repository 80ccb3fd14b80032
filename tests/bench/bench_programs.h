// The programs that the instruction benchmarks run on BRISC.
#pragma once

#include "runtime/hw/grid.h"
#include "runtime/hw/noc.h"
#include "runtime/hw/tensix.h"
#include "tests/support/noc_asm.h"
#include "tests/support/rv32_asm.h"

namespace ttfd::bench {

// 24 register instructions and a jump.
inline Rv32Asm AluLoop() {
  Rv32Asm a;
  a.Li(kA0, 1);
  a.Li(kA1, 12345);
  a.Li(kA2, 77);
  const Rv32Asm::Label loop = a.Here();
  for (int i = 0; i < 4; ++i) {
    a.Add(kA0, kA0, kA1);
    a.Xor(kA1, kA1, kT0);
    a.Slli(kA3, kA2, 3);
    a.Srli(kA4, kA3, 5);
    a.Addi(kT0, kT0, 1);
    a.Or(kA5, kA0, kA2);
  }
  a.Jump(loop);
  return a;
}

// A quarter loads and stores (L1 and local RAM), a branch that goes both ways.
inline Rv32Asm MixLoop() {
  Rv32Asm a;
  a.Li(kS0, 0x10000);
  a.Li(kS1, hw::kLocalRamAddress + 0x100);
  const Rv32Asm::Label loop = a.Here();
  a.Andi(kA1, kA0, 1023);
  a.Slli(kA1, kA1, 2);
  a.Add(kA2, kS0, kA1);
  a.Lw(kA3, kA2, 0);
  a.Add(kA4, kA4, kA3);
  a.Sw(kA4, kA2, 0);
  a.Andi(kA5, kA0, 1);
  const Rv32Asm::Label odd = a.Here();
  a.Beq(kA5, kZero, odd);
  a.Addi(kA4, kA4, 3);
  a.BindBranch(odd, a.Here());
  a.Lw(kT1, kS1, 0);
  a.Addi(kT1, kT1, 1);
  a.Sw(kT1, kS1, 0);
  a.Addi(kA0, kA0, 1);
  a.Jump(loop);
  return a;
}

inline constexpr hw::Coordinate kReadingTile = {1, 2};
inline constexpr hw::Coordinate kReadTile = {1, 3};

// Reads 16 KiB from another tile's L1, again and again.
inline Rv32Asm ReadLoop() {
  Rv32Asm a;
  EmitNoc(a, NocRead(kReadingTile, kReadTile, 0x10000, 0x20000, hw::kNocMaxPacketBytes));
  const Rv32Asm::Label loop = a.Here();
  for (int i = 0; i < 8; ++i) a.Sw(kT5, kT6, hw::kNocCommand);
  a.Jump(loop);
  return a;
}

}  // namespace ttfd::bench
