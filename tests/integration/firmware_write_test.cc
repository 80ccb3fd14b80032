// What each write command of the dispatcher does, with roomy rings and with rings that always wrap.
#include <cstring>

#include "tests/support/firmware_test.h"

namespace ttfd::testing::firmware_write_test {
namespace {

constexpr uint32_t kTarget = abi::kBufferAddress;
constexpr uint32_t kNoise = 0xA5A5A5A5;

uint32_t Xy(hw::Coordinate at) { return hw::NocXy(at.x, at.y); }

class Write : public FirmwareVariantTest {
 protected:
  hw::Coordinate Dram(uint32_t bank) const {
    const uint32_t xy = bench_->banks().dram_xy[0][bank];
    return {hw::NocX(xy), hw::NocY(xy)};
  }
  // Data that an entry of the tiny rings still carries inline.
  static constexpr size_t kInline = 1500;
};

TEST_P(Write, LinearReachesL1AndDram) {
  const auto data = Pattern(kInline, 1);
  ASSERT_OK(bench_->SendAndRun(EntryBuilder().Dispatch(
      WriteLinearCommand(Xy(bench_->WorkerTile(1)), kTarget, data.size()).Append(data))));
  ASSERT_OK(bench_->SendAndRun(
      EntryBuilder().Dispatch(WriteLinearCommand(Xy(Dram(2)), 0x1000, data.size()).Append(data))));
  EXPECT_EQ(bench_->Bytes(bench_->WorkerTile(1), kTarget, data.size()), data);
  EXPECT_EQ(bench_->Bytes(Dram(2), 0x1000, data.size()), data);
  EXPECT_EQ(bench_->Word(bench_->WorkerTile(0), kTarget), 0u) << "nobody else got it";
}

TEST_P(Write, LinearReachesHostMemoryThroughTheRecordFlag) {
  const auto data = Pattern(64, 2);
  const uint64_t address = bench_->host_data_address(256) & ~(uint64_t{1} << 60);
  ASSERT_OK(bench_->SendAndRun(EntryBuilder().Dispatch(
      WriteLinearCommand(Xy(hw::kPcieTranslated) | abi::kNocXyPcieFlag, address, data.size())
          .Append(data))));
  EXPECT_EQ(std::memcmp(bench_->host_data().data() + 256, data.data(), data.size()), 0);
}

TEST_P(Write, LinearMulticastReachesTheRectangle) {
  const auto data = Pattern(kInline, 3);
  ASSERT_OK(bench_->SendAndRun(
      EntryBuilder().Dispatch(WriteLinearCommand(bench_->worker_rectangle(), kTarget, data.size(),
                                                 static_cast<uint8_t>(bench_->worker_count()))
                                  .Append(data))));
  for (uint32_t worker = 0; worker < bench_->worker_count(); ++worker) {
    EXPECT_EQ(bench_->Bytes(bench_->WorkerTile(worker), kTarget, data.size()), data);
  }
}

TEST_P(Write, OffsetsAreAddedToAddresses) {
  const auto data = Pattern(32, 4);
  const uint32_t tile = Xy(bench_->WorkerTile(0));
  EntryBuilder entry;
  entry.Dispatch(SetWriteOffsetCommand({0, 0x100, 0x200, 0x300}));
  entry.Dispatch(WriteLinearCommand(tile, kTarget, data.size(), 0, 3).Append(data));
  entry.Dispatch(WritePackedCommand(0, 1, 32, kTarget, 1).Value(tile).Pad(16).Append(data));
  ASSERT_OK(bench_->SendAndRun(entry));
  EXPECT_EQ(bench_->Bytes(bench_->WorkerTile(0), kTarget + 0x300, data.size()), data);
  EXPECT_EQ(bench_->Bytes(bench_->WorkerTile(0), kTarget + 0x100, data.size()), data);
}

TEST_P(Write, PagedGoesRoundTheDramBanks) {
  constexpr uint32_t kPage = 64, kPages = 20, kStart = 5, kBase = 0x2000;
  const auto data = Pattern(kPage * kPages, 5);
  ASSERT_OK(bench_->SendAndRun(
      EntryBuilder().Dispatch(WritePagedCommand(true, kStart, kBase, kPage, kPages).Append(data))));
  const uint32_t banks = bench_->banks().dram_banks;
  for (uint32_t page = 0; page < kPages; ++page) {
    const uint32_t index = kStart + page;
    const auto bytes = bench_->Bytes(Dram(index % banks), kBase + index / banks * kPage, kPage);
    EXPECT_EQ(std::memcmp(bytes.data(), data.data() + page * kPage, kPage), 0) << page;
  }
}

TEST_P(Write, PagedGoesRoundTheWorkersL1) {
  constexpr uint32_t kPage = 48, kPages = 11, kStart = 70;
  const auto data = Pattern(kPage * kPages, 6);
  ASSERT_OK(bench_->SendAndRun(EntryBuilder().Dispatch(
      WritePagedCommand(false, kStart, kTarget, kPage, kPages).Append(data))));
  const uint32_t banks = bench_->banks().l1_banks;
  for (uint32_t page = 0; page < kPages; ++page) {
    const uint32_t index = kStart + page;
    const auto bytes =
        bench_->Bytes(bench_->WorkerTile(index % banks), kTarget + index / banks * kPage, kPage);
    EXPECT_EQ(std::memcmp(bytes.data(), data.data() + page * kPage, kPage), 0) << page;
  }
}

TEST_P(Write, PackedGivesEachTargetItsPacket) {
  constexpr uint16_t kSize = 20;
  Payload payload = WritePackedCommand(0, 3, kSize, kTarget);
  for (uint32_t worker = 0; worker < 3; ++worker) payload.Value(Xy(bench_->WorkerTile(worker)));
  payload.Pad(16);
  std::vector<std::vector<std::byte>> packets;
  for (uint32_t worker = 0; worker < 3; ++worker) {
    packets.push_back(Pattern(kSize, 10 + worker));
    payload.Append(packets.back()).Pad(16);
  }
  bench_->SetWord(bench_->WorkerTile(0), kTarget + kSize, kNoise);
  ASSERT_OK(bench_->SendAndRun(EntryBuilder().Dispatch(payload)));
  for (uint32_t worker = 0; worker < 3; ++worker) {
    EXPECT_EQ(bench_->Bytes(bench_->WorkerTile(worker), kTarget, kSize), packets[worker]);
  }
  EXPECT_EQ(bench_->Word(bench_->WorkerTile(0), kTarget + kSize), kNoise) << "padding stays behind";
}

TEST_P(Write, PackedWithoutStrideGivesAllTargetsTheSamePacket) {
  const auto data = Pattern(100, 20);
  Payload payload = WritePackedCommand(abi::kPackedNoStride, 2, 100, kTarget);
  payload.Value(Xy(bench_->WorkerTile(0))).Value(Xy(bench_->WorkerTile(3))).Pad(16).Append(data);
  payload.Pad(16);
  ASSERT_OK(bench_->SendAndRun(EntryBuilder().Dispatch(payload)));
  EXPECT_EQ(bench_->Bytes(bench_->WorkerTile(0), kTarget, 100), data);
  EXPECT_EQ(bench_->Bytes(bench_->WorkerTile(3), kTarget, 100), data);
  EXPECT_EQ(bench_->Word(bench_->WorkerTile(1), kTarget), 0u);
}

TEST_P(Write, PackedMulticastTakesARectangleATarget) {
  const auto first = Pattern(64, 21), second = Pattern(64, 22);
  const uint32_t left = hw::NocRectangle(hw::NocXy(1, 2), hw::NocXy(1, 3));
  const uint32_t right = hw::NocRectangle(hw::NocXy(2, 2), hw::NocXy(2, 3));
  Payload payload = WritePackedCommand(abi::kPackedMulticast, 2, 64, kTarget);
  payload.Value(left).Value(2u).Value(right).Value(2u).Append(first).Append(second);
  ASSERT_OK(bench_->SendAndRun(EntryBuilder().Dispatch(payload)));
  for (const uint32_t y : {2u, 3u}) {
    EXPECT_EQ(bench_->Bytes({1, y}, kTarget, 64), first);
    EXPECT_EQ(bench_->Bytes({2, y}, kTarget, 64), second);
  }
}

// The payload comes through NOFLUSH and RELAY_LINEAR from host memory, so it may be longer than every
// ring: the list of targets is long gone when the last packet arrives.
TEST_P(Write, PackedLongerThanTheRingStreams) {
  constexpr uint16_t kSize = 4080;
  const uint32_t count = bench_->worker_count();
  Payload header = WritePackedCommand(0, static_cast<uint16_t>(count), kSize, kTarget);
  for (uint32_t worker = 0; worker < count; ++worker) header.Value(Xy(bench_->WorkerTile(worker)));
  header.Pad(16);
  const auto data = Pattern(size_t{kSize} * count, 23);
  std::memcpy(bench_->host_data().data(), data.data(), data.size());
  ASSERT_OK(bench_->SendAndRun(EntryBuilder().Noflush(header).RelayLinear(
      Xy(hw::kPcieTranslated) | abi::kNocXyPcieFlag, bench_->host_data_address(0), data.size())));
  for (uint32_t worker = 0; worker < count; ++worker) {
    const auto got = bench_->Bytes(bench_->WorkerTile(worker), kTarget, kSize);
    EXPECT_EQ(std::memcmp(got.data(), data.data() + size_t{worker} * kSize, kSize), 0) << worker;
  }
}

TEST_P(Write, PackedLargeMulticastsLinkedStretches) {
  struct Stretch {
    uint32_t rectangle;
    uint32_t address;
    uint16_t length;
    uint8_t receivers;
    bool unlink;
  };
  const uint32_t all = bench_->worker_rectangle();
  const uint32_t left = hw::NocRectangle(hw::NocXy(1, 2), hw::NocXy(1, 3));
  const Stretch stretches[] = {{all, kTarget, 500, 4, false},
                               {all, kTarget + 0x1000, 16, 4, true},
                               {left, kTarget + 0x2000, 300, 2, true}};
  abi::WritePackedLarge command{};
  command.id = abi::DispatchId::kWritePackedLarge;
  command.count = 3;
  command.alignment = 64;
  Payload payload(command);
  std::vector<std::vector<std::byte>> data;
  for (const Stretch& stretch : stretches) {
    payload.Value(abi::WritePackedLargeTarget{
        stretch.rectangle, stretch.address, stretch.length, stretch.receivers,
        stretch.unlink ? abi::kPackedLargeUnlink : uint8_t{0}});
  }
  payload.Pad(16);
  const size_t header = payload.bytes().size();
  size_t end = header;
  for (const Stretch& stretch : stretches) {
    data.push_back(Pattern(stretch.length, 30 + stretch.length));
    payload.Append(data.back());
    end += AlignUp(size_t{stretch.length}, size_t{64});
    payload.Append(std::vector<std::byte>(end - payload.bytes().size()));
  }
  ASSERT_OK(bench_->SendAndRun(EntryBuilder().Dispatch(payload)));
  for (uint32_t worker = 0; worker < bench_->worker_count(); ++worker) {
    const hw::Coordinate at = bench_->WorkerTile(worker);
    EXPECT_EQ(bench_->Bytes(at, kTarget, 500), data[0]);
    EXPECT_EQ(bench_->Bytes(at, kTarget + 0x1000, 16), data[1]);
    const auto third = bench_->Bytes(at, kTarget + 0x2000, 300);
    EXPECT_EQ(third == data[2], at.x == 1);
  }
}

// Linked stretches that are longer than the ring together: the dispatcher waits for data and gives pages
// back in between, which it must not do with a link open (the model stops the device).
TEST_P(Write, PackedLargeLongerThanTheRingStreams) {
  constexpr uint32_t kCount = 14;
  constexpr uint16_t kLength = 9'004;
  constexpr size_t kStride = AlignUp(size_t{kLength}, size_t{64});
  abi::WritePackedLarge command{};
  command.id = abi::DispatchId::kWritePackedLarge;
  command.count = kCount;
  command.alignment = 64;
  Payload header(command);
  for (uint32_t i = 0; i < kCount; ++i) {
    header.Value(
        abi::WritePackedLargeTarget{bench_->worker_rectangle(), kTarget + i * 0x4000, kLength,
                                    static_cast<uint8_t>(bench_->worker_count()),
                                    i + 1 == kCount ? abi::kPackedLargeUnlink : uint8_t{0}});
  }
  header.Pad(16);
  const auto data = Pattern(kStride * kCount, 42);
  std::memcpy(bench_->host_data().data(), data.data(), data.size());
  ASSERT_OK(bench_->SendAndRun(EntryBuilder().Noflush(header).RelayLinear(
      Xy(hw::kPcieTranslated) | abi::kNocXyPcieFlag, bench_->host_data_address(0), data.size())));
  for (uint32_t i = 0; i < kCount; ++i) {
    const auto got = bench_->Bytes(bench_->WorkerTile(3), kTarget + i * 0x4000, kLength);
    EXPECT_EQ(std::memcmp(got.data(), data.data() + i * kStride, kLength), 0) << i;
  }
}

// The rule that the last target of a rectangle has UNLINK, broken by the record.
TEST_P(Write, PackedLargeEndsALinkWhereTheRectangleChanges) {
  abi::WritePackedLarge command{};
  command.id = abi::DispatchId::kWritePackedLarge;
  command.count = 2;
  command.alignment = 16;
  Payload payload(command);
  const auto first = Pattern(64, 43), second = Pattern(64, 44);
  const uint32_t left = hw::NocRectangle(hw::NocXy(1, 2), hw::NocXy(1, 3));
  payload.Value(abi::WritePackedLargeTarget{bench_->worker_rectangle(), kTarget, 64, 4, 0});
  payload.Value(abi::WritePackedLargeTarget{left, kTarget + 64, 64, 2, 0});
  payload.Pad(16).Append(first).Append(second);
  ASSERT_OK(bench_->SendAndRun(EntryBuilder().Dispatch(payload)));
  EXPECT_EQ(bench_->Bytes({2, 3}, kTarget, 64), first);
  EXPECT_EQ(bench_->Bytes({1, 3}, kTarget + 64, 64), second);
}

// Longer than 16 KiB a packet and longer than the ring.
TEST_P(Write, LinearOfManyPacketsStreams) {
  const auto data = Pattern(200'000, 40);
  std::memcpy(bench_->host_data().data(), data.data(), data.size());
  EntryBuilder entry;
  entry.Noflush(WriteLinearCommand(Xy(bench_->WorkerTile(2)), kTarget, data.size()));
  entry.RelayLinear(Xy(hw::kPcieTranslated), bench_->host_data_address(0), data.size());
  ASSERT_OK(bench_->SendAndRun(entry));
  EXPECT_EQ(bench_->Bytes(bench_->WorkerTile(2), kTarget, data.size()), data);
}

TEST_P(Write, PagedOfLargePagesStreams) {
  constexpr uint32_t kPage = 20'480, kPages = 9;
  const auto data = Pattern(size_t{kPage} * kPages, 41);
  std::memcpy(bench_->host_data().data(), data.data(), data.size());
  EntryBuilder entry;
  entry.Noflush(WritePagedCommand(true, 0, 0x40000, kPage, kPages));
  entry.RelayLinear(Xy(hw::kPcieTranslated), bench_->host_data_address(0), data.size());
  ASSERT_OK(bench_->SendAndRun(entry));
  const uint32_t banks = bench_->banks().dram_banks;
  for (uint32_t page = 0; page < kPages; ++page) {
    const auto got = bench_->Bytes(Dram(page % banks), 0x40000 + page / banks * kPage, kPage);
    EXPECT_EQ(std::memcmp(got.data(), data.data() + size_t{page} * kPage, kPage), 0) << page;
  }
}

TTFD_INSTANTIATE_VARIANTS(Write);

}  // namespace
}  // namespace ttfd::testing::firmware_write_test
