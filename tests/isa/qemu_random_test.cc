// Random instruction sequences end with the same registers and memory on the model as under qemu-riscv32.
//
//   TTFD_ISA_SEED=N        only the sequence of that seed, or the first one of
//   TTFD_ISA_SEQUENCES=N   that many
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/sim/encoding.h"
#include "runtime/sim/inspector.h"
#include "tests/isa/peer_program.h"
#include "tests/isa/random_program.h"

namespace ttfd::testing::qemu_random_test {
namespace {

constexpr uint32_t kSequencesOfAProgram = 500;

uint32_t FromEnvironment(const char* name, uint32_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<uint32_t>(std::strtoul(text, nullptr, 0));
}

std::vector<std::vector<SequenceSpec>> Programs(uint32_t first, uint32_t count) {
  std::vector<std::vector<SequenceSpec>> programs;
  for (uint32_t i = 0; i < count; ++i) {
    if (i % kSequencesOfAProgram == 0) programs.emplace_back();
    programs.back().push_back({first + i});
  }
  return programs;
}

// Counts executed instructions by what they are.
class Coverage final : public sim::Inspector {
 public:
  bool BeforeInstruction(const sim::Hart& /*hart*/, uint32_t word) override {
    if (const sim::Encoding* const encoding = sim::FindEncoding(word)) ++counts_[encoding->name];
    return true;
  }
  uint64_t Count(const std::string& name) const {
    const auto found = counts_.find(name);
    return found == counts_.end() ? 0 : found->second;
  }

 private:
  std::map<std::string_view, uint64_t> counts_;
};

// The result of the last program, so that it is run once for several modes of the model.
class RememberingQemu {
 public:
  StatusOr<PeerResult> operator()(const PeerProgram& program) {
    if (result_.bytes.empty() || program.for_qemu != program_) {
      ASSIGN_OR_RETURN(result_, RunUnderQemu(program));
      program_ = program.for_qemu;
    }
    return result_;
  }

