// Prints as they lie in L1: records of a hart's ring, which wraps, is full, and goes on when the host has read.
#include "runtime/abi/print_ring.h"
#include "runtime/base/bytes.h"
#include "tests/support/firmware_launch.h"
#include "tests/support/firmware_test.h"

namespace ttfd::testing::firmware_print_test {
namespace {

constexpr const char* kKernels[] = {"print_brisc", "print_ncrisc", "print_trisc0", "print_trisc1",
                                    "print_trisc2"};
constexpr uint32_t kTag = 0xABCD;
constexpr uint32_t kLineWords = 8;  // of test/print.cc

class FirmwarePrint : public ::testing::Test {
 protected:
  void SetUp() override {
    auto bench = FirmwareBench::Create({});
    ASSERT_TRUE(bench.ok()) << bench.status().ToString();
    bench_ = *std::move(bench);
    ASSERT_TRUE(bench_->Boot().ok());
  }

  BenchProgram Printing(uint32_t lines, uint32_t tag, uint32_t harts = hw::kHarts) const {
    BenchProgram program;
    program.print_tag = tag;
    for (uint32_t hart = 0; hart < harts; ++hart) {
      program.kernels.push_back({kKernels[hart], static_cast<hw::Hart>(hart), {lines, 0, 5}});
    }
    return program;
  }

  abi::PrintPosition Position(hw::Coordinate tile, uint32_t hart) {
    abi::PrintPosition position;
    const auto bytes = bench_->Bytes(tile, abi::PrintPositionAddress(hart), sizeof(position));
    std::memcpy(&position, bytes.data(), sizeof(position));
    return position;
  }

  uint32_t RingWord(hw::Coordinate tile, uint32_t hart, uint32_t position) {
    return bench_->Word(tile, abi::PrintRingAddress(hart) + position % abi::kPrintRingBytes);
  }

  std::unique_ptr<FirmwareBench> bench_;
};

TEST_F(FirmwarePrint, AFullRingHoldsItsHartUpUntilTheHostHasRead) {
  constexpr uint32_t kLines = 100;
  constexpr uint32_t kStart = 0u - 10 * 4;  // in the middle of a record's way, and the counts wrap
  for (uint32_t worker = 0; worker < bench_->worker_count(); ++worker) {
    for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
      const hw::Coordinate tile = bench_->WorkerTile(worker);
      bench_->SetWord(tile, abi::PrintPositionAddress(hart), kStart);
      bench_->SetWord(tile, abi::PrintPositionAddress(hart) + 4, kStart);
    }
  }
  BenchLauncher launcher(*bench_);
  ASSERT_TRUE(launcher.Run(Printing(kLines, kTag)).ok());
  uint32_t read = kStart;
  for (uint32_t line = 0; line < kLines;) {
    // At rest: every hart waits for room, or has done.
    const uint32_t ready = std::min(kLines - line, abi::kPrintRingBytes / (kLineWords * 4));
    for (uint32_t worker = 0; worker < bench_->worker_count(); ++worker) {
      const hw::Coordinate tile = bench_->WorkerTile(worker);
      for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
        ASSERT_EQ(Position(tile, hart).written - read, ready * kLineWords * 4);
        if (line + ready < kLines) {
          ASSERT_EQ(bench_->status(tile, hart).waypoint, abi::kWaypointPrint);
        }
        for (uint32_t i = 0; i < ready; ++i) {
          const uint32_t at = read + i * kLineWords * 4;
          ASSERT_EQ(RingWord(tile, hart, at), abi::PrintHeader(kLineWords));
          ASSERT_EQ(RingWord(tile, hart, at + 4), kTag);
          ASSERT_EQ(RingWord(tile, hart, at + 12), line + i);
          ASSERT_EQ(RingWord(tile, hart, at + 24), hart);
          ASSERT_EQ(RingWord(tile, hart, at + 28), 5u);
        }
        bench_->SetWord(tile, abi::PrintPositionAddress(hart) + 4, read + ready * kLineWords * 4);
      }
    }
    line += ready;
    read += ready * kLineWords * 4;
    ASSERT_TRUE(bench_->Run().ok());
  }
  EXPECT_EQ(bench_->status(bench_->WorkerTile(0), hw::kBrisc).waypoint, abi::kWaypointGo);
}

TEST_F(FirmwarePrint, WithoutATagNothingIsWritten) {
  BenchLauncher launcher(*bench_);
  ASSERT_TRUE(launcher.Run(Printing(100, 0)).ok());
  for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
    EXPECT_EQ(Position(bench_->WorkerTile(0), hart).written, 0u);
  }
  EXPECT_EQ(bench_->status(bench_->WorkerTile(0), hw::kBrisc).waypoint, abi::kWaypointGo);
}

// A print of five numbers, with the loop around it that reads two arguments.
TEST_F(FirmwarePrint, CostsAHundredInstructionsOrSo) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("counts instructions");
  if (TestDeviceIsHostile()) GTEST_SKIP() << "with hazards on, harts poll longer";
  BenchLauncher launcher(*bench_);
  uint64_t cost[2];
  for (const uint32_t lines : {5u, 15u}) {
    ASSERT_TRUE(launcher.Run(Printing(lines, kTag, 1)).ok());  // has run before: the same way
    const uint64_t before = bench_->retired(bench_->WorkerTile(0), hw::kBrisc);
    bench_->SetWord(bench_->WorkerTile(0), abi::PrintPositionAddress(0) + 4,
                    Position(bench_->WorkerTile(0), 0).written);
    ASSERT_TRUE(launcher.RunLoaded().ok());
    cost[lines == 15] = bench_->retired(bench_->WorkerTile(0), hw::kBrisc) - before;
    for (uint32_t worker = 0; worker < bench_->worker_count(); ++worker) {
      bench_->SetWord(bench_->WorkerTile(worker), abi::PrintPositionAddress(0) + 4,
                      Position(bench_->WorkerTile(worker), 0).written);
    }
  }
  const uint64_t line = (cost[1] - cost[0]) / 10;
  RecordProperty("instructions", static_cast<int>(line));
  EXPECT_GE(line, kLineWords * 5);
  EXPECT_LE(line, 120u);
}

}  // namespace
}  // namespace ttfd::testing::firmware_print_test
