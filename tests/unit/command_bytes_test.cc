// The bytes of every command, literally, as the protocol's tables have them (runtime/abi/README.md).
#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>

#include "runtime/abi/launch.h"
#include "runtime/command/control_encoder.h"
#include "runtime/command/launch_encoder.h"
#include "runtime/command/launch_records.h"
#include "runtime/command/ordering.h"
#include "runtime/command/packed_writes.h"
#include "runtime/command/record_writer.h"
#include "runtime/command/transfer_encoder.h"
#include "tests/support/test_batch.h"

namespace ttfd::command_bytes_test {
namespace {

// Two columns of ten workers, two DRAM banks, dispatcher at (16, 3).
CardGeometry Card() {
  return CardGeometry({1, 2}, {hw::NocXy(17, 12), hw::NocXy(18, 15)}, {{{16, 3}, {16, 5}}});
}

// The given bytes, padded with zeros to `size`.
std::vector<std::byte> Bytes(std::initializer_list<int> values, size_t size) {
  std::vector<std::byte> bytes;
  for (int value : values) bytes.push_back(static_cast<std::byte>(value));
  bytes.resize(size);
  return bytes;
}

TEST(CommandBytes, WriteLinear) {
  TestBatch batch;
  const auto data = Bytes({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, 16);
  const Region region{MemoryKind::kDram, 1, 0x1000, 64, 4096};
  EncodeWrite({region, 0x20, data}, Card(), batch);
  ASSERT_EQ(batch.Bytes().size(), 1u);
  EXPECT_EQ(
      batch.Bytes()[0],
      Bytes({5,    0,    0, 0, 48,   0,    0, 0, 64, 0,  0,  0,  0,  0,  0,  0,  // RELAY_INLINE
             1,    0,    0, 0, 0xD2, 0x03, 0, 0,                                 // (18,15)
             0x20, 0x10, 0, 0, 0,    0,    0, 0,                                 // address
             16,   0,    0, 0, 0,    0,    0, 0, 0,  0,  0,  0,  0,  0,  0,  0,  // length
             1,    2,    3, 4, 5,    6,    7, 8, 9,  10, 11, 12, 13, 14, 15, 16},
            64));
}

TEST(CommandBytes, WritePaged) {
  TestBatch batch;
  std::vector<std::byte> data(128, std::byte{0xAB});
  const Region region{MemoryKind::kDram, -1, 0x1000, 64, 4096};
  // Page 5: bank 1 of the third round.
  EncodeWrite({region, 5 * 64, data}, Card(), batch);
  ASSERT_EQ(batch.Bytes().size(), 1u);
  auto expected = Bytes({5, 0, 0, 0, 144,  0,    0, 0, 192, 0, 0, 0, 0, 0, 0, 0,  //
                         4, 1, 1, 0, 0x80, 0x10, 0, 0, 64,  0, 0, 0, 2, 0, 0, 0},
                        192);
  std::memset(expected.data() + 32, 0xAB, 128);
  EXPECT_EQ(batch.Bytes()[0], expected);
}

TEST(CommandBytes, ReadOfPagesAndOfPartOfAPage) {
  TestBatch batch;
  ReadCommand read{{MemoryKind::kL1, -1, 0xB0000, 64, 4096}, 64, 64 + 8, [](uint64_t, ByteSpan) {}};
  std::vector<ReadPiece> pieces;
  EncodeRead(read, 4096, Card(), 0x70, &pieces, batch);
  ASSERT_EQ(batch.Bytes().size(), 1u) << "two whole pages: the tail is read with its page";
  EXPECT_EQ(batch.Bytes()[0],
            Bytes({6, 0, 0, 0, 16,   0, 0,  0, 64,  0, 0, 0, 0, 0, 0, 0,  // RELAY_INLINE_NOFLUSH
                   3, 0, 0, 0, 0x70, 0, 0,  0, 144, 0, 0, 0, 0, 0, 0, 0,  // H_HOST, 16 + 128
                   0, 0, 0, 0, 0,    0, 0,  0, 0,   0, 0, 0, 0, 0, 0, 0,  //
                   0, 0, 0, 0, 0,    0, 0,  0, 0,   0, 0, 0, 0, 0, 0, 0,  //
                   3, 1, 0, 0, 0,    0, 11, 0, 64,  0, 0, 0, 2, 0, 0, 0},
                  128));

  batch.Clear();
  read.region.single_bank = 3;
  read.offset = 70;
  read.size = 4;
  EncodeRead(read, 4096, Card(), 1, &pieces, batch);
  ASSERT_EQ(batch.Bytes().size(), 1u);
  const std::vector<std::byte> entry = batch.Bytes()[0];
  EXPECT_EQ(std::vector<std::byte>(entry.begin() + 64, entry.end()),
            Bytes({1,    0, 0,                   // RELAY_LINEAR
                   16,   0, 0,  0, 0, 0, 0, 0,   // length
                   0xC2, 0, 0,  0,               // worker 3: (2,3)
                   0x40, 0, 11, 0, 0, 0, 0, 0},  // address
                  64));
}

TEST(CommandBytes, StallAfterWait) {
  TestBatch batch;
  Ordering ordering;
  ordering.Launched(0, 0x123);
  ordering.BeforeRead(batch, Ordering::kAllStreams);
  ASSERT_EQ(batch.Bytes().size(), 1u);
  auto expected = Bytes({5, 0,    0,  0, 16, 0, 0, 0, 64,   0, 0, 0, 0, 0, 0, 0,  //
                         7, 0x0B, 48, 0, 0,  0, 0, 0, 0x23, 1, 0, 0, 0, 0, 0, 0},
                        128);
  expected[64] = std::byte{9};
  EXPECT_EQ(batch.Bytes()[0], expected);
}

TEST(CommandBytes, Event) {
  TestBatch batch;
  EncodeEvent(5, 0, 0, batch);
  ASSERT_EQ(batch.Bytes().size(), 1u);
  EXPECT_EQ(batch.Bytes()[0], Bytes({5, 0, 0, 0, 32, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0,  //
                                     3, 1, 0, 0, 0,  0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0,  //
                                     5},
                                    64));
}

TEST(CommandBytes, TerminateOfEachCore) {
  TestBatch batch;
  for (const Terminated which :
       {Terminated::kDispatch, Terminated::kDispatchS, Terminated::kPrefetch}) {
    EncodeTerminate(which, batch);
    batch.Stall();  // each in an entry of its own
  }
  ASSERT_EQ(batch.Bytes().size(), 3u);
  EXPECT_EQ(batch.Bytes()[0], Bytes({5, 0, 0, 0, 16, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 13}, 64));
  EXPECT_EQ(batch.Bytes()[1], Bytes({5, 1, 0, 0, 16, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 13}, 64));
  EXPECT_EQ(batch.Bytes()[2], Bytes({11}, 64));
}

TEST(CommandBytes, GoTable) {
  TestBatch batch;
  EncodeGoTable({false, 1, 2, {0x81, 0x82, 0xC1}}, batch);
  ASSERT_EQ(batch.Bytes().size(), 1u);
  EXPECT_EQ(batch.Bytes()[0], Bytes({5,    1, 0, 0, 28,   0, 0, 0, 64,   0, 0, 0, 0, 0, 0, 0,  //
                                     17,   0, 0, 0, 3,    0, 0, 0, 0,    0, 0, 0, 0, 0, 0, 0,  //
                                     0x81, 0, 0, 0, 0x82, 0, 0, 0, 0xC1, 0, 0, 0},
                                    64));
}

TEST(CommandBytes, GoToAListAndToEveryWorkerOfASubDevice) {
  auto image = std::make_shared<KernelImage>();
  image->bytes.resize(64);
  ProgramSpec spec;
  spec.kernels.push_back({image, hw::kBrisc, {{0, 0, 1, 0}}});
  const auto program = *BuildProgram(1, spec, {2, 10});
  const std::vector<KernelArguments> arguments(1);
  LaunchPlace place;
  place.sub_device = 3;
  place.slot = 5;
  place.image_addresses = {0x10000};
  place.wait_workers = 0x11223;
  place.go_first = 1;
  const auto notify = Bytes({5, 0, 0, 0, 16, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 15, 1, 8}, 64);
  for (const bool multicast : {false, true}) {
    TestBatch batch;
    const LaunchRecords records(*program, arguments, multicast, Card());
    records.Append(place, arguments, Card(), batch);
    ASSERT_EQ(batch.Bytes().size(), 1u);
    const std::vector<std::byte> entry = batch.Bytes()[0];
    const ByteSpan end = ByteSpan(entry).last(128);
    EXPECT_TRUE(std::equal(notify.begin(), notify.end(), end.begin()));
    const uint8_t index = multicast ? 3 : 0xFF;
    const uint8_t unicasts = multicast ? 0 : 2;
    const auto send = Bytes({5,  1, 0,  0, 16,   0,     0,        0, 64,   0,    0, 0, 0,  0, 0, 0,
                             14, 3, 16, 3, 0x85, index, unicasts, 1, 0x23, 0x12, 1, 0, 51, 0, 0, 0},
                            64);
    EXPECT_TRUE(std::equal(send.begin(), send.end(), end.begin() + 64));
  }
}

TEST(CommandBytes, WritePackedSharedByRectangles) {
  TestBatch batch;
  const auto data = Bytes({9, 8, 7}, 20);
  const CoreRange ranges[] = {{0, 0, 1, 0}, {0, 2, 0, 2}};
  PackedShared(kPackedLaunch, 0x480, data, ranges, Card(), batch);
  ASSERT_EQ(batch.Bytes().size(), 1u);
  EXPECT_EQ(batch.Bytes()[0],
            Bytes({5,    0,    0,    0, 64, 0, 0,  0, 128,  0, 0, 0, 0, 0, 0, 0,  //
                   5,    0x23, 2,    0, 0,  0, 20, 0, 0x80, 4, 0, 0, 0, 0, 0, 0,  //
                   0x82, 0x10, 0x08, 0, 2,  0, 0,  0,                             // (1,2)-(2,2)
                   0x01, 0x11, 0x10, 0, 1,  0, 0,  0,                             // (1,4)
                   9,    8,    7},
                  128));
}

TEST(CommandBytes, WritePackedOnePacketEach) {
  TestBatch batch;
  const PackedTarget targets[] = {{0x81, 0}, {0x82, 0}};
  PackedEach(kPackedArguments, 0xA000, 4, targets, Card(), batch, [](MutableByteSpan to, size_t i) {
    StoreAt(to.data(), static_cast<uint32_t>(0x55 + i));
  });
  ASSERT_EQ(batch.Bytes().size(), 1u);
  EXPECT_EQ(batch.Bytes()[0],
            Bytes({5,    0,    0, 0, 64,   0, 0, 0, 128, 0,    0, 0, 0, 0, 0, 0,  //
                   5,    0x10, 2, 0, 0,    0, 4, 0, 0,   0xA0, 0, 0, 0, 0, 0, 0,  //
                   0x81, 0,    0, 0, 0x82, 0, 0, 0, 0,   0,    0, 0, 0, 0, 0, 0,  //
                   0x55, 0,    0, 0, 0,    0, 0, 0, 0,   0,    0, 0, 0, 0, 0, 0,  //
                   0x56},
                  128));
}

TEST(CommandBytes, WritePackedLargeUnlinksTheLastOfARectangle) {
  TestBatch batch;
  const auto data = Bytes({1, 2, 3}, 20);
  const LargePart parts[] = {{{0, 0, 1, 9}, 0x10000, data}, {{0, 0, 1, 9}, 0x10020, data}};
  PackedLarge(kPackedLargeBinaries, parts, Card(), batch);
  ASSERT_EQ(batch.Bytes().size(), 1u);
  auto expected = Bytes({5,    0,    0,    0, 112,  0, 0, 0, 128, 0, 0,  0, 0, 0, 0, 0,  //
                         6,    2,    2,    0, 16,   0, 0, 0, 0,   0, 0,  0, 0, 0, 0, 0,  //
                         0xC2, 0x12, 0x08, 0, 0,    0, 1, 0, 20,  0, 20, 0,  // (1,2)-(2,11)
                         0xC2, 0x12, 0x08, 0, 0x20, 0, 1, 0, 20,  0, 20, 1},
                        128);
  for (size_t at : {64u, 96u}) std::memcpy(expected.data() + at, data.data(), 3);
  EXPECT_EQ(batch.Bytes()[0], expected);
}

TEST(CommandBytes, WhatOnlyTheWriterKnows) {
  std::vector<std::byte> memory(128);
  RecordWriter writer(memory);
  abi::SetWriteOffset offset{};
  offset.id = abi::DispatchId::kSetWriteOffset;
  offset.offset_count = 2;
  offset.program_host_id = 0x1234;
  MutableByteSpan words = writer.Dispatch(offset, 8);
  StoreAt(words.data(), uint32_t{0x10000});
  StoreAt(words.data() + 4, uint32_t{0x20000});
  abi::SetNumWorkerSems sems{};
  sems.id = abi::DispatchId::kSetNumWorkerSems;
  sems.num = 1;
  writer.DispatchS(sems);
  auto expected = Bytes({5,  0, 0,    0,    24, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0,  //
                         12, 2, 0x34, 0x12, 0,  0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0,  //
                         0,  0, 1,    0,    0,  0, 2, 0},
                        64);
  const auto second = Bytes({5, 1, 0, 0, 16, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 1}, 64);
  expected.insert(expected.end(), second.begin(), second.end());
  EXPECT_EQ(memory, expected);
}

}  // namespace
}  // namespace ttfd::command_bytes_test
