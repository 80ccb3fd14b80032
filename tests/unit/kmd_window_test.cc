// Windows over the driver: which are reserved, moved and taken over, and how accesses are cut.
#include <cstring>

#include "runtime/device/kmd/window.h"
#include "runtime/hw/noc.h"
#include "runtime/hw/tensix.h"
#include "tests/support/kmd_fixture.h"

namespace ttfd::kmd_window_test {
namespace {

using Event = StandinEvent;

class KmdWindows : public KmdTest {
 protected:
  void SetUp() override { Open(); }
  std::vector<std::unique_ptr<Window>> OpenWindows(uint32_t count) {
    std::vector<std::unique_ptr<Window>> windows;
    for (uint32_t i = 0; i < count; ++i) windows.push_back(OpenWindow({1 + i % 7, 2 + i / 7 % 10}));
    return windows;
  }
  static void Use(Window& window) {
    const Status status = WriteWord(window, 0x200, 1);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  // The hardware window of the last store.
  uint32_t LastUsed() const { return log().back().id; }
};

TEST_F(KmdWindows, MoveOnlyWhenAnAccessLeavesThem) {
  const std::unique_ptr<Window> window = OpenWindow({17, 12});
  Use(*window);
  StartLog();
  for (uint64_t address = 0; address < 4096; address += 4) {
    ASSERT_TRUE(WriteWord(*window, address, 1).ok());
  }
  EXPECT_EQ(Count(Event::kIoctl), 0u);
  ASSERT_TRUE(WriteWord(*window, hw::kTlbWindow2MBytes, 1).ok());
  EXPECT_EQ(Count(Event::kIoctl), 1u);
}

TEST_F(KmdWindows, TakeOverTheLeastRecentlyUsedAtTheLimit) {
  const auto windows = OpenWindows(kmd::kMostWindows + 1);
  StartLog();
  std::vector<uint32_t> ids;
  for (uint32_t i = 0; i < kmd::kMostWindows; ++i) {
    Use(*windows[i]);
    ids.push_back(LastUsed());
  }
  EXPECT_EQ(standin().windows().in_use(), kmd::kMostWindows);
  Use(*windows[0]);  // now 1 is the least recently used
  Use(*windows[kmd::kMostWindows]);
  EXPECT_EQ(LastUsed(), ids[1]);
  EXPECT_EQ(standin().windows().in_use(), kmd::kMostWindows);
  Use(*windows[1]);  // comes back, in place of 2
  EXPECT_EQ(LastUsed(), ids[2]);
  StartLog();
  Use(*windows[0]);
  EXPECT_EQ(Count(Event::kIoctl), 0u);
}

TEST_F(KmdWindows, ClosedOnesAreUsedAgainBeforeMoreAreReserved) {
  const uint32_t before = standin().windows().in_use();
  for (int i = 0; i < 20; ++i) Use(*OpenWindow(kTile));
  EXPECT_LE(standin().windows().in_use(), before + 1);
}

TEST_F(KmdWindows, MakeDoWithWhatOtherProcessesLeave) {
  Close();
  const int other = OpenAsAnother();
  TakeWindowsAsAnother(other, hw::kTlbWindowKernel - 3);
  StatusOr<std::unique_ptr<KmdDevice>> device = TryOpen();
  ASSERT_TRUE(device.ok()) << device.status().ToString();
  std::vector<std::unique_ptr<Window>> windows;
  for (uint32_t i = 0; i < 10; ++i) {
    windows.push_back((*device)->OpenWindow(UnicastTarget({1 + i % 7, 2})).value());
    ASSERT_TRUE(WriteWord(*windows[i], 0x300 + 4 * i, i).ok());
  }
  for (uint32_t i = 0; i < 10; ++i) EXPECT_EQ(ReadWord(*windows[i], 0x300 + 4 * i).value(), i);
  EXPECT_EQ(standin().windows().in_use(), hw::kTlbWindowKernel);
}

TEST_F(KmdWindows, NoneLeftIsAnErrorThatSaysSo) {
  Close();
  TakeWindowsAsAnother(OpenAsAnother(), hw::kTlbWindowKernel);
  ExpectRefusal(TryOpen().status(), Problem::kResourcesTaken, "taken by other processes: stop one");
}

TEST_F(KmdWindows, ThatCannotBeMappedAreFreed) {
  const std::unique_ptr<Window> held = OpenWindow(kTile);
  Use(*held);
  const uint32_t before = standin().windows().in_use();
  FailEach(Event::kMap, ENOMEM);
  std::vector<std::unique_ptr<Window>> windows = OpenWindows(before + 1);
  for (const auto& window : windows) Use(*window);  // with those it has
  EXPECT_EQ(standin().windows().in_use(), before);
  // The write-combining mapping is needed for a bulk write alone.
  const std::vector<std::byte> bulk(4096);
  ExpectRefusal(windows[0]->Write(0, bulk), StatusCode::kResourceExhausted, "window");
}

// Every byte is stored once; what is aligned to its own size is one store.
TEST_F(KmdWindows, StoresAreAlignedAndCoverTheBytesOnce) {
  const std::unique_ptr<Window> window = OpenWindow(kTile);
  Use(*window);
  for (uint64_t offset = 0x400; offset < 0x408; ++offset) {
    for (uint64_t size = 1; size <= 9; ++size) {
      const std::vector<std::byte> bytes(size, std::byte{1});
      StartLog();
      ASSERT_TRUE(window->Write(offset, bytes).ok());
      uint64_t next = offset;
      for (const Event& event : log()) {
        EXPECT_EQ(event.kind, Event::kStore);
        EXPECT_EQ(event.offset, next) << offset << " " << size;
        next += event.bytes;
      }
      EXPECT_EQ(next, offset + size);
      const bool one_store = (size == 1 || size == 2 || size == 4) && offset % size == 0;
      if (one_store) {
        EXPECT_EQ(log().size(), 1u) << offset << " " << size;
      }
    }
  }
}

TEST_F(KmdWindows, LoadsAreAlignedWords) {
  const std::unique_ptr<Window> window = OpenWindow(kTile);
  const std::vector<uint32_t> words = {0x03020100, 0x07060504, 0x0B0A0908};
  ASSERT_TRUE(window->Write(0x400, std::as_bytes(std::span(words))).ok());
  for (uint64_t skip = 0; skip < 4; ++skip) {
    for (uint64_t size = 1; size <= 8; ++size) {
      std::vector<std::byte> bytes(size);
      StartLog();
      ASSERT_TRUE(window->Read(0x400 + skip, bytes).ok());
      EXPECT_EQ(log().size(), (skip + size + 3) / 4);
      for (uint64_t i = 0; i < size; ++i) EXPECT_EQ(bytes[i], std::byte(skip + i));
    }
  }
}

TEST_F(KmdWindows, RegistersTakeOneAlignedWord) {
  const std::unique_ptr<Window> window = OpenWindow(kTile);
  StartLog();
  ASSERT_TRUE(WriteWord(*window, hw::kSoftReset0, hw::kSoftResetAllHarts).ok());
  EXPECT_EQ(Count(Event::kStore), 1u);
  std::vector<std::byte> bytes(512);
  const struct {
    uint64_t address;
    size_t size;
  } kRefused[] = {{hw::kSoftReset0, 1},          {hw::kSoftReset0, 2},
                  {hw::kSoftReset0, 8},          {hw::kSoftReset0 + 2, 4},
                  {hw::kSoftReset0, 512},        {hw::kFirstRegisterAddress - 2, 4},
                  {hw::kFirstRegisterAddress, 3}};
  StartLog();
  for (const auto& [address, size] : kRefused) {
    const MutableByteSpan part = MutableByteSpan(bytes).first(size);
    EXPECT_EQ(window->Write(address, part).code(), StatusCode::kInvalidArgument) << address;
    EXPECT_EQ(window->Read(address, part).code(), StatusCode::kInvalidArgument) << address;
  }
  EXPECT_TRUE(log().empty());
}

TEST_F(KmdWindows, BulkWritesAreCombinedBetweenTwoFences) {
  const std::unique_ptr<Window> window = OpenWindow(kTile);
  std::vector<std::byte> bytes(3 * kmd::kBulkBytes);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7);
  const struct {
    uint64_t skip;
    size_t size;
    std::vector<Event::Kind> kinds;
  } kCases[] = {
      {0, kmd::kBulkBytes, {Event::kFence, Event::kBulkStore, Event::kFence}},
      {0, 2 * kmd::kBulkBytes + 4, {Event::kFence, Event::kBulkStore, Event::kFence}},
      {2,
       kmd::kBulkBytes + 5,
       {Event::kStore, Event::kFence, Event::kBulkStore, Event::kFence, Event::kStore,
        Event::kStore}},
      {0, kmd::kBulkBytes - 4, std::vector<Event::Kind>(kmd::kBulkBytes / 4 - 1, Event::kStore)},
  };
  ASSERT_TRUE(window->Write(0, bytes).ok());  // maps the window for bulk writes
  for (const auto& test : kCases) {
    const ByteSpan part = ByteSpan(bytes).subspan(0, test.size);
    StartLog();
    ASSERT_TRUE(window->Write(0x1000 + test.skip, part).ok());
    EXPECT_EQ(Kinds(), test.kinds) << test.skip << " " << test.size;
    std::vector<std::byte> back(test.size);
    ASSERT_TRUE(window->Read(0x1000 + test.skip, back).ok());
    EXPECT_TRUE(std::equal(back.begin(), back.end(), part.begin()));
  }
}

// The doorbell is another window's: nothing but the fence keeps it behind the data.
TEST_F(KmdWindows, ADoorbellComesBehindTheBulkWrittenBefore) {
  const std::unique_ptr<Window> memory = OpenWindow({17, 12});
  const std::unique_ptr<Window> tile = OpenWindow(kTile);
  Use(*tile);
  const std::vector<std::byte> bytes(5 << 20, std::byte{9});  // leaves its window twice
  // Maps the window for bulk writes, where the write that counts does not begin.
  ASSERT_TRUE(memory->Write(hw::kTlbWindow2MBytes, ByteSpan(bytes).first(kmd::kBulkBytes)).ok());
  const uint16_t slot = 0x1234;
  StartLog();
  ASSERT_TRUE(memory->Write(hw::kTlbWindow2MBytes - 64, bytes).ok());
  ASSERT_TRUE(tile->Write(0x100, BytesOf(slot)).ok());
  const std::vector<Event::Kind> move = {Event::kIoctl, Event::kFence, Event::kBulkStore,
                                         Event::kFence};
  std::vector<Event::Kind> expected = {Event::kIoctl};  // 64 bytes, uncached
  expected.insert(expected.end(), 16, Event::kStore);
  for (int i = 0; i < 3; ++i) expected.insert(expected.end(), move.begin(), move.end());
  expected.push_back(Event::kStore);
  EXPECT_EQ(Kinds(), expected);
  EXPECT_EQ(log().back().bytes, 2u);
}

TEST_F(KmdWindows, MulticastReachesTheRectangleInBulkToo) {
  const hw::Coordinate start = {1, 2};
  const hw::Coordinate end = {3, 3};
  const std::unique_ptr<Window> window =
      device().OpenWindow({start, end, true, WindowOrdering::kRelaxed}).value();
  const std::vector<std::byte> bytes(1024, std::byte{5});
  ASSERT_TRUE(window->Write(0x2000, bytes).ok());
  for (uint32_t x = 1; x <= 4; ++x) {
    EXPECT_EQ(ReadWord(*OpenWindow({x, 3}), 0x23FC).value(), x <= 3 ? 0x05050505u : 0u);
  }
}

}  // namespace
}  // namespace ttfd::kmd_window_test
