// Every instruction gives the results of the RISC-V manual.
#include <gtest/gtest.h>

#include <iterator>

#include "runtime/hw/noc.h"
#include "tests/support/rv32_asm.h"
#include "tests/support/sim_chip.h"

namespace ttfd::instruction_test {
namespace {

struct Row {
  const char* text;
  uint32_t word;
  uint32_t a0;
  uint32_t a1;
  uint32_t a2;
};

constexpr Row kRows[] = {
#include "tests/isa/instruction_table.inc"
};

constexpr uint32_t kData = 0x80000;
constexpr hw::Coordinate kTile = SimChip::kTile;

// One long program: for each row load the operands, execute the word, store the result.
TEST(Instructions, ComputeWhatTheManualSays) {
  SimChip chip;
  Rv32Asm program;
  std::vector<uint32_t> data;
  program.Li(kS0, kData);
  for (const Row& row : kRows) {
    program.Lw(kA0, kS0, 0);
    program.Lw(kA1, kS0, 4);
    program.Word(row.word);
    program.Sw(kA2, kS0, 8);
    program.Addi(kS0, kS0, 12);
    data.insert(data.end(), {row.a0, row.a1, ~row.a2});
  }
  program.Halt();
  ASSERT_TRUE(chip.Write(kTile, kData, std::as_bytes(std::span(data))).ok());
  const Status status = chip.Run(program);
  ASSERT_TRUE(status.ok()) << status.ToString();
  for (uint32_t i = 0; i < std::size(kRows); ++i) {
    const Row& row = kRows[i];
    EXPECT_EQ(chip.ReadWord(kTile, kData + 12 * i + 8), row.a2)
        << row.text << " with a0=" << std::hex << row.a0 << " a1=" << row.a1;
  }
}

TEST(Instructions, BranchOnTheComparisonsTheyName) {
  struct Branch {
    uint32_t match;
    const char* name;
    bool taken[5];  // for the operand pairs below
  };
  constexpr uint32_t kPairs[5][2] = {{0, 0}, {1, 2}, {2, 1}, {0xFFFFFFFF, 1}, {1, 0xFFFFFFFF}};
  constexpr Branch kBranches[] = {
      {0x0063, "beq", {true, false, false, false, false}},
      {0x1063, "bne", {false, true, true, true, true}},
      {0x4063, "blt", {false, true, false, true, false}},
      {0x5063, "bge", {true, false, true, false, true}},
      {0x6063, "bltu", {false, true, false, false, true}},
      {0x7063, "bgeu", {true, false, true, true, false}},
  };
  SimChip chip;
  for (const Branch& branch : kBranches) {
    for (int i = 0; i < 5; ++i) {
      Rv32Asm a;
      a.Li(kA0, kPairs[i][0]);
      a.Li(kA1, kPairs[i][1]);
      const Rv32Asm::Label at = a.Here();
      a.B(branch.match, kA0, kA1, at);
      a.Addi(kA2, kZero, 1);  // not taken
      a.Halt();
      a.BindBranch(at, a.Here());
      a.Addi(kA2, kZero, 2);
      a.Halt();
      ASSERT_TRUE(chip.Run(a).ok());
      EXPECT_EQ(chip.hart(kTile, hw::kBrisc).x[kA2], branch.taken[i] ? 2u : 1u)
          << branch.name << " " << kPairs[i][0] << " " << kPairs[i][1];
    }
  }
}

TEST(Instructions, JumpAndLinkForwardsBackwardsAndThroughRegisters) {
  SimChip chip;
  Rv32Asm a;
  const Rv32Asm::Label over = a.Here();
  a.Jal(kRa, over);
  const Rv32Asm::Label back = a.Here();
  a.Auipc(kA1, 0x12345000);
  a.Li(kT0, 0x101);                      // odd: bit 0 is ignored
  a.Jalr(kT0, kT0, -1 - 0x100 + 0x200);  // to 0x200; rd == rs1
  while (a.Here() < 0x100) a.Word(0x13);
  a.BindJump(over, a.Here());
  a.Jal(kA0, back);
  while (a.Here() < 0x200) a.Word(0x13);
  a.Halt();
  ASSERT_TRUE(chip.Run(a).ok());
  const sim::Hart& hart = chip.hart(kTile, hw::kBrisc);
  EXPECT_EQ(hart.x[kRa], 4u);
  EXPECT_EQ(hart.x[kA0], 0x104u);
  EXPECT_EQ(hart.x[kA1], 0x12345004u);
  EXPECT_EQ(hart.x[kT0], 0x10u);
  EXPECT_EQ(hart.pc, 0x200u);
}

TEST(Instructions, LoadsExtendAndStoresTruncateInL1AndLocalRam) {
  SimChip chip;
  for (const uint32_t base : {0x10000u, hw::kLocalRamAddress}) {
    Rv32Asm a;
    a.Li(kS0, base);
    a.Li(kT0, 0x8180FF7F);
    a.Sw(kT0, kS0, 0);
    a.I(0x0003, kA0, kS0, 1);  // lb
    a.Lbu(kA1, kS0, 1);
    a.I(0x1003, kA2, kS0, 2);  // lh
    a.Lhu(kA3, kS0, 2);
    a.I(0x0003, kA4, kS0, 0);
    a.Sw(kZero, kS0, 4);
    a.Sb(kT0, kS0, 5);
    a.Sh(kT0, kS0, 6);
    a.Lw(kA5, kS0, 4);
    a.Addi(kS1, kS0, 2047);
    a.Lw(kA6, kS1, -2047);
    a.Halt();
    ASSERT_TRUE(chip.Run(a).ok());
    const sim::Hart& hart = chip.hart(kTile, hw::kBrisc);
    EXPECT_EQ(hart.x[kA0], 0xFFFFFFFFu);
    EXPECT_EQ(hart.x[kA1], 0xFFu);
    EXPECT_EQ(hart.x[kA2], 0xFFFF8180u);
    EXPECT_EQ(hart.x[kA3], 0x8180u);
    EXPECT_EQ(hart.x[kA4], 0x7Fu);
    EXPECT_EQ(hart.x[kA5], 0xFF7F7F00u);
    EXPECT_EQ(hart.x[kA6], 0x8180FF7Fu);
  }
}

TEST(Instructions, WritesToRegisterZeroAreDropped) {
  SimChip chip;
  Rv32Asm a;
  a.Li(kT0, 7);
  a.Add(kZero, kT0, kT0);
  a.Lui(kZero, 0x1000);
  a.Lw(kZero, kZero, 0);
  a.Jal(kZero, a.Here() + 4);
  a.Add(kA0, kZero, kZero);
  a.Halt();
  ASSERT_TRUE(chip.Run(a).ok());
  EXPECT_EQ(chip.hart(kTile, hw::kBrisc).x[0], 0u);
  EXPECT_EQ(chip.hart(kTile, hw::kBrisc).x[kA0], 0u);
}

TEST(Instructions, AtomicsReturnTheOldWordAndStoreTheNewOne) {
  struct Amo {
    uint32_t funct7;
    const char* name;
    uint32_t memory;
    uint32_t operand;
    uint32_t result;
  };
  // aq and rl are the low bits of funct7 and change nothing.
  constexpr Amo kAmos[] = {
      {0x00, "amoadd", 0xFFFFFFFF, 2, 1},
      {0x04, "amoswap", 5, 9, 9},
      {0x10, "amoxor", 0xF0F0, 0xFF00, 0x0FF0},
      {0x20, "amoor", 0xF0F0, 0xFF00, 0xFFF0},
      {0x30, "amoand", 0xF0F0, 0xFF00, 0xF000},
      {0x40, "amomin", 0xFFFFFFFF, 1, 0xFFFFFFFF},
      {0x40, "amomin", 1, 0xFFFFFFFF, 0xFFFFFFFF},
      {0x50, "amomax", 0xFFFFFFFF, 1, 1},
      {0x60, "amominu", 0xFFFFFFFF, 1, 1},
      {0x70, "amomaxu", 0xFFFFFFFF, 1, 0xFFFFFFFF},
      {0x03, "amoadd.aqrl", 3, 4, 7},
  };
  SimChip chip;
  for (const Amo& amo : kAmos) {
    Rv32Asm a;
    a.StoreWord(0x10000, amo.memory);
    a.Li(kA0, 0x10000);
    a.Li(kA1, amo.operand);
    a.R(amo.funct7 << 25 | 0x202F, kA2, kA0, kA1);
    a.Halt();
    ASSERT_TRUE(chip.Run(a).ok());
    EXPECT_EQ(chip.hart(kTile, hw::kBrisc).x[kA2], amo.memory) << amo.name;
    EXPECT_EQ(chip.ReadWord(kTile, 0x10000), amo.result) << amo.name;
  }
}

TEST(Instructions, CsrInstructionsWorkOnCfg0) {
  SimChip chip;
  Rv32Asm a;
  a.Li(kT0, 0x0106000A);
  a.I(0x1073, kA0, kT0, 0x7C0);  // csrrw
  a.Li(kT1, 8);
  a.I(0x3073, kA1, kT1, 0x7C0);    // csrrc
  a.I(0x2073, kA2, kZero, 0x7C0);  // csrrs
  a.I(0x5073, kA3, 2, 0x7C0);      // csrrwi
  a.I(0x6073, kA4, 8, 0x7C0);      // csrrsi
  a.I(0x7073, kA5, 2, 0x7C0);      // csrrci
  a.I(0x2073, kA6, kZero, 0x7C0);
  a.Halt();
  ASSERT_TRUE(chip.Run(a).ok());
  const sim::Hart& hart = chip.hart(kTile, hw::kBrisc);
  EXPECT_EQ(hart.x[kA0], 0x20000u);  // StMergeTimer is 16 after reset
  EXPECT_EQ(hart.x[kA1], 0x0106000Au);
  EXPECT_EQ(hart.x[kA2], 0x01060002u);
  EXPECT_EQ(hart.x[kA3], 0x01060002u);
  EXPECT_EQ(hart.x[kA4], 2u);
  EXPECT_EQ(hart.x[kA5], 10u);
  EXPECT_EQ(hart.x[kA6], 8u);
}

TEST(Instructions, EveryFenceACompilerEmitsIsAccepted) {
  SimChip chip;
  Rv32Asm a;
  for (const uint32_t word : {0x0FF0000Fu, 0x0230000Fu, 0x0310000Fu, 0x0330000Fu}) a.Word(word);
  a.Li(kA0, 42);
  a.Halt();
  ASSERT_TRUE(chip.Run(a).ok());
  EXPECT_EQ(chip.hart(kTile, hw::kBrisc).x[kA0], 42u);
}

TEST(Instructions, CodeThatIsOverwrittenRunsAsItIsNow) {
  SimChip chip;
  Rv32Asm a;
  a.Li(kS0, 0);
  const Rv32Asm::Label loop = a.Here();
  const Rv32Asm::Label patched = loop + 8;
  a.Addi(kS1, kS1, 1);
  a.Addi(kS1, kS1, 0);
  a.Addi(kA0, kA0, 1);  // becomes addi a0, a0, 100
  a.Li(kT0, 0x06450513);
  a.Sw(kT0, kZero, static_cast<int32_t>(patched));
  a.Li(kT1, 3);
  a.Bltu(kS1, kT1, loop);
  a.Halt();
  ASSERT_TRUE(chip.Run(a).ok());
  EXPECT_EQ(chip.hart(kTile, hw::kBrisc).x[kA0], 201u);
}

TEST(Instructions, TheNextInstructionMayBeTheOneJustWritten) {
  // Pairs of instructions are run in one go; storing to the second of them is no exception.
  SimChip chip;
  Rv32Asm a;
  a.Li(kT0, 0x06450513);  // addi a0, a0, 100
  a.Li(kS1, 0);
  const Rv32Asm::Label loop = a.Here();
  a.Sw(kT0, kZero, static_cast<int32_t>(loop) + 4);
  a.Addi(kA0, kA0, 1);    // replaced before it is executed for the first time
  a.Li(kT0, 0x00150513);  // addi a0, a0, 1
  a.Addi(kS1, kS1, 1);
  a.Li(kT1, 3);
  a.Bltu(kS1, kT1, loop);
  a.Halt();
  ASSERT_TRUE(chip.Run(a).ok());
  EXPECT_EQ(chip.hart(kTile, hw::kBrisc).x[kA0], 102u);
}

TEST(Instructions, TheHostMayReplaceEitherInstructionOfAPair) {
  for (const uint32_t which : {0u, 1u}) {
    SimChip chip;
    Rv32Asm a;
    const Rv32Asm::Label loop = a.Here();
    a.Addi(kA0, kA0, 0);
    a.Addi(kA1, kA1, 0);
    a.Addi(kT0, kT0, 1);
    a.Jump(loop);
    ASSERT_TRUE(chip.Run(a, 1000).ok());
    // addi a0, a0, 1 or addi a1, a1, 1
    chip.WriteWord(kTile, 4 * which, which == 0 ? 0x00150513 : 0x00158593);
    const uint32_t before = chip.hart(kTile, hw::kBrisc).x[kT0];
    ASSERT_TRUE(chip.device().Advance(1000).ok());
    const sim::Hart& hart = chip.hart(kTile, hw::kBrisc);
    EXPECT_EQ(hart.x[kA0 + which], hart.x[kT0] - before);
    EXPECT_EQ(hart.x[kA0 + 1 - which], 0u);
  }
}

TEST(Instructions, APairMayBeEnteredInTheMiddle) {
  SimChip chip;
  Rv32Asm a;
  a.Li(kT1, 10);
  a.Addi(kA0, kA0, 1);  // runs once, as the first of a pair
  const Rv32Asm::Label middle = a.Here();
  a.Addi(kA1, kA1, 1);
  a.Addi(kT1, kT1, -1);
  a.Bne(kT1, kZero, middle);
  a.Halt();
  ASSERT_TRUE(chip.Run(a).ok());
  EXPECT_EQ(chip.hart(kTile, hw::kBrisc).x[kA0], 1u);
  EXPECT_EQ(chip.hart(kTile, hw::kBrisc).x[kA1], 10u);
}

TEST(Instructions, AFaultInTheSecondOfAPairNamesItsOwnPlace) {
  SimChip chip;
  Rv32Asm a;
  a.Li(kT0, 0x10001);
  a.Addi(kA0, kA0, 1);
  a.Lw(kA1, kT0, 0);
  EXPECT_FALSE(chip.Run(a).ok());
  ASSERT_TRUE(chip.chip().fault().has_value());
  EXPECT_EQ(chip.chip().fault()->pc, 4 * (a.bytes().size() / 4 - 1));
  const sim::Hart& hart = chip.hart(kTile, hw::kBrisc);
  EXPECT_EQ(hart.x[kA0], 1u);
  EXPECT_EQ(hart.retired, a.bytes().size() / 4 - 1);
}

TEST(Instructions, RetiredInstructionsAreCountedExactly) {
  SimChip chip;
  Rv32Asm a;
  a.Li(kT0, 10);
  const Rv32Asm::Label loop = a.Here();
  a.Addi(kT0, kT0, -1);
  a.Bne(kT0, kZero, loop);
  a.Word(0x00100073);  // ebreak: a fault, not executed
  EXPECT_FALSE(chip.Run(a).ok());
  EXPECT_EQ(chip.hart(kTile, hw::kBrisc).retired, 1u + 2 * 10);
}

}  // namespace
}  // namespace ttfd::instruction_test
