// The chip from its PCIe slot: configuration space, BARs, TLB window registers.
#include <gtest/gtest.h>

#include <array>

#include "runtime/hw/noc.h"
#include "runtime/hw/pcie.h"
#include "runtime/hw/tensix.h"
#include "runtime/sim/chip.h"

namespace ttfd::sim::sim_chip_test {
namespace {

class ChipTest : public testing::Test {
 protected:
  ChipTest() : chip_(std::move(Chip::Create(DefaultOptions(Board::kP150))).value()) {}

  Status Write(uint64_t offset, uint32_t value) {
    return chip_->BarWrite(0, offset, BytesOf(value));
  }
  StatusOr<uint32_t> Read(uint64_t offset) {
    uint32_t value = 0;
    RETURN_IF_ERROR(chip_->BarRead(0, offset, MutableBytesOf(value)));
    return value;
  }
  void Point(uint32_t window, const std::array<uint32_t, 3>& words) {
    for (uint32_t i = 0; i < 3; ++i) {
      ASSERT_TRUE(
          Write(hw::kTlbRegisters + window * hw::kTlbRegisterStride + 4 * i, words[i]).ok());
    }
  }
  // Unicast, strict: x_end at bit 43, y_end at 49, ordering at 70.
  static std::array<uint32_t, 3> At(uint32_t x, uint32_t y, uint64_t address) {
    const uint64_t low = address >> 21 | uint64_t{x} << 43 | uint64_t{y} << 49;
    return {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32), 1 << 6};
  }

