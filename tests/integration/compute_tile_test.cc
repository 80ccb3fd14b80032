// The compute engine at work: the five tile kernels, which pass tiles along through small circular buffers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "firmware/kernel_elfs.h"
#include "runtime/boot/kernel_elf.h"
#include "runtime/command/program.h"
#include "tests/support/booted_card.h"
#include "tests/support/random.h"

namespace ttfd {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kSide = 32, kFace = 16, kWords = kSide * kSide, kTileBytes = 2 * kWords;
constexpr uint32_t kTiles = 16, kBufferedTiles = 2;
constexpr uint32_t kLeft = 0x100000, kRight = 0x200000, kResult = 0x300000;

// In the order of tile_math.cc's argument.
enum Operation : uint32_t { kAdd, kMultiply, kMatrixMultiply };
constexpr const char* kOperations[] = {"add", "multiply", "matrix multiply"};

// Numbers in bfloat16, ties away from zero as the packer rounds them; zero has no sign.
uint16_t Rounded(float value) {
  return value == 0 ? 0 : static_cast<uint16_t>((std::bit_cast<uint32_t>(value) + 0x8000) >> 16);
}
float Number(uint16_t word) { return std::bit_cast<float>(uint32_t{word} << 16); }

// Where row `row`, column `column` lies in a tile: four faces, each row by row.
size_t At(uint32_t row, uint32_t column) {
  const uint32_t face = row / kFace * 2 + column / kFace;
  return face * kFace * kFace + row % kFace * kFace + column % kFace;
}

// Multiples of 1 / `unit` from -limit / unit to limit / unit.
std::vector<uint16_t> Numbers(uint32_t seed, int limit, int unit) {
  Random random(seed);
  std::vector<uint16_t> words(size_t{kTiles} * kWords);
  for (uint16_t& word : words) {
    const int number = static_cast<int>(random() % (2 * limit + 1)) - limit;
    word = Rounded(static_cast<float>(number) / static_cast<float>(unit));
  }
  return words;
}

float MatrixElement(const uint16_t* left, const uint16_t* right, uint32_t row, uint32_t column) {
  float sum = 0;
  for (uint32_t i = 0; i < kSide; ++i) {
    sum += Number(left[At(row, i)]) * Number(right[At(i, column)]);
  }
  return sum;
}

std::vector<uint16_t> Expected(Operation operation, const std::vector<uint16_t>& left,
                               const std::vector<uint16_t>& right) {
  std::vector<uint16_t> words(left.size());
  for (size_t tile = 0; tile < words.size(); tile += kWords) {
    for (uint32_t row = 0; row < kSide; ++row) {
      for (uint32_t column = 0; column < kSide; ++column) {
        const size_t at = tile + At(row, column);
        const float a = Number(left[at]), b = Number(right[at]);
        words[at] = Rounded(operation == kAdd ? a + b
                            : operation == kMultiply
                                ? a * b
                                : MatrixElement(&left[tile], &right[tile], row, column));
      }
    }
  }
  return words;
}

struct Pipeline {
  const char* name;
  const char* reader;
  const char* writer;
};
void PrintTo(const Pipeline& pipeline, std::ostream* out) { *out << pipeline.name; }

class TileKernels : public ::testing::Test {
 protected:
  std::shared_ptr<const Program> Build(const Pipeline& pipeline) {
    return Build({{pipeline.reader, hw::kNcrisc},
                  {"tile_math_trisc0", hw::kTrisc0},
                  {"tile_math_trisc1", hw::kTrisc1},
                  {"tile_math_trisc2", hw::kTrisc2},
                  {pipeline.writer, hw::kBrisc}});
  }
  std::shared_ptr<const Program> Build(
      const std::vector<std::pair<const char*, hw::Hart>>& kernels) {
    const CoreRange tile{2, 1, 2, 1};
    ProgramSpec spec;
    for (const auto& [name, hart] : kernels) {
      const auto image = LoadKernel(KernelElf(name), name);
      EXPECT_TRUE(image.ok()) << image.status().ToString();
      spec.kernels.push_back({*image, hart, {tile}});
    }
    for (uint32_t index = 0; index < 3; ++index) {
      spec.circular_buffers.push_back({index, kBufferedTiles, kTileBytes, {tile}});
    }
    const auto program = BuildProgram(1, spec, card_.dispatcher->card().grid);
    EXPECT_TRUE(program.ok()) << program.status().ToString();
    return *program;
  }

  static Region Tiles(uint32_t address) {
    return {MemoryKind::kDram, -1, address, kTileBytes, uint64_t{kTiles} * kTileBytes};
  }

