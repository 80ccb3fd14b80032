// Compiled programs leave the same memory, stack and bss included, and the same registers on the model as under
// qemu-riscv32.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/isa/peer_program.h"
#include "tests/isa/programs/programs.h"

namespace ttfd::testing::qemu_compiled_test {
namespace {

std::vector<std::byte> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  const ByteSpan bytes = std::as_bytes(std::span(content));
  return {bytes.begin(), bytes.end()};
}

// start.S: a jump, then the address where the end begins; everything before it is the result.
PeerProgram LoadProgram(const std::string& name) {
  PeerProgram program;
  const std::string path = std::string(TTFD_ISA_PROGRAMS "/") + name;
  program.for_qemu = ReadFile(path + ".qemu.bin");
  program.for_model = ReadFile(path + ".model.bin");
  if (program.for_qemu.size() < 8) return program;
  program.entry = kPeerBase;
  program.result = kPeerBase;
  program.result_bytes = LoadAt<uint32_t>(program.for_qemu.data() + 4) - kPeerBase;
  return program;
}

class QemuCompiled : public ::testing::TestWithParam<const char*> {};

TEST_P(QemuCompiled, ProgramsEndAsUnderQemu) {
  if (const std::string missing = QemuMissing(); !missing.empty()) GTEST_SKIP() << missing;
  const PeerProgram program = LoadProgram(GetParam());
  ASSERT_GT(program.result_bytes, 10 * kResultWords * 4);
  ASSERT_LE(program.result_bytes, program.for_model.size());
  // Up to their ends they are the same program.
  ASSERT_EQ(std::memcmp(program.for_qemu.data(), program.for_model.data(), program.result_bytes),
            0);
  const StatusOr<PeerResult> expected = RunUnderQemu(program);
  ASSERT_TRUE(expected.ok()) << expected.status().ToString();
  for (const char* const options : {"sim", "sim:hazards=on,seed=7"}) {
    const StatusOr<PeerResult> found = RunOnModel(program, options);
    ASSERT_TRUE(found.ok()) << options << found.status().ToString();
    for (uint32_t i = 0; i < program.result_bytes / 4; ++i) {
      ASSERT_EQ(LoadAt<uint32_t>(found->bytes.data() + 4 * i),
                LoadAt<uint32_t>(expected->bytes.data() + 4 * i))
          << options << std::hex << " at 0x" << kPeerBase + 4 * i << "; addresses are in "
          << TTFD_ISA_PROGRAMS "/" << GetParam() << ".model.elf";
    }
    RecordProperty("instructions", std::to_string(found->instructions));
  }
}

std::string NameOf(const ::testing::TestParamInfo<const char*>& info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(Variants, QemuCompiled,
                         ::testing::Values("rv32im_O0", "rv32im_O1", "rv32im_O2", "rv32im_O3",
                                           "rv32im_Os", "rv32im_zba_zbb_O0", "rv32im_zba_zbb_O1",
                                           "rv32im_zba_zbb_O2", "rv32im_zba_zbb_O3",
                                           "rv32im_zba_zbb_Os"),
                         NameOf);

// Independent of both machines: what the programs have to find.
TEST(QemuCompiledKnown, AnswersOfTheModelAreThoseOfTheBooks) {
  const PeerProgram program = LoadProgram("rv32im_O2");
  const StatusOr<PeerResult> found = RunOnModel(program, "sim");
  ASSERT_TRUE(found.ok()) << found.status().ToString();
  // main.cc: results[program][word] lies behind start.S's code, found by the CRC of "123456789".
  const auto* const words = reinterpret_cast<const uint32_t*>(found->bytes.data());
  uint32_t at = 0;
  while (at + 4 < program.result_bytes / 4 && words[at + 4] != 0xCBF43926) ++at;
  const auto result = [&](uint32_t which, uint32_t word) {
    return words[at + which * kResultWords + word];
  };
  EXPECT_EQ(result(0, 0), result(0, 1));  // CRC by bits and by table
  EXPECT_EQ(result(1, 0), 0xBA7816BFu);   // SHA-256 of "abc"
  EXPECT_EQ(result(1, 16), 0x248D6A61u);  // FIPS 180-2, the two-block message
  EXPECT_EQ(result(2, 0), result(2, 3));  // quicksort and heapsort
  EXPECT_EQ(result(2, 0), result(2, 4));  // and merge sort
  EXPECT_EQ(result(5, 0), 21u);           // Ackermann(2, 9)
  EXPECT_EQ(result(5, 1), 610u);          // Fibonacci(15)
  EXPECT_EQ(result(5, 2), 4u);            // queens on a board of 6
  EXPECT_EQ(result(5, 3), 127u);          // moves of 7 disks
}

}  // namespace
}  // namespace ttfd::testing::qemu_compiled_test
