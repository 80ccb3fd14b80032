// Windows: what the host sees of memory and registers, one tile or many at once.
#include <cstring>
#include <set>

#include "runtime/hw/pcie.h"
#include "runtime/hw/stream.h"
#include "tests/conformance/device_fixture.h"

namespace ttfd::windows_test {
namespace {

class Windows : public DeviceTest {};

TEST_P(Windows, InfoNamesTilesAndBanksThatAnswer) {
  const DeviceInfo& info = device().info();
  EXPECT_FALSE(info.board.empty());
  EXPECT_GT(info.clock_hz, 0u);
  EXPECT_GE(info.tensix_columns.size(), 12u);
  EXPECT_GE(banks(), 7u);
  ASSERT_EQ(info.dram_port_xy[1].size(), info.dram_port_xy[0].size());
  for (size_t i = 1; i < info.tensix_columns.size(); ++i) {
    EXPECT_LT(info.tensix_columns[i - 1], info.tensix_columns[i]);
  }
  uint32_t number = 0;
  for (const hw::Coordinate tile : Tiles()) WriteWord(tile, 0x100, ++number);
  for (uint32_t bank = 0; bank < banks(); ++bank) WriteWord(Bank(bank), 0x100, ++number);
  number = 0;
  for (const hw::Coordinate tile : Tiles()) EXPECT_EQ(ReadWord(tile, 0x100), ++number);
  for (uint32_t bank = 0; bank < banks(); ++bank) {
    EXPECT_EQ(ReadWord(Bank(bank), 0x100), ++number);
  }
}

TEST_P(Windows, BothNocsPortsOfABankShowTheSameMemory) {
  for (uint32_t bank = 0; bank < banks(); ++bank) {
    WriteWord(Bank(bank, 0), 0x40, 0xB000 + bank);
    EXPECT_EQ(ReadWord(Bank(bank, 1), 0x40), 0xB000 + bank);
  }
}

TEST_P(Windows, MemoryTakesAnySizeAndAlignment) {
  const std::vector<uint32_t> pattern = Pattern(64, 1);
  const ByteSpan bytes = std::as_bytes(std::span(pattern));
  for (const hw::Coordinate tile : {kTile, Bank(0)}) {
    const std::unique_ptr<Window> window = OpenWindow(UnicastTarget(tile));
    for (uint64_t offset = 0; offset < 9; ++offset) {
      for (const size_t size : {1, 2, 3, 4, 7, 64, 129}) {
        std::vector<std::byte> zeros(256), back(256);
        ASSERT_TRUE(window->Write(0x1000, zeros).ok());
        ASSERT_TRUE(window->Write(0x1000 + offset, bytes.first(size)).ok());
        ASSERT_TRUE(window->Read(0x1000, back).ok());
        std::memcpy(zeros.data() + offset, bytes.data(), size);
        EXPECT_EQ(back, zeros) << offset << " " << size;
      }
    }
  }
}

TEST_P(Windows, TransfersMoveOnFromOneTwoMegabyteStretchToTheNext) {
  const std::unique_ptr<Window> window = OpenWindow(UnicastTarget(Bank(0)));
  const std::vector<uint32_t> data = Pattern(1 << 20, 2);  // 4 MiB
  constexpr uint64_t kStart = 3 * hw::kTlbWindow2MBytes - 12345 * 4;
  ASSERT_TRUE(window->Write(kStart, std::as_bytes(std::span(data))).ok());
  std::vector<uint32_t> back(data.size());
  ASSERT_TRUE(window->Read(kStart, std::as_writable_bytes(std::span(back))).ok());
  EXPECT_EQ(back, data);
  const uint64_t last = device().info().dram_bank_bytes - 4;
  ASSERT_TRUE(ttfd::WriteWord(*window, last, 77).ok());
  EXPECT_EQ(ReadWord(Bank(0), last), 77u);
  EXPECT_EQ(ReadWord(Bank(0), kStart), data[0]);
}

TEST_P(Windows, MoreWindowsMayBeOpenThanTheHardwareHas) {
  const std::vector<hw::Coordinate> tiles = Tiles();
  std::vector<std::unique_ptr<Window>> windows;
  constexpr size_t kCount = 450;
  for (size_t i = 0; i < kCount; ++i) {
    windows.push_back(OpenWindow(UnicastTarget(tiles[i % tiles.size()])));
  }
  const auto address = [&](size_t i) { return 0x200 + 4 * (i / tiles.size()); };
  for (uint32_t i = 0; i < kCount; ++i) {
    ASSERT_TRUE(ttfd::WriteWord(*windows[i], address(i), i).ok());
  }
  for (uint32_t i = 0; i < kCount; i += 3) windows[i].reset();
  for (uint32_t i = 0; i < kCount; ++i) {
    if (windows[i] == nullptr) continue;
    EXPECT_EQ(ttfd::ReadWord(*windows[i], address(i)).value(), i);
  }
}

TEST_P(Windows, RegistersAnswerFourBytesAtATime) {
  EXPECT_EQ(ReadWord(kTile, hw::kSoftReset0), hw::kSoftResetAllHarts);
  const uint32_t update = hw::StreamRegister(7, hw::kStreamSpaceAvailableUpdate);
  WriteWord(kTile, update, 5 << hw::kStreamUpdateShift);
  WriteWord(kTile, update, 6 << hw::kStreamUpdateShift);
  EXPECT_EQ(ReadWord(kTile, hw::StreamRegister(7, hw::kStreamSpaceAvailable)), 11u);
}

TEST_P(Windows, WrongWidthsAreRefusedAndNothingElseHappens) {
  if (!GetParam().refuses_at_once) GTEST_SKIP() << "the backend's writes are posted";
  const std::unique_ptr<Window> window = OpenWindow(UnicastTarget(kTile));
  const uint64_t eight = 0;
  EXPECT_EQ(window->Write(hw::kSoftReset0, BytesOf(eight)).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(window->Write(hw::kSoftReset0, BytesOf(eight).first(1)).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(window->Write(hw::kL1Bytes - 4, BytesOf(eight)).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(OpenWindow(UnicastTarget({8, 1}))->Write(0, BytesOf(eight)).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadWord(kTile, hw::kSoftReset0), hw::kSoftResetAllHarts);
  EXPECT_TRUE(device().Advance(1).ok());
}

TEST_P(Windows, AWrongAccessIsTheHostsMistakeAndAResetForgetsIt) {
  const uint64_t eight = 0;
  for (const bool write : {true, false}) {
    const std::unique_ptr<Window> window = OpenWindow(UnicastTarget(kTile));
    std::vector<std::byte> to(8);
    Status status =
        write ? window->Write(hw::kSoftReset0, BytesOf(eight)) : window->Read(hw::kSoftReset0, to);
    // A posted write is refused when something asks for an answer.
    if (status.ok()) status = window->Read(0, to);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.ToString();
    ASSERT_TRUE(device().Reset().ok());
    WriteWord(kTile, 0x200, 5);
    EXPECT_EQ(ReadWord(kTile, 0x200), 5u);
    EXPECT_TRUE(device().Advance(1).ok());
  }
}

TEST_P(Windows, MulticastReachesTheTilesOfTheRectangleAndNoOther) {
  const std::vector<hw::Coordinate> tiles = Tiles();
  for (const hw::Coordinate tile : tiles) WriteWord(tile, 0x300, 0);
  const hw::Coordinate start = {3, 4};
  const hw::Coordinate end = {11, 6};  // across columns 8 and 9, which have no Tensix tiles
  const std::unique_ptr<Window> window = OpenWindow({start, end, true, WindowOrdering::kStrict});
  ASSERT_TRUE(ttfd::WriteWord(*window, 0x300, 42).ok());
  const uint32_t update = hw::StreamRegister(3, hw::kStreamSpaceAvailableUpdate);
  ASSERT_TRUE(ttfd::WriteWord(*window, update, 1 << hw::kStreamUpdateShift).ok());
  for (const hw::Coordinate tile : tiles) {
    const bool inside =
        tile.x >= start.x && tile.x <= end.x && tile.y >= start.y && tile.y <= end.y;
    EXPECT_EQ(ReadWord(tile, 0x300), inside ? 42u : 0u) << tile.x << "," << tile.y;
    EXPECT_EQ(ReadWord(tile, hw::StreamRegister(3, hw::kStreamSpaceAvailable)), inside ? 1u : 0u);
  }
  std::vector<std::byte> four(4);
  EXPECT_EQ(window->Read(0x300, four).code(), StatusCode::kInvalidArgument);
}

TEST_P(Windows, AUnicastWindowHasOneTile) {
  EXPECT_EQ(device().OpenWindow({{1, 2}, {2, 2}, false, WindowOrdering::kStrict}).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(device().OpenWindow(UnicastTarget({64, 2})).status().code(),
            StatusCode::kInvalidArgument);
}

TTFD_FOR_EVERY_BACKEND(Windows);

}  // namespace
}  // namespace ttfd::windows_test
