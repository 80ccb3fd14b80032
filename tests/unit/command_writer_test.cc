// The bytes of the commands that only RecordWriter makes, literally, as the protocol's tables have them
// (runtime/abi/README.md).
#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "runtime/command/record_writer.h"

namespace ttfd::command_writer_test {
namespace {

// The given bytes, padded with zeros to `size`.
std::vector<std::byte> Bytes(std::initializer_list<int> values, size_t size) {
  std::vector<std::byte> bytes;
  for (int value : values) bytes.push_back(static_cast<std::byte>(value));
  bytes.resize(size);
  return bytes;
}

// What `write` puts into memory that was not zero.
template <typename Write>
std::vector<std::byte> Written(const Write& write) {
  std::vector<std::byte> memory(4096, std::byte{0xEE});
  RecordWriter writer(memory);
  write(writer);
  memory.resize(writer.bytes_written());
  return memory;
}

template <typename T>
std::vector<std::byte> Dispatched(abi::DispatchId id, T command = T{}) {
  command.id = id;
  return Written([&](RecordWriter& writer) { writer.Dispatch(command); });
}

TEST(RecordWriter, RelayLinearAndItsSynonym) {
  const auto relay = [](abi::PrefetchId id) {
    return Written([id](RecordWriter& w) { w.RelayLinear(0x81, 0x123456780, 0x50, id); });
  };
  auto expected = Bytes({1,    0,    0,                                      //
                         0x50, 0,    0,    0,    0, 0, 0, 0, 0x81, 0, 0, 0,  //
                         0x80, 0x67, 0x45, 0x23, 1, 0, 0, 0},
                        64);
  EXPECT_EQ(relay(abi::PrefetchId::kRelayLinear), expected);
  expected[0] = std::byte{2};
  EXPECT_EQ(relay(abi::PrefetchId::kRelayLinearH), expected);
}

TEST(RecordWriter, RelayPagedWithAShorterLastPage) {
  EXPECT_EQ(Written([](RecordWriter& w) { w.RelayPaged(true, 7, 0x12345600, 2048, 3, 100); }),
            Bytes({3, 7, 100, 0x80, 0, 0x56, 0x34, 0x12, 0, 8, 0, 0, 3, 0, 0, 0}, 64));
}

TEST(RecordWriter, RelayPagedPacked) {
  const abi::RelayPagedPackedTarget targets[] = {{0x102, 11, 0x4000, 64}, {3, 12, 0x8000, 0x1001}};
  EXPECT_EQ(Written([&](RecordWriter& w) { w.RelayPagedPacked(targets); }),
            Bytes({4, 0, 2,  0, 0x41, 0x10, 0, 0, 64, 0,    0, 0, 0, 0, 0, 0,  //
                   2, 1, 11, 0, 0,    0x40, 0, 0, 64, 0,    0, 0,              //
                   3, 0, 12, 0, 0,    0x80, 0, 0, 1,  0x10, 0, 0},
                  64));
  const std::vector<abi::RelayPagedPackedTarget> five(5, targets[0]);
  const auto longer = Written([&](RecordWriter& w) { w.RelayPagedPacked(five); });
  ASSERT_EQ(longer.size(), 128u) << "16 + 5 * 12 bytes do not fit 64";
  EXPECT_EQ(longer[8], std::byte{128});
}

TEST(RecordWriter, ExecBufAndItsEnd) {
  EXPECT_EQ(Written([](RecordWriter& w) { w.ExecBuf(0x12345640, 12, 258); }),
            Bytes({7, 0, 0, 0, 0x40, 0x56, 0x34, 0x12, 12, 0, 0, 0, 2, 1, 0, 0}, 64));
  EXPECT_EQ(Written([](RecordWriter& w) { w.ExecBufEnd(); }),
            Bytes({8, 0, 0, 0, 16, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 11}, 64));
}

TEST(RecordWriter, Debug) {
  const auto data = Bytes({1, 2, 3}, 49);
  auto expected = Bytes({10, 0, 0x34, 0x12, 49, 0, 0, 0, 128, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3}, 128);
  EXPECT_EQ(Written([&](RecordWriter& w) { w.Debug(0x1234, data); }), expected);
  EXPECT_EQ(Written([](RecordWriter& w) { w.Debug(1, {}); }),
            Bytes({10, 0, 1, 0, 0, 0, 0, 0, 64}, 64));
}

TEST(RecordWriter, RingBuffer) {
  abi::PagedToRingbuffer fill{};
  fill.flags = abi::kRingbufferReset;
  fill.log2_page_size = 11;
  fill.start_page = 9;
  fill.wp_offset_update = 0x240;
  fill.base_address = 0x12340000;
  fill.length = 0x200;
  EXPECT_EQ(Written([&](RecordWriter& w) { w.PagedToRingbuffer(fill); }),
            Bytes({12, 1, 11, 9, 0x40, 2, 0, 0, 0, 0, 0x34, 0x12, 0, 2, 0, 0}, 64));
  EXPECT_EQ(Written([](RecordWriter& w) { w.SetRingbufferOffset(0x01020340, true); }),
            Bytes({13, 0x40, 3, 2, 1, 0, 0, 0, 1}, 64));
  EXPECT_EQ(Written([](RecordWriter& w) { w.SetRingbufferOffset(0x10, false); }),
            Bytes({13, 0x10}, 64));
  const abi::RelayRingbufferTarget targets[] = {{0x10, 0x20}, {0x110, 0x2345}};
  EXPECT_EQ(Written([&](RecordWriter& w) { w.RelayRingbuffer(targets); }),
            Bytes({14,   0, 2, 0, 64,   0, 0, 0, 0,    0,    0, 0, 0,    0,    0, 0,  //
                   0x10, 0, 0, 0, 0x20, 0, 0, 0, 0x10, 0x01, 0, 0, 0x45, 0x23, 0, 0},
                  64));
}

TEST(RecordWriter, BareDispatchCommandsAndDelay) {
  const auto bare = [](int id) {
    return Bytes({5, 0, 0, 0, 16, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, id}, 64);
  };
  EXPECT_EQ(Dispatched<abi::BareDispatch>(abi::DispatchId::kSink), bare(8));
  EXPECT_EQ(Dispatched<abi::BareDispatch>(abi::DispatchId::kExecBufEnd), bare(11));
  EXPECT_EQ(Dispatched<abi::BareDispatch>(abi::DispatchId::kTerminate), bare(13));
  abi::Delay delay{};
  delay.delay = 0x12345;
  EXPECT_EQ(Dispatched(abi::DispatchId::kDelay, delay),
            Bytes({5,  0, 0, 0, 16,   0,    0, 0, 64, 0, 0, 0, 0, 0, 0, 0,  //
                   10, 0, 0, 0, 0x45, 0x23, 1, 0},
                  64));
}

TEST(RecordWriter, WriteLinearToTheHost) {
  abi::WriteLinear command{};
  command.write_offset_index = 1;
  command.noc_xy = abi::kNocXyPcieFlag | 19 | 24 << 6;
  command.address = 0x1000000012345680;
  command.length = 0x0102030405060708;
  EXPECT_EQ(Dispatched(abi::DispatchId::kWriteLinearH, command),
            Bytes({5,    0,    0,    0,    32,   0, 0, 0,    64, 0, 0, 0, 0, 0, 0, 0,  //
                   2,    0,    1,    0,    0x13, 6, 0, 1,                              //
                   0x80, 0x56, 0x34, 0x12, 0,    0, 0, 0x10,                           //
                   8,    7,    6,    5,    4,    3, 2, 1},
                  64));
}

}  // namespace
}  // namespace ttfd::command_writer_test