 private:
  std::vector<std::byte> program_;
  PeerResult result_;
};

// Sequences from number `first` on, or those that the environment names, on the model by its fast interpreter, by the
// careful one, and with every hazard: one hart on its own must not notice any.
TEST(QemuRandom, SequencesEndAsUnderQemu) {
  if (const std::string missing = QemuMissing(); !missing.empty()) GTEST_SKIP() << missing;
  const bool one = std::getenv("TTFD_ISA_SEED") != nullptr;
  const uint32_t first = FromEnvironment("TTFD_ISA_SEED", 1);
  const uint32_t count = FromEnvironment("TTFD_ISA_SEQUENCES", one ? 1 : 4000);
  RememberingQemu qemu;
  Coverage coverage;
  uint64_t instructions = 0;
  for (const std::vector<SequenceSpec>& sequences : Programs(first, count)) {
    const std::string hazards = "sim:hazards=on,seed=" + std::to_string(sequences[0].seed);
    const std::pair<std::string, Runner> modes[] = {
        {"fast",
         [&](const PeerProgram& program) -> StatusOr<PeerResult> {
           ASSIGN_OR_RETURN(PeerResult result, RunOnModel(program, "sim"));
           instructions += result.instructions;
           return result;
         }},
        {"watched",
         [&](const PeerProgram& program) { return RunOnModel(program, "sim", &coverage); }},
        {hazards, [&](const PeerProgram& program) { return RunOnModel(program, hazards); }},
    };
    for (const auto& [mode, model] : modes) {
      const Status status = RunBoth(sequences, std::ref(qemu), model);
      ASSERT_TRUE(status.ok()) << mode << ": " << StatusMessage(status);
    }
  }
  RecordProperty("sequences", std::to_string(count));
  RecordProperty("instructions", std::to_string(instructions));
  std::printf("%u sequences, %llu instructions in each of three modes\n", count,
              static_cast<unsigned long long>(instructions));
  if (count < 1000) return;
  for (const std::string& name : RandomInstructions()) {
    EXPECT_GE(coverage.Count(name), count / 10) << name;
  }
}

// A model that is wrong in one instruction: `right` is executed as `wrong`, wherever a sequence has it.
Runner Mistaken(uint32_t right, uint32_t mask, uint32_t wrong) {
  return [=](const PeerProgram& program) -> StatusOr<PeerResult> {
    PeerProgram changed = program;
    for (size_t at = program.result_bytes; at < changed.for_model.size(); at += 4) {
      const auto word = LoadAt<uint32_t>(changed.for_model.data() + at);
      if ((word & mask) == right) StoreAt(changed.for_model.data() + at, (word & ~mask) | wrong);
    }
    return RunOnModel(changed, "sim");
  };
}

const Runner kModel = [](const PeerProgram& program) { return RunOnModel(program, "sim"); };

TEST(RandomSequences, AWrongInstructionIsFoundAndShownInTheShortestBeginningOfItsSequence) {
  struct Mistake {
    const char* name;
    uint32_t right;
    uint32_t mask;
    uint32_t wrong;
  };
  constexpr Mistake kMistakes[] = {
      {"mulhsu", 0x02002033, 0xFE00707F, 0x02003033},    // is mulhu
      {"sra", 0x40005033, 0xFE00707F, 0x00005033},       // is srl
      {"rori", 0x60005013, 0xFE00707F, 0x40005013},      // is srai
      {"lh", 0x00001003, 0x0000707F, 0x00005003},        // is lhu
      {"amomin.w", 0x8000202F, 0xF800707F, 0xC000202F},  // is amominu.w
      {"bge", 0x00005063, 0x0000707F, 0x00007063},       // is bgeu
      {"sext.b", 0x60401013, 0xFFF0707F, 0x60501013},    // is sext.h
      {"div", 0x02004033, 0xFE00707F, 0x02005033},       // is divu
      {"rev8", 0x69805013, 0xFFF0707F, 0x00000073},      // is ecall, which the model refuses
  };
  const std::vector<SequenceSpec> sequences = Programs(1, 200)[0];
  for (const Mistake& mistake : kMistakes) {
    const Status status =
        RunBoth(sequences, kModel, Mistaken(mistake.right, mistake.mask, mistake.wrong));
    ASSERT_FALSE(status.ok()) << mistake.name;
    const std::string message(StatusMessage(status));
    EXPECT_NE(message.find("seed "), std::string::npos) << message;
    EXPECT_NE(message.find(" items are enough: "), std::string::npos) << message;
    EXPECT_NE(message.find(std::string("  ") + mistake.name + " "), std::string::npos) << message;
  }
}

TEST(RandomSequences, ADifferenceIsNamedByWhatTheWordMeans) {
  const RandomProgram program(Programs(1, 3)[0]);
  const std::vector<std::byte> right(program.program().result_bytes);
  EXPECT_FALSE(Compare(right, right).has_value());
  const auto difference = [&](uint32_t word) {
    std::vector<std::byte> wrong = right;
    wrong[4 * word] = std::byte{7};
    return Compare(right, wrong).value_or(Difference{});
  };
  EXPECT_EQ(difference(31).what, "x31");
  EXPECT_EQ(difference(kBlockWords + kBlockData + 5).what, "data word 5");
  EXPECT_EQ(difference(kBlockWords + kBlockData + 5).sequence, 1u);
  EXPECT_EQ(difference(2 * kBlockWords + kBlockLocal).what, "word 0 of local RAM");
  EXPECT_EQ(difference(31).expected, 0u);
  EXPECT_EQ(difference(31).found, 7u);
  EXPECT_TRUE(Compare(right, ByteSpan(right).first(right.size() - 4)).has_value());
}

TEST(RandomSequences, EqualSeedsGiveEqualSequencesAndDifferentOnesDoNot) {
  const RandomProgram one(Programs(1, 1)[0]), again(Programs(1, 1)[0]), other(Programs(2, 1)[0]);
  EXPECT_EQ(one.program().for_qemu, again.program().for_qemu);
  EXPECT_NE(one.program().for_qemu, other.program().for_qemu);
  EXPECT_NE(one.program().for_qemu, one.program().for_model);
}

}  // namespace
}  // namespace ttfd::testing::qemu_random_test