  // Launches on these inputs and returns the words of the result.
  StatusOr<std::vector<uint16_t>> Run(const std::shared_ptr<const Program>& program,
                                      Operation operation, const std::vector<uint16_t>& left,
                                      const std::vector<uint16_t>& right) {
    constexpr uint32_t kDelayClocks = 3000;  // of the slow kernels
    RETURN_IF_ERROR(card_.Write(Tiles(kLeft), 0, std::as_bytes(std::span(left))));
    RETURN_IF_ERROR(card_.Write(Tiles(kRight), 0, std::as_bytes(std::span(right))));
    std::vector<KernelArguments> arguments(5);
    arguments[0].common = {kLeft, kRight, kTiles, kDelayClocks};
    for (size_t trisc = 1; trisc <= 3; ++trisc) arguments[trisc].common = {kTiles, operation};
    arguments[4].common = {kResult, kTiles, kDelayClocks};
    RETURN_IF_ERROR(card_.Submit(LaunchCommand{program, arguments}));
    ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                     card_.Read(Tiles(kResult), 0, Tiles(kResult).size_bytes));
    std::vector<uint16_t> words(left.size());
    std::memcpy(words.data(), bytes.data(), bytes.size());
    return words;
  }

  // Polls until a hart's report is one that is `wanted`.
  HartReport Await(bool (*wanted)(const HartReport&)) {
    const TimePoint deadline = SteadyClock().Now() + std::chrono::seconds(60);
    while (SteadyClock().Now() < deadline) {
      const bool lost = !card_.dispatcher->Poll().ok();
      for (const HartReport& hart : card_.dispatcher->Report()) {
        if (wanted(hart)) return hart;
      }
      if (lost) break;
    }
    ADD_FAILURE() << "no such report";
    return {};
  }

  BootedCard card_;
};

constexpr Pipeline kFast = {"Fast", "tile_reader", "tile_writer"};

class ComputeTile : public TileKernels, public ::testing::WithParamInterface<Pipeline> {};

// The operations run one after the other, twice: each launch finds the engine as the one before left it. No operation
// loses a bit of these inputs before the packer rounds. Of others it may: ELWADD rounds the smaller number to the grid
// of the greater one's 11 bits, MVMUL its products to that of the greatest one.
TEST_P(ComputeTile, EveryWordIsTheRoundedResult) {
  const auto program = Build(GetParam());
  for (uint32_t run = 0; run < 2; ++run) {
    for (const Operation operation : {kAdd, kMultiply, kMatrixMultiply}) {
      SCOPED_TRACE(kOperations[operation]);
      const int limit = operation == kMatrixMultiply ? 3 : 255;
      const int unit = operation == kMatrixMultiply ? 1 : 16;
      const auto left = Numbers(2 * operation + 10 * run, limit, unit);
      const auto right = Numbers(2 * operation + 10 * run + 1, limit, unit);
      const auto expected = Expected(operation, left, right);
      const auto words = Run(program, operation, left, right);
      ASSERT_TRUE(words.ok()) << words.status().ToString();
      size_t wrong = 0;
      for (size_t i = 0; i < words->size(); ++i) wrong += (*words)[i] != expected[i];
      ASSERT_EQ(wrong, 0u) << "of " << words->size() << " words, in run " << run;
    }
  }
}

// One user's kernel leaves a bank of SrcA full, in which the next user's tiles would be missing.
TEST_F(TileKernels, OneThatLeavesABankFull_ChangesNoOtherResult) {
  const auto left = Numbers(1, 255, 16), right = Numbers(2, 255, 16);
  const auto leave = Build({{"leave_in_engine", hw::kTrisc0}});
  ASSERT_TRUE(card_.Submit(LaunchCommand{leave, {KernelArguments{{1}, 0, {}}}}).ok());
  EXPECT_THAT(Await([](const HartReport& hart) { return hart.faulted; }).text,
              HasSubstr("SrcA: 1 bank filled and not freed"));
  ASSERT_TRUE(card_.dispatcher->Boot().ok());
  const auto words = Run(Build(kFast), kAdd, left, right);
  ASSERT_TRUE(words.ok()) << words.status().ToString();
  EXPECT_TRUE(*words == Expected(kAdd, left, right));
}

TEST_F(TileKernels, OneThatWaitsInTheEngine_SaysForWhat) {
  const auto program = Build({{"wait_in_engine", hw::kTrisc1}});
  ASSERT_TRUE(card_.Submit(LaunchCommand{program, {KernelArguments{}}}).ok());
  const HartReport waits = Await([](const HartReport& hart) {
    return hart.hart == hw::kTrisc1 && (hart.engine_wait.has_value() || hart.waypoint == "TSYN");
  });
  EXPECT_THAT(waits.where, HasSubstr("worker (2,1) "));
  if (card_.chip == nullptr) return;  // where the device cannot look inside, the waypoint has to do
  ASSERT_TRUE(waits.engine_wait.has_value());
  EXPECT_THAT(waits.engine_wait->instruction, HasSubstr("SEMWAIT "));
  EXPECT_EQ(waits.engine_wait->condition, "semaphore 7 is 0");
}

INSTANTIATE_TEST_SUITE_P(
    Pipelines, ComputeTile,
    ::testing::Values(kFast, Pipeline{"SlowReader", "slow_tile_reader", "tile_writer"},
                      Pipeline{"SlowWriter", "tile_reader", "slow_tile_writer"}),
    [](const auto& pipeline) { return std::string(pipeline.param.name); });

}  // namespace
}  // namespace ttfd
