// The disassembler says of every word what the cross toolchain's objdump says.
#include "runtime/sim/disassemble.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/hw/tensix_isa.h"
#include "runtime/sim/encoding.h"
#include "tests/isa/instruction_rows.h"
#include "tests/support/random.h"
#include "tests/support/run_command.h"

namespace ttfd::disassemble_test {
namespace {

TEST(Disassemble, WritesWhatAProgrammerWouldWrite) {
  const auto text = [](uint32_t word) { return sim::Disassemble(word, 0x1000); };
  EXPECT_EQ(text(0xFFF58513), "addi a0,a1,-1");
  EXPECT_EQ(text(0x00812503), "lw a0,8(sp)");
  EXPECT_EQ(text(0xFEA12E23), "sw a0,-4(sp)");
  EXPECT_EQ(text(0x00B50463), "beq a0,a1,0x1008");
  EXPECT_EQ(text(0xFFDFF06F), "jal zero,0xffc");
  EXPECT_EQ(text(0x00008067), "jalr zero,0(ra)");
  EXPECT_EQ(text(0xFFB00537), "lui a0,0xffb00");
  EXPECT_EQ(text(0x00351513), "slli a0,a0,0x3");
  EXPECT_EQ(text(0x60459513), "sext.b a0,a1");
  EXPECT_EQ(text(0x06B6252F), "amoadd.w.aqrl a0,a1,(a2)");
  EXPECT_EQ(text(0x0310000F), "fence rw,w");
  EXPECT_EQ(text(0x7C059073), "csrrw zero,0x7c0,a1");
  EXPECT_EQ(text(0x00000000), ".word 0x00000000");
  EXPECT_EQ(text(0xFFFFFFFF), ".word 0xffffffff");
  EXPECT_EQ(text(hw::tensix::InlineWord(hw::tensix::MVMUL{}.dst(8).addr_mode(1).word)),
            "MVMUL dst=8 addr_mode=1");
}

// "   4:\t00b50533          \tadd\ta0,a0,a1 # comment" -> "add a0,a0,a1"; a target is "8 <.text+0x8>" or "0x8".
std::string Normal(std::string line) {
  line = line.substr(0, line.find(" #"));
  line = line.substr(0, line.find(" <"));
  const size_t mnemonic = line.find('\t', line.find('\t') + 1);
  if (mnemonic == std::string::npos) return "";
  line = line.substr(mnemonic + 1);
  for (char& letter : line) letter = letter == '\t' ? ' ' : letter;
  while (!line.empty() && line.back() == ' ') line.pop_back();
  const bool jumps = line.rfind("jal ", 0) == 0 || line.rfind("b", 0) == 0;
  const size_t comma = line.rfind(',');
  if (jumps && comma != std::string::npos && line.compare(comma + 1, 2, "0x") != 0) {
    line.insert(comma + 1, "0x");
  }
  return line;
}

// What objdump says of the words, the first of them at address 0.
std::vector<std::string> Objdump(const std::vector<uint32_t>& words) {
  char folder[] = "/tmp/ttfd-disassemble-XXXXXX";
  EXPECT_NE(mkdtemp(folder), nullptr);
  const std::string base = std::string(folder) + "/words";
  {
    std::ofstream source(base + ".s");
    for (const uint32_t word : words) source << ".word " << word << "\n";
  }
  const auto run = [](std::vector<std::string> command) {
    command[0].insert(0, "riscv64-unknown-elf-");
    const StatusOr<CommandResult> result = RunCommand(command, std::chrono::seconds(60));
    EXPECT_TRUE(result.ok() && result->exit_code == 0)
        << (result.ok() ? result->errors : result.status().ToString());
    return result.ok() ? result->out : "";
  };
  run({"as", "-march=rv32ima_zicsr_zifencei_zba_zbb", "-mabi=ilp32", "-o", base + ".o",
       base + ".s"});
  run({"objcopy", "--strip-all", base + ".o", base + ".stripped"});  // or it takes words for data
  std::istringstream text(run({"objdump", "-d", "-M", "no-aliases", base + ".stripped"}));
  for (const char* const end : {".s", ".o", ".stripped"}) std::remove((base + end).c_str());
  rmdir(folder);
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    if (line.find(":\t") != std::string::npos) lines.push_back(Normal(line));
  }
  return lines;
}

// Fields that only we print differently: CSRs by number, fences by what they order.
uint32_t Plain(uint32_t word) {
  if ((word & 0x7F) == 0x73 && (word & 0x3000) != 0) return (word & 0xFFFFF) | 0x7C000000;
  if ((word & 0x707F) == 0x0F) return (word & 0x0FF0000F) | 0x01100000;
  if ((word & 0x707F) == 0x100F) return 0x0000100F;
  return word;
}

TEST(Disassemble, AgreesWithObjdumpOnEveryInstructionWithRandomFields) {
  if (!HaveCommand("riscv64-unknown-elf-objdump")) GTEST_SKIP() << "no cross toolchain";
  Random random(1);
  std::vector<uint32_t> words;
  for (const testing::InstructionRow& row : testing::kInstructionRows) {
    for (int i = 0; i < 100; ++i) words.push_back(Plain(row.match | (random() & ~row.mask)));
  }
  const std::vector<std::string> expected = Objdump(words);
  ASSERT_EQ(expected.size(), words.size());
  for (uint32_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(sim::Disassemble(words[i], 4 * i), expected[i]) << std::hex << words[i];
  }
}

// Random words, most of them no instructions: neither knows one that the other does not.
TEST(Disassemble, KnowsTheWordsThatObjdumpKnows) {
  if (!HaveCommand("riscv64-unknown-elf-objdump")) GTEST_SKIP() << "no cross toolchain";
  constexpr uint32_t kOpcodes[] = {0x03, 0x13, 0x17, 0x23, 0x2F, 0x33, 0x37, 0x63, 0x67, 0x6F};
  Random random(2);
  std::vector<uint32_t> words;
  while (words.size() < 20000) {
    const uint32_t word = (random() & ~0x7Fu) | kOpcodes[random() % std::size(kOpcodes)];
    // objdump shows shifts by 32 and more, which RV32 reserves.
    const bool shift = (word & 0x307F) == 0x1013;
    if (!shift || (word >> 25 & 1) == 0) words.push_back(word);
  }
  const std::vector<std::string> expected = Objdump(words);
  ASSERT_EQ(expected.size(), words.size());
  for (uint32_t i = 0; i < words.size(); ++i) {
    const bool known = expected[i].rfind(".", 0) != 0;
    const std::string text = sim::Disassemble(words[i], 4 * i);
    EXPECT_EQ(text.rfind(".word", 0) != 0, known) << std::hex << words[i] << " " << expected[i];
    if (known) {
      EXPECT_EQ(text, expected[i]) << std::hex << words[i];
    }
  }
}

}  // namespace
}  // namespace ttfd::disassemble_test
