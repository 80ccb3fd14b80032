// Every structural rule of the protocol, broken: the hart that finds it stops with a fault record that
// names the command and where it lies, and nothing else happens.
#include <cstring>
#include <functional>

#include "tests/support/firmware_test.h"

namespace ttfd::testing::firmware_refusal_test {
namespace {

constexpr uint32_t kTarget = abi::kBufferAddress;
constexpr uint32_t kTile = hw::NocXy(1, 2);

enum class Who { kPrefetch, kDispatch, kDispatchS };

struct Case {
  const char* name;
  Who who;
  uint32_t id;
  abi::FaultCode code;
  std::function<void(EntryBuilder& entry)> add;
};

void PrintTo(const Case& row, std::ostream* out) { *out << row.name; }

template <typename Change>
void Prefetch(EntryBuilder& entry, const EntryBuilder& good, Change change) {
  std::vector<std::byte> bytes(good.bytes().begin(), good.bytes().end());
  change(bytes.data());
  entry.Raw(bytes);
}

template <typename T>
void Put(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof(value));
}

Payload Write16() { return WriteLinearCommand(kTile, kTarget, 16).Append(Pattern(16, 1)); }

Payload Packed(uint8_t flags, uint16_t count, uint16_t size, uint32_t address = kTarget,
               uint16_t index = 0, uint32_t receivers = 1) {
  Payload payload = WritePackedCommand(flags, count, size, address, index);
  for (uint32_t i = 0; i < count; ++i) {
    payload.Value(kTile);
    if ((flags & abi::kPackedMulticast) != 0) payload.Value(receivers);
  }
  return payload.Pad(16).Append(Pattern(64, 2));
}

Payload Large(uint16_t count, uint16_t alignment, uint16_t index, uint16_t length,
              uint8_t receivers, uint32_t address = kTarget) {
  abi::WritePackedLarge command{};
  command.id = abi::DispatchId::kWritePackedLarge;
  command.count = count;
  command.alignment = alignment;
  command.write_offset_index = index;
  Payload payload(command);
  for (uint32_t i = 0; i < count; ++i) {
    payload.Value(abi::WritePackedLargeTarget{hw::NocRectangle(kTile, kTile), address, length,
                                              receivers, abi::kPackedLargeUnlink});
  }
  return payload.Pad(16).Append(Pattern(64, 3));
}

Payload LongTable() {
  abi::SetGoSignalNocData command{};
  command.id = abi::DispatchId::kSetGoSignalNocData;
  command.num_words = abi::kMaxGoNocWords + 1;
  return Payload(command);
}

const EntryBuilder kInline = EntryBuilder().Dispatch(Write16());
const abi::RelayPagedPackedTarget kStretch[] = {{0, 6, 0x1000, 64}};
const abi::RelayRingbufferTarget kPiece[] = {{0, 16}};

using Stretch = std::vector<abi::RelayPagedPackedTarget>;
using Pieces = std::vector<abi::RelayRingbufferTarget>;

constexpr auto kLength = abi::kFaultBadLength;
constexpr auto kCount = abi::kFaultBadCount;
constexpr auto kMisplaced = abi::kFaultMisplacedCommand;

#define P(name, id, code, body)                                                \
  {                                                                            \
#name, Who::kPrefetch, static_cast < uint32_t>(abi::PrefetchId::id), code, \
        [](EntryBuilder & entry) { body; }                                     \
  }
#define D(name, id, code, body)                                                \
  {                                                                            \
#name, Who::kDispatch, static_cast < uint32_t>(abi::DispatchId::id), code, \
        [](EntryBuilder & entry) { entry.Dispatch(body); }                     \
  }
#define S(name, id, code, body)                                                 \
  {                                                                             \
#name, Who::kDispatchS, static_cast < uint32_t>(abi::DispatchId::id), code, \
        [](EntryBuilder & entry) { entry.DispatchS(body); }                     \
  }

const Case kCases[] = {
    P(Unknown, kMax, abi::kFaultUnknownCommand, entry.Bare(abi::PrefetchId::kMax)),
    P(Zero, kIllegal, abi::kFaultUnknownCommand, entry.Bare(abi::PrefetchId::kIllegal)),
    D(DispatchUnknown, kMax, abi::kFaultUnknownCommand, BareDispatchCommand(abi::DispatchId::kMax)),
    S(DispatchSUnknown, kMax, abi::kFaultUnknownCommand,
      BareDispatchCommand(abi::DispatchId::kMax)),
    P(InlineOfLengthZero, kRelayInline, kLength,
      Prefetch(entry, kInline, [](std::byte* c) { Put(c + 4, 0u); })),
    P(InlineOfStrideZero, kRelayInline, kLength,
      Prefetch(entry, kInline, [](std::byte* c) { Put(c + 8, 0u); })),
    P(InlineOfUnalignedStride, kRelayInline, kLength,
      Prefetch(entry, kInline, [](std::byte* c) { Put(c + 8, 72u); })),
    P(InlineBeyondItsEntry, kRelayInline, kLength,
      Prefetch(entry, kInline, [](std::byte* c) { Put(c + 8, 1u << 20); })),
    P(InlineLongerThanItsStride, kRelayInline, kLength,
      Prefetch(entry, kInline, [](std::byte* c) { Put(c + 4, 0xFFFFFFF0u); })),
    P(InlineForNobody, kRelayInline, kLength,
      Prefetch(entry, kInline, [](std::byte* c) { Put(c + 1, uint8_t{2}); })),
    P(InlineForDispatchSOfTwoPages, kRelayInline, kLength,
      entry.DispatchS(Payload(abi::BareDispatch{}).Append(Pattern(256, 1)))),
    P(NoflushOfAPage, kRelayInlineNoflush, kLength,
      entry.Noflush(Payload(abi::BareDispatch{}).Append(Pattern(4080, 1)))),
    P(NoflushOfAnOddLength, kRelayInlineNoflush, kLength,
      entry.Noflush(Payload(abi::BareDispatch{}).Append(Pattern(8, 1)))),
    P(LinearOfNothing, kRelayLinear, kLength, entry.RelayLinear(kTile, kTarget, 0)),
    P(LinearOfFourGigabytes, kRelayLinear, kLength,
      entry.RelayLinear(kTile, kTarget, uint64_t{1} << 32)),
    P(LinearUnaligned, kRelayLinear, kLength, entry.RelayLinear(kTile, kTarget + 8, 16)),
    P(PagedOfNoPages, kRelayPaged, kCount, entry.RelayPaged(true, 0, 0x1000, 64, 0)),
    P(PagedOfEmptyPages, kRelayPaged, kLength, entry.RelayPaged(true, 0, 0x1000, 0, 1)),
    P(PagedOfOddPages, kRelayPaged, kLength, entry.RelayPaged(true, 0, 0x1000, 80, 1)),
    P(PagedAtAnOddBase, kRelayPaged, kLength, entry.RelayPaged(true, 0, 0x1010, 64, 1)),
    P(PagedThatDropsAWholePage, kRelayPaged, kLength, entry.RelayPaged(true, 0, 0x1000, 64, 1, 64)),
    P(PagedOfTooMuch, kRelayPaged, kCount, entry.RelayPaged(true, 0, 0x1000, 1 << 16, 1 << 16)),
    P(PackedOfNothing, kRelayPagedPacked, kCount, entry.RelayPagedPacked({})),
    P(PackedOfTooMany, kRelayPagedPacked, kCount,
      entry.RelayPagedPacked(std::vector<abi::RelayPagedPackedTarget>(36, kStretch[0]))),
    P(PackedOfAnotherTotal, kRelayPagedPacked, kLength, entry.RelayPagedPacked(kStretch, 64)),
    P(PackedBeyondItsStride, kRelayPagedPacked, kLength,
      Prefetch(entry, EntryBuilder().RelayPagedPacked(kStretch),
               [](std::byte* c) { Put(c + 2, uint16_t{35}); })),
    P(PackedOfAnEmptyStretch, kRelayPagedPacked, kLength,
      entry.RelayPagedPacked(Stretch({{0, 6, 0x1000, 0}}))),
    P(PackedOfALongStretch, kRelayPagedPacked, kLength,
      entry.RelayPagedPacked(Stretch({{0, 6, 0x1000, 1 << 20}}))),
    P(PackedOfTinyPages, kRelayPagedPacked, kLength,
      entry.RelayPagedPacked(Stretch({{0, 5, 0x1000, 64}}))),
    P(PackedOfHugePages, kRelayPagedPacked, kLength,
      entry.RelayPagedPacked(Stretch({{0, 32, 0x1000, 64}}))),
    P(PackedAtAnOddBase, kRelayPagedPacked, kLength,
      entry.RelayPagedPacked(Stretch({{0, 6, 0x1020, 64}}))),
    P(PackedWithAnOddStretchInTheMiddle, kRelayPagedPacked, kLength,
      entry.RelayPagedPacked(Stretch({{0, 6, 0x1000, 40}, {0, 6, 0x1000, 64}}))),
    P(RingbufferFillOfNothing, kPagedToRingbuffer, kLength,
      entry.PagedToRingbuffer(true, 6, 0, 0x1000, 0, 64)),
    P(RingbufferFillOfAnOddLength, kPagedToRingbuffer, kLength,
      entry.PagedToRingbuffer(true, 6, 0, 0x1000, 80, 128)),
    P(RingbufferFillThatAdvancesTooLittle, kPagedToRingbuffer, kLength,
      entry.PagedToRingbuffer(true, 6, 0, 0x1000, 128, 64)),
    P(RingbufferFillPastTheEnd, kPagedToRingbuffer, kLength,
      entry.PagedToRingbuffer(true, 6, 0, 0x1000, 128, 1 << 20)),
    P(RingbufferFillOfTinyPages, kPagedToRingbuffer, kLength,
      entry.PagedToRingbuffer(true, 3, 0, 0x1000, 64, 64)),
    P(RingbufferOffsetPastTheEnd, kSetRingbufferOffset, kLength,
      entry.SetRingbufferOffset(1 << 24, false)),
    P(RingbufferWritePointerUnaligned, kSetRingbufferOffset, kLength,
      entry.SetRingbufferOffset(16, true)),
    P(RingbufferRelayOfNothing, kRelayRingbuffer, kCount, entry.RelayRingbuffer({})),
    P(RingbufferRelayOfTooMany, kRelayRingbuffer, kCount,
      entry.RelayRingbuffer(std::vector<abi::RelayRingbufferTarget>(53, kPiece[0]))),
    P(RingbufferRelayPastTheEnd, kRelayRingbuffer, kLength,
      entry.RelayRingbuffer(Pieces({{0x10, 0xFFFFFFF0u}}))),
    P(RingbufferRelayOfAnEmptyPiece, kRelayRingbuffer, kLength,
      entry.RelayRingbuffer(Pieces({{0, 0}}))),
    P(DebugLongerThanItsStride, kDebug, kLength,
      Prefetch(entry, EntryBuilder().Debug(Pattern(32, 1)), [](std::byte* c) { Put(c + 4, 49u); })),
    P(ExecBufInTheMiddleOfAnEntry, kExecBuf, kMisplaced,
      entry.ExecBuf(0x1000, 10, 1).Dispatch(Write16())),
    P(ExecBufWithoutTheStallBit, kExecBuf, kMisplaced, entry.ExecBuf(0x1000, 10, 1)),
    P(ExecBufEndOutsideABuffer, kExecBufEnd, kMisplaced, entry.ExecBufEnd()),
    D(LinearWriteOfNothing, kWriteLinear, kLength, WriteLinearCommand(kTile, kTarget, 0)),
    D(LinearWriteOfFourGigabytes, kWriteLinear, kLength,
      WriteLinearCommand(kTile, kTarget, uint64_t{1} << 32)),
    D(LinearWriteUnaligned, kWriteLinear, kLength, WriteLinearCommand(kTile, kTarget + 4, 16)),
    D(LinearWriteWithOffsetFour, kWriteLinear, kCount,
      WriteLinearCommand(kTile, kTarget, 16, 0, 4)),
    D(HostWriteShorterThanItself, kWriteLinearHHost, kLength,
      HostWriteCommand(static_cast<uint64_t>(-1))),
    D(PagedWriteOfNoPages, kWritePaged, kCount, WritePagedCommand(true, 0, 0x1000, 64, 0)),
    D(PagedWriteOfEmptyPages, kWritePaged, kLength, WritePagedCommand(true, 0, 0x1000, 0, 1)),
    D(PagedWriteOfOddPages, kWritePaged, kLength, WritePagedCommand(true, 0, 0x1000, 24, 1)),
    D(PackedWriteOfNoTargets, kWritePacked, kCount, Packed(0, 0, 16)),
    D(PackedWriteOfTooManyTargets, kWritePacked, kCount, Packed(0, 5, 16)),
    D(PackedMulticastOfTooManyTargets, kWritePacked, kCount, Packed(abi::kPackedMulticast, 3, 16)),
    D(PackedMulticastToNobody, kWritePacked, kCount,
      Packed(abi::kPackedMulticast, 1, 16, kTarget, 0, 0)),
    D(PackedWriteOfNothing, kWritePacked, kLength, Packed(0, 1, 0)),
    D(PackedWriteOfMoreThanAPage, kWritePacked, kLength, Packed(0, 1, 4112)),
    D(PackedWriteWithOffsetFour, kWritePacked, kLength, Packed(0, 1, 16, kTarget, 4)),
    D(PackedWriteUnaligned, kWritePacked, kLength, Packed(0, 1, 16, kTarget + 8)),
    D(PackedSharedDataInTheNextPage, kWritePacked, kLength, Packed(abi::kPackedNoStride, 1, 4090)),
    D(LargeWriteOfNoTargets, kWritePackedLarge, kCount, Large(0, 16, 0, 16, 1)),
    D(LargeWriteOfTooManyTargets, kWritePackedLarge, kCount, Large(36, 16, 0, 16, 1)),
    D(LargeWriteAlignedToNothing, kWritePackedLarge, kLength, Large(1, 0, 0, 16, 1)),
    D(LargeWriteAlignedToTwentyFour, kWritePackedLarge, kLength, Large(1, 24, 0, 16, 1)),
    D(LargeWriteWithOffsetFour, kWritePackedLarge, kLength, Large(1, 16, 4, 16, 1)),
    D(LargeWriteOfNothing, kWritePackedLarge, kLength, Large(1, 16, 0, 0, 1)),
    D(LargeWriteToNobody, kWritePackedLarge, kLength, Large(1, 16, 0, 16, 0)),
    D(LargeWriteUnaligned, kWritePackedLarge, kLength, Large(1, 16, 0, 16, 1, kTarget + 8)),
    D(WaitForAStreamThatIsNot, kWait, kCount, WaitCommand(abi::kWaitStream, 64)),
    D(WaitWithUnknownFlags, kWait, kCount, WaitCommand(0x20)),
    D(WaitForUnalignedMemory, kWait, kLength, WaitCommand(abi::kWaitMemory, 0, 2)),
    D(WaitForMemoryThatIsNot, kWait, kLength, WaitCommand(abi::kWaitMemory, 0, 0x200000)),
    D(DelayForTooLong, kDelay, kCount, DelayCommand(abi::kMaxDelayClocks + 1)),
    D(NoWriteOffsets, kSetWriteOffset, kCount, SetWriteOffsetCommand({})),
    D(TooManyWriteOffsets, kSetWriteOffset, kCount, SetWriteOffsetCommand({0, 0, 0, 0, 0})),
    D(NotifyOfNobody, kNotifySubordinateGoSignal, kCount, NotifyCommand(0)),
    D(NotifyOfTheNinth, kNotifySubordinateGoSignal, kCount, NotifyCommand(1 << 8)),
    D(GoSignalForTheDispatcher, kSendGoSignal, abi::kFaultUnknownCommand,
      SendGoCommand(0, 0, abi::kFirstWorkerStream, 0)),
    S(NoStreams, kSetNumWorkerSems, kCount, SetNumWorkerSemsCommand(0)),
    S(NineStreams, kSetNumWorkerSems, kCount, SetNumWorkerSemsCommand(9)),
    S(MoreTilesThanTheTableHolds, kSetGoSignalNocData, kCount, LongTable()),
    S(GoToAWordThatIsNot, kSendGoSignal, kCount,
      SendGoCommand(0, abi::kGoWords, abi::kFirstWorkerStream, 0)),
    S(GoToTilesThatAreNotInTheTable, kSendGoSignal, kCount,
      SendGoCommand(0, abi::kNoMulticastGo, abi::kFirstWorkerStream, 0, 1)),
    S(GoForAStreamThatIsNot, kSendGoSignal, kCount,
      SendGoCommand(0, abi::kNoMulticastGo, abi::kFirstWorkerStream + 1, 0)),
    S(WriteForDispatchS, kWriteLinear, abi::kFaultUnknownCommand, Write16()),
};

class Refused : public FirmwareTest, public ::testing::WithParamInterface<Case> {
 protected:
  abi::HartStatus StatusOf(Who who) {
    return who == Who::kPrefetch   ? PrefetchStatus()
           : who == Who::kDispatch ? DispatchStatus()
                                   : DispatchSStatus();
  }
};

TEST_P(Refused, AsAFaultThatNamesCommandAndOffset) {
  const Case& broken = GetParam();
  for (const bool small_code : {false, true}) {
    BenchOptions options = TinyRings();
    options.command_ring_bytes = 16 * 1024;  // for commands of a page
    options.issue_ring_bytes = 16 * 1024;
    options.images = small_code ? FirmwareImagesSmall() : FirmwareImages();
    Start(options);
    // One good command of 128 bytes in front, a page of each ring.
    EntryBuilder entry;
    entry.Dispatch(Write16().Append(Pattern(0, 0))).Debug(Pattern(1, 1));
    entry.DispatchS(SetGoTargetsCommand({}));
    const auto offset = static_cast<uint32_t>(entry.bytes().size());
    broken.add(entry);
    ASSERT_OK(bench_->SendAndRun(entry));
    const abi::HartStatus status = StatusOf(broken.who);
    EXPECT_EQ(status.state, abi::kHartFaulted);
    EXPECT_EQ(status.fault_code, broken.code);
    EXPECT_EQ(status.fault_detail[0], broken.id);
    EXPECT_EQ(status.fault_offset, broken.who == Who::kPrefetch   ? offset
                                   : broken.who == Who::kDispatch ? abi::kDispatchPageBytes
                                                                  : abi::kDispatchSPageBytes);
    for (const Who other : {Who::kPrefetch, Who::kDispatch, Who::kDispatchS}) {
      if (other == broken.who) continue;
      EXPECT_EQ(StatusOf(other).state, abi::kHartReady);
    }
  }
}

TEST_F(FirmwareTest, RefusesMoreDebugsThanMayPrecedeACommand) {
  Start(BenchOptions());
  const Payload sink = BareDispatchCommand(abi::DispatchId::kSink);
  ASSERT_OK(
      bench_->SendAndRun(EntryBuilder().Dispatch(Debugged(abi::kMaxDebugCommands + 1, sink))));
  const abi::HartStatus status = DispatchStatus();
  EXPECT_EQ(status.state, abi::kHartFaulted);
  EXPECT_EQ(status.fault_code, kCount);
  EXPECT_EQ(status.fault_offset, abi::kMaxDebugCommands * sizeof(abi::BareDispatch));
}

INSTANTIATE_TEST_SUITE_P(Firmware, Refused, ::testing::ValuesIn(kCases),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

// In a buffer the offset counts from the buffer's start, whichever block of the ring the command is in.
class RefusedInABuffer : public FirmwareTest {
 protected:
  abi::HartStatus Replay(EntryBuilder buffer, uint32_t pages) {
    Start(TinyRings());
    std::vector<std::byte> bytes(buffer.bytes().begin(), buffer.bytes().end());
    bytes.resize(size_t{pages} << 10);
    bench_->SetDramPages(0x10000, 1024, 0, bytes);
    const Status run = bench_->SendAndRun(EntryBuilder().ExecBuf(0x10000, 10, pages), true);
    EXPECT_TRUE(run.ok()) << run.ToString();
    return PrefetchStatus();
  }
};

TEST_F(RefusedInABuffer, ACommandIsNamedWithItsOffsetInTheBuffer) {
  EntryBuilder buffer;
  for (uint32_t i = 0; i < 100; ++i) buffer.Dispatch(Write16());
  const auto offset = static_cast<uint32_t>(buffer.bytes().size());
  const abi::HartStatus status = Replay(buffer.Bare(abi::PrefetchId::kMax), 16);
  EXPECT_EQ(status.fault_code, abi::kFaultUnknownCommand);
  EXPECT_EQ(status.fault_detail[0], static_cast<uint32_t>(abi::PrefetchId::kMax));
  EXPECT_EQ(status.fault_offset, offset);
}

TEST_F(RefusedInABuffer, ABufferWithoutAnEndIsAFault) {
  EntryBuilder writes;
  while (writes.bytes().size() < 6 * 1024) writes.Dispatch(Write16());
  const abi::HartStatus status = Replay(writes, 6);
  EXPECT_EQ(status.fault_detail[0], static_cast<uint32_t>(abi::PrefetchId::kExecBuf));
  EXPECT_EQ(status.fault_offset, 6 * 1024u);
}

TEST_F(RefusedInABuffer, ABufferInABufferIsAFault) {
  const abi::HartStatus status = Replay(EntryBuilder().ExecBuf(0x10000, 10, 1), 1);
  EXPECT_EQ(status.fault_code, abi::kFaultMisplacedCommand);
  EXPECT_EQ(status.fault_offset, 0u);
}

TEST_F(RefusedInABuffer, ACommandThatLeavesTheBufferIsAFault) {
  EntryBuilder buffer;
  buffer.Dispatch(Write16());
  std::vector<std::byte> bad(kInline.bytes().begin(), kInline.bytes().end());
  Put(bad.data() + 8, 2048u);
  const abi::HartStatus status = Replay(buffer.Raw(bad), 2);
  EXPECT_EQ(status.fault_code, abi::kFaultBadLength);
  EXPECT_EQ(status.fault_offset, kInline.bytes().size());
}

TEST_F(RefusedInABuffer, PagesAndTheirNumberAreChecked) {
  for (const uint32_t shift : {9u, 13u, 40u}) {
    Start(TinyRings());
    ASSERT_OK(bench_->SendAndRun(EntryBuilder().ExecBuf(0x10000, shift, 1), true));
    EXPECT_EQ(PrefetchStatus().fault_code, abi::kFaultBadLength);
  }
  Start(TinyRings());
  ASSERT_OK(bench_->SendAndRun(EntryBuilder().ExecBuf(0x10000, 10, 0), true));
  EXPECT_EQ(PrefetchStatus().fault_code, abi::kFaultBadCount);
}

}  // namespace
}  // namespace ttfd::testing::firmware_refusal_test
