// The NoC as firmware uses it: transfers, increments, multicast, counters, streams.
#include "runtime/hw/arc.h"
#include "runtime/hw/stream.h"
#include "tests/conformance/device_fixture.h"

namespace ttfd::noc_test {
namespace {

class NocTest : public DeviceTest {
 protected:
  static constexpr uint32_t kBuffer = 0x20000;

  // The same command on the other NIU, or from another buffer.
  static NocFields On(NocFields fields, uint32_t niu, uint32_t buffer = 0) {
    fields.niu = niu;
    fields.buffer = buffer;
    return fields;
  }
};

TEST_P(NocTest, ReadsAndWritesMoveBytesOnBothNetworksFromEveryBuffer) {
  for (uint32_t niu = 0; niu < 2; ++niu) {
    for (uint32_t buffer = 0; buffer < hw::kNiuCommandBuffers; ++buffer) {
      const std::vector<uint32_t> data = Pattern(4096, niu * 4 + buffer);
      Write(kOther, kBuffer, std::as_bytes(std::span(data)));
      Rv32Asm a;
      EmitNoc(a, On(NocRead(kTile, kOther, kBuffer, kBuffer, 16384), niu, buffer));
      EmitNoc(a, On(NocWrite(kTile, kBuffer, Bank(0, niu), 0x40000, 16384), niu, buffer));
      EmitNoc(a, On(NocWrite(kTile, kBuffer + 16, kOther, 0x40000, 48), niu, buffer));
      Run(a);
      EXPECT_EQ(ReadWords(kTile, kBuffer, 4096), data);
      EXPECT_EQ(ReadWords(Bank(0), 0x40000, 4096), data);
      EXPECT_EQ(ReadWords(kOther, 0x40000, 12), std::vector(data.begin() + 4, data.begin() + 16));
    }
  }
}

TEST_P(NocTest, LengthsAndAddressesNeedOnlyAgreeModulo16) {
  const std::vector<uint32_t> data = Pattern(64, 5);
  Write(kTile, kBuffer, std::as_bytes(std::span(data)));
  std::vector<std::byte> zeros(256);
  Write(kOther, kBuffer, zeros);
  Rv32Asm a;
  EmitNoc(a, NocWrite(kTile, kBuffer + 3, kOther, kBuffer + 64 + 3, 13));
  Run(a);
  std::vector<std::byte> back(256), expected(256);
  ASSERT_TRUE(OpenWindow(UnicastTarget(kOther))->Read(kBuffer, back).ok());
  std::copy_n(std::as_bytes(std::span(data)).begin() + 3, 13, expected.begin() + 67);
  EXPECT_EQ(back, expected);
}

TEST_P(NocTest, ATileMayTalkToItself) {
  WriteWord(kTile, kBuffer, 0xABCD);
  Rv32Asm a;
  EmitNoc(a, NocWrite(kTile, kBuffer, kTile, kBuffer + 0x100, 4));
  EmitNoc(a, NocRead(kTile, kTile, kBuffer + 0x100, kBuffer + 0x200, 4));
  Run(a);
  EXPECT_EQ(ReadWord(kTile, kBuffer + 0x200), 0xABCDu);
}

TEST_P(NocTest, DramAnswersAtItsPhysicalCoordinatesToo) {
  // Two of the three ports of one bank. The third, (0,11), is in a row of Tensix tiles, whose
  // coordinates ttsim takes for translated ones.
  const hw::Coordinate ports[] = {{0, 0}, {0, 1}};
  WriteWord(kTile, kBuffer + 64, 0x77);
  Rv32Asm a;
  EmitNoc(a, NocWrite(kTile, kBuffer + 64, ports[0], 0x5000, 4));
  EmitNoc(a, NocRead(kTile, ports[1], 0x5000, kBuffer, 4));
  Run(a);
  EXPECT_EQ(ReadWord(kTile, kBuffer), 0x77u);
}

TEST_P(NocTest, IncrementsAddAndReturnTheOldValue) {
  WriteWord(kOther, kBuffer, 10);
  Rv32Asm a;
  EmitNoc(a, NocIncrement(kTile, kOther, kBuffer, 5, kBuffer));
  EmitNoc(a, On(NocIncrement(kTile, kOther, kBuffer, 0xFFFFFFFF, kBuffer + 4), 1, 3));
  Run(a);
  EXPECT_EQ(ReadWord(kOther, kBuffer), 14u);
  EXPECT_EQ(ReadWord(kTile, kBuffer), 10u);
  EXPECT_EQ(ReadWord(kTile, kBuffer + 4), 15u);
}

TEST_P(NocTest, CountersCountWhatTheDocumentsSay) {
  Rv32Asm a;
  constexpr uint32_t kCounters[] = {hw::kNocAtomicResponses,         hw::kNocWriteAcks,
                                    hw::kNocReadResponses,           hw::kNocPostedAtomicsSent,
                                    hw::kNocNonpostedWritesSent,     hw::kNocPostedWritesSent,
                                    hw::kNocRequestsOutstanding + 3, hw::kNocWritesOutgoing + 3};
  const auto snapshot = [&](uint32_t to) {
    for (uint32_t i = 0; i < std::size(kCounters); ++i) {
      EmitReadCounter(a, 0, kCounters[i], to + 4 * i);
    }
  };
  NocFields posted = NocWrite(kTile, kBuffer, kOther, kBuffer, 32);
  posted.control &= ~hw::kNocResponse;
  NocFields cast = NocMulticast(kTile, kBuffer, {1, 2}, {3, 5}, kBuffer, 16);
  cast.tag = 3 << 10;
  snapshot(kResults);
  EmitNoc(a, NocRead(kTile, kOther, kBuffer, kBuffer, 64));
  EmitNoc(a, NocWrite(kTile, kBuffer, kOther, kBuffer, 64));
  EmitNoc(a, posted);
  EmitNoc(a, posted);
  EmitNoc(a, NocInline(kTile, kOther, hw::StreamRegister(0, hw::kStreamBufferSize), 1));
  EmitNoc(a, NocIncrement(kTile, kOther, kBuffer, 1, kBuffer));
  EmitNoc(a, cast);
  snapshot(kResults + 64);
  a.StoreWord(hw::kNiuAddress + hw::kNocClearOutstanding, 0xFFFF);
  snapshot(kResults + 128);
  Run(a);
  const std::vector<uint32_t> words = ReadWords(kTile, kResults, 48);
  const auto moved = [&](size_t counter) { return words[16 + counter] - words[counter]; };
  EXPECT_EQ(moved(0), 1u);
  EXPECT_EQ(moved(1), 2u + 11);  // a rectangle of 12 without the sender
  EXPECT_EQ(moved(2), 1u);
  EXPECT_EQ(moved(3), 0u);
  EXPECT_EQ(moved(4), 3u);
  EXPECT_EQ(moved(5), 2u);
  EXPECT_EQ(words[16 + 6], (1u - 11) & 0xFF);  // +1 when sent, -1 for each acknowledgement
  EXPECT_EQ(words[32 + 6], 0u);
  EXPECT_EQ(words[16 + 7], 0u);
}

TEST_P(NocTest, MulticastReachesTheRectangleWithoutOrWithTheSender) {
  const std::vector<hw::Coordinate> tiles = Tiles();
  const hw::Coordinate self = {4, 4};
  for (uint32_t niu = 0; niu < 2; ++niu) {
    for (const bool include : {false, true}) {
      for (const hw::Coordinate tile : tiles) WriteWord(tile, 0x30000, 0);
      WriteWord(self, kBuffer, 0x600D);
      // NoC 1 travels the other way: its rectangles are written from high to low.
      const hw::Coordinate low = {2, 3}, high = {12, 5};
      NocFields cast =
          NocMulticast(self, kBuffer, niu == 0 ? low : high, niu == 0 ? high : low, 0x30000, 4);
      cast.niu = niu;
      if (include) cast.control |= hw::kNocIncludeSource;
      Rv32Asm a;
      EmitReadCounter(a, niu, hw::kNocWriteAcks, kResults);
      EmitNoc(a, cast);
      EmitReadCounter(a, niu, hw::kNocWriteAcks, kResults + 4);
      Run(a, self);
      uint32_t reached = 0;
      for (const hw::Coordinate tile : tiles) {
        const bool inside = tile.x >= low.x && tile.x <= high.x && tile.y >= low.y &&
                            tile.y <= high.y && (include || !(tile == self));
        EXPECT_EQ(ReadWord(tile, 0x30000), inside ? 0x600Du : 0u) << tile.x << "," << tile.y;
        reached += inside ? 1 : 0;
      }
      EXPECT_EQ(ReadWord(self, kResults + 4) - ReadWord(self, kResults), reached);
    }
  }
}

TEST_P(NocTest, MulticastReachesRegisters) {
  const uint32_t update = hw::StreamRegister(5, hw::kStreamSpaceAvailableUpdate);
  const uint32_t source = kBuffer + update % 16;
  WriteWord(kTile, source, 1 << hw::kStreamUpdateShift);
  Rv32Asm a;
  NocFields cast = NocMulticast(kTile, source, {1, 2}, {2, 3}, update, 4);
  cast.control |= hw::kNocIncludeSource;
  EmitNoc(a, cast);
  Run(a);
  for (const hw::Coordinate tile : {hw::Coordinate{1, 2}, {1, 3}, {2, 2}, {2, 3}}) {
    EXPECT_EQ(ReadWord(tile, hw::StreamRegister(5, hw::kStreamSpaceAvailable)), 1u);
  }
}

TEST_P(NocTest, StreamsCountModulo2To17FromManySides) {
  const uint32_t update = hw::StreamRegister(48, hw::kStreamSpaceAvailableUpdate);
  const uint32_t space = hw::StreamRegister(48, hw::kStreamSpaceAvailable);
  WriteWord(kOther, hw::StreamRegister(48, hw::kStreamBufferSize), hw::kStreamCounterMask - 1);
  const uint32_t source = kBuffer + update % 16;
  WriteWord(kTile, source, 1 << hw::kStreamUpdateShift);
  NocFields posted = NocInline(kTile, kOther, update, 2 << hw::kStreamUpdateShift);
  posted.control &= ~hw::kNocResponse;
  Rv32Asm a;
  EmitNoc(a, posted);                                      // an inline write
  EmitNoc(a, NocWrite(kTile, source, kOther, update, 4));  // an ordinary one
  EmitNoc(a, NocRead(kTile, kOther, space, kResults, 4));
  Run(a);
  EXPECT_EQ(ReadWord(kTile, kResults), 1u);
  const uint32_t minus_one = hw::kStreamCounterMask << hw::kStreamUpdateShift;
  WriteWord(kOther, update, minus_one);
  WriteWord(kOther, update, minus_one);
  EXPECT_EQ(ReadWord(kOther, space), hw::kStreamCounterMask);
  // The other registers of a stream only store.
  WriteWord(kOther, hw::StreamRegister(48, hw::kStreamRemoteSource), 0x123456);
  WriteWord(kOther, hw::StreamRegister(48, hw::kStreamBufferStart), 0x1FFFF);
  EXPECT_EQ(ReadWord(kOther, hw::StreamRegister(48, hw::kStreamRemoteSource)), 0x123456u);
  EXPECT_EQ(ReadWord(kOther, hw::StreamRegister(48, hw::kStreamBufferStart)), 0x1FFFFu);
  EXPECT_EQ(ReadWord(kOther, space), hw::kStreamCounterMask);
  EXPECT_EQ(ReadWord(kOther, hw::StreamRegister(47, hw::kStreamSpaceAvailable)), 0u);
}

TEST_P(NocTest, ArcScratchIsReadableFromTiles) {
  Rv32Asm a;
  constexpr uint32_t kStatus = hw::kArcScratchRam + 4 * hw::kArcScratchBootStatus;
  const uint32_t to = kBuffer + kStatus % 16;
  EmitNoc(a, NocRead(kTile, hw::kArc, kStatus, to, 4));
  Run(a);
  EXPECT_EQ(ReadWord(kTile, to) & 7, 5u);
}

TEST_P(NocTest, CommandRegistersReadBackAndCommandsAreAcceptedAtOnce) {
  Rv32Asm a;
  const NocFields read = NocRead(kTile, Bank(0), 0x100, kBuffer, 64);
  EmitNoc(a, On(read, 1, 2));
  a.Li(kS0, hw::kNiuAddress + hw::kNiuStride + 2 * hw::kNiuCommandBufferStride);
  a.Li(kS1, kResults);
  const uint32_t registers[] = {hw::kNocTargetLow, hw::kNocTargetHigh, hw::kNocReturnLow,
                                hw::kNocControl,   hw::kNocLength,     hw::kNocCommand};
  for (uint32_t i = 0; i < std::size(registers); ++i) {
    a.Lw(kT0, kS0, static_cast<int32_t>(registers[i]));
    a.Sw(kT0, kS1, static_cast<int32_t>(4 * i));
  }
  Run(a);
  const std::vector<uint32_t> expected = {0x100, read.target_xy, kBuffer, read.control, 64, 0};
  EXPECT_EQ(ReadWords(kTile, kResults, 6), expected);
}

TEST_P(NocTest, UnequalAlignmentIsRefused) {
  if (!GetParam().reports_faults)
    GTEST_SKIP() << "the backend does not report faults of device code";
  struct Case {
    NocFields fields;
    const char* what;
  };
  const Case cases[] = {{NocRead(kTile, kOther, kBuffer, kBuffer + 8, 16), "L1"},
                        {NocRead(kTile, Bank(0), 16, kBuffer, 16), "DRAM read"},
                        {NocWrite(kTile, kBuffer, Bank(0), 4, 16), "DRAM write"}};
  for (const Case& c : cases) {
    ASSERT_TRUE(device().Reset().ok());
    Rv32Asm a;
    EmitNoc(a, c.fields);
    EmitDone(a);
    Load(kTile, a);
    Start(kTile);
    const StatusOr<AdvanceResult> result = device().Advance(1000);
    EXPECT_EQ(result.status().code(), StatusCode::kFailedPrecondition) << c.what;
  }
}

// What may follow a write with kNocLinked, and what may not.
class NocLinks : public NocTest {
 protected:
  NocFields Cast(hw::Coordinate end, bool linked) const {
    NocFields fields = NocMulticast(kTile, kBuffer, {2, 2}, end, kBuffer, 16);
    if (linked) fields.control |= hw::kNocLinked;
    return fields;
  }
};

TEST_P(NocLinks, TakeWritesToOneRectangleFromAnyBufferUntilOneIsNotLinked) {
  const std::vector<uint32_t> data = Pattern(4, 9);
  Write(kTile, kBuffer, std::as_bytes(std::span(data)));
  NocFields second = Cast({3, 3}, true), third = Cast({3, 3}, false);
  second.ret += 0x100, third.ret += 0x200;
  Rv32Asm a;
  EmitNoc(a, Cast({3, 3}, true));
  EmitNoc(a, On(NocRead(kTile, kOther, kBuffer, kBuffer + 64, 16), 1));  // not this NIU's link
  EmitNoc(a, On(second, 0, 2));
  EmitNoc(a, third);
  EmitNoc(a, NocIncrement(kTile, kOther, kBuffer + 64, 1, kBuffer + 128));  // none is open now
  EmitNoc(a, Cast({4, 4}, false));
  Run(a);
  for (const uint32_t offset : {0u, 0x100u, 0x200u}) {
    EXPECT_EQ(ReadWords({3, 3}, kBuffer + offset, 4), data) << offset;
  }
  EXPECT_EQ(ReadWords({4, 4}, kBuffer, 4), data);
}

TEST_P(NocLinks, RefuseEverythingElse) {
  if (!GetParam().checks_links) GTEST_SKIP() << "the backend ignores links";
  NocFields other_channel = Cast({3, 3}, false);
  other_channel.control ^= 1u << hw::kNocVcShift;
  const NocFields unicast = NocWrite(kTile, kBuffer, {2, 2}, kBuffer, 16);
  struct Case {
    const char* what;
    NocFields fields;
  };
  const Case cases[] = {
      {"another rectangle", Cast({3, 4}, false)},
      {"another virtual channel", other_channel},
      {"a unicast into the rectangle", unicast},
      {"a read", NocRead(kTile, kOther, kBuffer, kBuffer, 16)},
      {"a read from another buffer", On(NocRead(kTile, kOther, kBuffer, kBuffer, 16), 0, 3)},
      {"an increment from another buffer",
       On(NocIncrement(kTile, kOther, kBuffer, 1, kBuffer), 0, 2)},
      {"an inline write",
       NocInline(kTile, kOther, hw::StreamRegister(0, hw::kStreamBufferSize), 1)},
  };
  for (const Case& c : cases) {
    ASSERT_TRUE(device().Reset().ok());
    Rv32Asm a;
    EmitNoc(a, Cast({3, 3}, true));
    EmitNoc(a, c.fields);
    EmitDone(a);
    Load(kTile, a);
    Start(kTile);
    const StatusOr<AdvanceResult> result = device().Advance(1000);
    EXPECT_EQ(result.status().code(), StatusCode::kFailedPrecondition) << c.what;
  }
}

TTFD_FOR_EVERY_BACKEND(NocTest);
TTFD_FOR_EVERY_BACKEND(NocLinks);

}  // namespace
}  // namespace ttfd::noc_test