  const std::unique_ptr<Chip> chip_;
};

TEST_F(ChipTest, IntroducesItselfAsABlackhole) {
  EXPECT_EQ(chip_->ConfigRead(0).value(), 0xB1401E52u);
  EXPECT_EQ(chip_->ConfigRead(8).value() >> 24, 0x12u);
  EXPECT_EQ(chip_->ConfigRead(0x10).value() & 0xF, 4u);  // a 64-bit BAR
  EXPECT_EQ(chip_->ConfigRead(1).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(chip_->ConfigRead(0x40).status().code(), StatusCode::kInvalidArgument);
  // Where the PCIe tile is: physical (2,0), seen from the other corner on NoC 1.
  const uint32_t node = Read(hw::kBar0Niu0 + hw::kNocNodeId).value();
  EXPECT_EQ(hw::NocX(node), 2u);
  EXPECT_EQ(hw::NocY(node), 0u);
  EXPECT_EQ(hw::NocX(Read(hw::kBar0Niu1 + hw::kNocNodeId).value()), 14u);
  EXPECT_NE(Read(hw::kBar0Niu0 + hw::kNocConfig0).value() & hw::kNocConfig0Translation, 0u);
}

TEST_F(ChipTest, LastWindowWorksLikeTheFirst) {
  for (const uint32_t window : {0u, 201u}) {
    Point(window, At(16, 11, 0));
    ASSERT_TRUE(Write(window * hw::kTlbWindow2MBytes + 0x40, window + 1).ok());
    EXPECT_EQ(Read(window * hw::kTlbWindow2MBytes + 0x40).value(), window + 1);
  }
  EXPECT_EQ(Read(0x40).value(), 202u);
  EXPECT_FALSE(Write(hw::kTlbRegisters + 210 * hw::kTlbRegisterStride, 0).ok());
  EXPECT_FALSE(Write(202 * hw::kTlbWindow2MBytes, 0).ok());
}

TEST_F(ChipTest, WindowsReachTheTopOfTheAddressSpace) {
  const uint64_t registers = hw::kSoftReset0 & ~(hw::kTlbWindow2MBytes - 1);
  Point(3, At(1, 2, registers));
  EXPECT_EQ(Read(3 * hw::kTlbWindow2MBytes + (hw::kSoftReset0 - registers)).value(),
            hw::kSoftResetAllHarts);
  Point(3, At(19, 24, hw::kHostMemoryNocBase));
  std::array<std::byte, 4096> memory{};
  ASSERT_TRUE(chip_->MapHostMemory(0, memory).ok());
  ASSERT_TRUE(Write(3 * hw::kTlbWindow2MBytes + 8, 0x77).ok());  // through the chip and back
  EXPECT_EQ(LoadAt<uint32_t>(memory.data() + 8), 0x77u);
}

TEST_F(ChipTest, UnusualWindowsAreRefusedWhenUsed) {
  struct Row {
    const char* what;
    std::array<uint32_t, 3> flip;
  };
  constexpr Row kRows[] = {{"NoC 1", {0, 0, 1 << 3}},
                           {"linked", {0, 0, 1 << 8}},
                           {"static VC", {0, 0, 1 << 9}},
                           {"ordering 3", {0, 0, 2 << 6}},
                           {"unicast with a start", {0, 1 << 23, 0}}};
  for (const Row& row : kRows) {
    std::array<uint32_t, 3> words = At(1, 2, 0);
    for (int i = 0; i < 3; ++i) words[i] ^= row.flip[i];
    Point(0, words);
    EXPECT_EQ(Read(0).status().code(), StatusCode::kInvalidArgument) << row.what;
  }
  Point(0, At(1, 2, 0));
  EXPECT_TRUE(Read(0).ok());
}

TEST_F(ChipTest, AccessesStayInsideOneWindow) {
  Point(0, At(17, 12, 0));
  Point(1, At(17, 12, hw::kTlbWindow2MBytes));
  std::array<std::byte, 8> eight{};
  EXPECT_FALSE(chip_->BarRead(0, hw::kTlbWindow2MBytes - 4, eight).ok());
  EXPECT_TRUE(chip_->BarRead(0, hw::kTlbWindow2MBytes - 8, eight).ok());
  EXPECT_FALSE(chip_->BarRead(0, 0, MutableByteSpan()).ok());
  EXPECT_FALSE(chip_->BarRead(5, 0, eight).ok());
  EXPECT_FALSE(chip_->BarRead(2, 0, eight).ok());  // iATU registers: 4 bytes
  EXPECT_FALSE(chip_->BarRead(0, hw::kTlbRegisters, eight).ok());
}

TEST_F(ChipTest, MulticastsBeginAndEndAtTensixTiles) {
  const auto cast = [this](hw::Coordinate start, hw::Coordinate end) {
    std::array<uint32_t, 3> words = At(end.x, end.y, 0);
    words[1] |= start.x << 23 | start.y << 29;
    words[2] |= start.y >> 3 | 1 << 5;
    Point(0, words);
    return Write(0x1000, 0x77);
  };
  EXPECT_FALSE(cast({8, 4}, {12, 6}).ok());
  EXPECT_FALSE(cast({2, 1}, {12, 6}).ok());
  EXPECT_FALSE(cast({2, 2}, {9, 6}).ok());
  EXPECT_TRUE(cast({7, 4}, {12, 6}).ok());  // across the columns between
  Point(1, At(12, 6, 0));
  EXPECT_EQ(Read(hw::kTlbWindow2MBytes + 0x1000).value(), 0x77u);
}

TEST_F(ChipTest, Bar4ShowsWholeBanks) {
  const auto point = [this](uint32_t window, const std::array<uint32_t, 3>& words) {
    Point(hw::kTlbWindows2M + window, words);
  };
  const uint64_t last = hw::kDramBankBytes - 4;
  for (const uint32_t window : {0u, 7u}) {
    point(window, {0, 17 | 12 << 6 | 1u << hw::kTlb4GOrderingShift, 0});
    const uint64_t at = window * hw::kTlbWindow4GBytes + last;
    ASSERT_TRUE(chip_->BarWrite(4, at, BytesOf(window + 1)).ok());
    Point(0, At(17, 12, last));
    EXPECT_EQ(Read(last % hw::kTlbWindow2MBytes).value(), window + 1);
    uint32_t back = 0;
    ASSERT_TRUE(chip_->BarRead(4, at, MutableBytesOf(back)).ok());
    EXPECT_EQ(back, window + 1);
  }
  EXPECT_EQ(Read(hw::kTlbRegisters + hw::kTlbWindows2M * hw::kTlbRegisterStride + 4).value(),
            17u | 12u << 6 | 1u << 27);
  point(1, {0xFFFFFFFF, 1 | 2 << 6, 0});  // registers end where the address space of a tile ends
  EXPECT_FALSE(chip_->BarWrite(4, hw::kTlbWindow4GBytes, BytesOf(1u)).ok());

  std::array<std::byte, 8> eight{};
  EXPECT_FALSE(
      chip_->BarRead(4, hw::kTlbWindow4GBytes - 4, eight).ok());  // crosses into the next window
  EXPECT_EQ(chip_->last_refusal().kind, FaultKind::kTlbWindow);
  EXPECT_FALSE(chip_->BarRead(4, hw::kBar4Bytes, eight).ok());
  for (const std::array<uint32_t, 3>& bad :
       {std::array<uint32_t, 3>{0, 1u << 12, 0}, {0, 3u << 27, 0}, {0, 1u << 26, 0}, {0, 0, 1}}) {
    point(2, bad);
    EXPECT_FALSE(chip_->BarRead(4, 2 * hw::kTlbWindow4GBytes, eight).ok());
  }
  ASSERT_TRUE(chip_->Reset().ok());
  EXPECT_EQ(Read(hw::kTlbRegisters + hw::kTlbWindows2M * hw::kTlbRegisterStride + 4).value(), 0u);
}

TEST_F(ChipTest, ADriverSizesAndMovesTheBars) {
  constexpr std::array<std::pair<uint32_t, uint64_t>, 3> kBars = {
      {{0x10, hw::kBar0Bytes}, {0x18, hw::kBar2Bytes}, {0x20, hw::kBar4Bytes}}};
  for (const auto& [offset, bytes] : kBars) {
    const uint32_t low = chip_->ConfigRead(offset).value();
    ASSERT_TRUE(chip_->ConfigWrite(offset, 0xFFFFFFFF).ok());
    ASSERT_TRUE(chip_->ConfigWrite(offset + 4, 0xFFFFFFFF).ok());
    const uint64_t sized =
        uint64_t{chip_->ConfigRead(offset + 4).value()} << 32 | chip_->ConfigRead(offset).value();
    EXPECT_EQ(~(sized & ~uint64_t{0xF}) + 1, bytes);
    EXPECT_EQ(sized & 0xF, 4u);
    ASSERT_TRUE(chip_->ConfigWrite(offset, low).ok());
    EXPECT_EQ(chip_->ConfigRead(offset).value(), low);
  }
  ASSERT_TRUE(chip_->ConfigWrite(4, 0xABCD0006).ok());  // status bits stay
  EXPECT_EQ(chip_->ConfigRead(4).value(), 6u);
  ASSERT_TRUE(chip_->ConfigWrite(0x30, ~0u).ok());
  EXPECT_EQ(chip_->ConfigRead(0x30).value(), 0u);
  for (const uint32_t offset : {0x0u, 0x8u, 0x28u, 0x34u, 0x40u, 0x5u}) {
    EXPECT_EQ(chip_->ConfigWrite(offset, 0).code(), StatusCode::kInvalidArgument) << offset;
  }
  ASSERT_TRUE(chip_->Reset().ok());
  EXPECT_EQ(chip_->ConfigRead(4).value(), 0u);
}

TEST_F(ChipTest, HeldHartsShowWhereTheyStopped) {
  const uint32_t loop = 0x0000006F;  // jal zero, 0
  Point(0, At(2, 2, 0));
  ASSERT_TRUE(Write(0, hw::JumpToFirmware(0x1000)).ok());
  ASSERT_TRUE(Write(0x1000, loop).ok());
  Point(1, At(2, 2, hw::kSoftReset0 & ~(hw::kTlbWindow2MBytes - 1)));
  const uint64_t registers = hw::kTlbWindow2MBytes;
  const auto at = [&](uint32_t address) { return registers + address % hw::kTlbWindow2MBytes; };
  ASSERT_TRUE(Write(at(hw::kSoftReset0), 0x47000).ok());
  ASSERT_TRUE(chip_->Advance(100).ok());
  EXPECT_EQ(Read(at(hw::kPcSnapshot)).value(), 0x1000u);
  EXPECT_EQ(chip_->runnable_harts(), 1u);
  ASSERT_TRUE(Write(at(hw::kSoftReset0), 0x7F047800).ok());  // bits 24 to 30 have no effect
  EXPECT_EQ(Read(at(hw::kSoftReset0)).value(), 0x47800u);
  EXPECT_EQ(Read(at(hw::kPcSnapshot)).value(), 0x1000u);
  EXPECT_TRUE(chip_->Advance(100)->quiescent);
}

TEST_F(ChipTest, ClockFollowsWhatWasGrantedWhileSomethingRuns) {
  Point(0, At(2, 2, 0));
  ASSERT_TRUE(Write(0, 0x0000006F).ok());
  EXPECT_EQ(chip_->Advance(500)->clocks, 0u);  // nothing runs: the clock stands
  chip_->Idle(500);                            // unless the caller's goes on
  EXPECT_EQ(chip_->clock(), 500u);
  ASSERT_TRUE(chip_->Reset().ok());
  Point(0, At(2, 2, 0));
  Point(1, At(2, 2, hw::kSoftReset0 & ~(hw::kTlbWindow2MBytes - 1)));
  const uint64_t registers = hw::kTlbWindow2MBytes;
  ASSERT_TRUE(Write(registers + hw::kSoftReset0 % hw::kTlbWindow2MBytes, 0x47000).ok());
  EXPECT_EQ(chip_->Advance(12345)->clocks, 12345u);
  EXPECT_EQ(chip_->clock(), 12345u);
  EXPECT_EQ(Read(registers + hw::kWallClockLow % hw::kTlbWindow2MBytes).value(), 12345u);
  EXPECT_NEAR(static_cast<double>(chip_->retired_instructions()), 12345.0, 1.0);
}

}  // namespace
}  // namespace ttfd::sim::sim_chip_test
