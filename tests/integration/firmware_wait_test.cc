// WAIT with every combination of flags, and the commands that only take their turn.
#include "runtime/hw/stream.h"
#include "tests/support/firmware_test.h"

namespace ttfd::testing::firmware_wait_test {
namespace {

constexpr uint32_t kTarget = abi::kBufferAddress;
constexpr uint32_t kStream = 30;
constexpr uint32_t kMemory = abi::kControlBlockAddress + offsetof(abi::ControlBlock, last_event[1]);

class Wait : public FirmwareVariantTest {
 protected:
  Payload WriteWord(uint32_t address, uint32_t value) {
    const hw::Coordinate at = bench_->WorkerTile(0);
    return WriteLinearCommand(hw::NocXy(at.x, at.y), address, 4).Value(value);
  }
  uint32_t target() { return bench_->Word(bench_->WorkerTile(0), kTarget); }
  uint32_t stream() {
    return bench_->Word(FirmwareBench::kDispatchTile,
                        hw::StreamRegister(kStream, hw::kStreamSpaceAvailable));
  }
  void AddToStream(uint32_t count) {
    bench_->SetWord(FirmwareBench::kDispatchTile,
                    hw::StreamRegister(kStream, hw::kStreamSpaceAvailableUpdate),
                    (count & hw::kStreamCounterMask) << hw::kStreamUpdateShift);
    EXPECT_TRUE(bench_->Run().ok());  // an update shows when it likes
  }
  void SetMemory(uint32_t value) { bench_->SetWord(FirmwareBench::kDispatchTile, kMemory, value); }
  uint32_t sync() { return PrefetchCounter(offsetof(abi::ControlBlock, sync)); }
};

// What is waited for comes in both orders; nothing behind the WAIT happens before both are there.
TEST_P(Wait, EveryCombinationOfFlags) {
  for (uint32_t flags = 0; flags < 32; ++flags) {
    for (const bool stream_first : {false, true}) {
      SCOPED_TRACE(flags);
      const bool waits_memory = (flags & abi::kWaitMemory) != 0;
      const bool waits_stream = (flags & abi::kWaitStream) != 0;
      const uint32_t notified = sync();
      SetMemory(6);
      AddToStream(6 - stream());
      bench_->SetWord(bench_->WorkerTile(0), kTarget, 0);
      ASSERT_OK(bench_->SendAndRun(
          EntryBuilder()
              .Dispatch(WaitCommand(static_cast<uint8_t>(flags), kStream, kMemory, 7))
              .Dispatch(WriteWord(kTarget, flags + 1))));
      const auto come = [&](bool is_stream) {
        if (is_stream) AddToStream(1);
        if (!is_stream) SetMemory(7);
        return bench_->Run();
      };
      EXPECT_EQ(target() != 0, !waits_memory && !waits_stream);
      ASSERT_OK(come(stream_first));
      EXPECT_EQ(target() != 0, stream_first ? !waits_memory : !waits_stream);
      ASSERT_OK(come(!stream_first));
      EXPECT_EQ(target(), flags + 1);
      EXPECT_EQ(sync() - notified, (flags & abi::kWaitNotifyPrefetch) != 0 ? 1u : 0u);
      if ((flags & abi::kWaitClearStream) != 0) {
        // What came in behind the clear stays.
        EXPECT_EQ(stream(), waits_stream || (waits_memory && stream_first) ? 0u : 1u);
      } else {
        EXPECT_EQ(stream(), 7u);
      }
      EXPECT_EQ(DispatchStatus().state, abi::kHartReady);
    }
  }
}

TEST_P(Wait, CountersComparePastTheirWraps) {
  SetMemory(0xFFFFFFFE);
  AddToStream(hw::kStreamCounterMask - stream());  // 2^17 - 1
  ASSERT_OK(bench_->SendAndRun(
      EntryBuilder()
          .Dispatch(WaitCommand(abi::kWaitMemory, 0, kMemory, 3))
          .Dispatch(WaitCommand(abi::kWaitStream, kStream, 0, hw::kStreamCounterMask + 3))
          .Dispatch(WriteWord(kTarget, 9))));
  EXPECT_EQ(target(), 0u);
  SetMemory(2);
  ASSERT_OK(bench_->Run());
  EXPECT_EQ(target(), 0u);
  SetMemory(3);
  AddToStream(2);
  ASSERT_OK(bench_->Run());
  EXPECT_EQ(target(), 0u);
  AddToStream(1);
  ASSERT_OK(bench_->Run());
  EXPECT_EQ(target(), 9u);
}

TEST_P(Wait, CommandsThatDoNothingAreCounted) {
  const uint32_t before = DispatchStatus().progress;
  EntryBuilder entry;
  for (uint32_t i = 0; i < 50; ++i) {
    entry.Dispatch(BareDispatchCommand(abi::DispatchId::kSink))
        .Dispatch(Debugged(1, BareDispatchCommand(abi::DispatchId::kExecBufEnd)))
        .Debug(Pattern(i, i));
    if (i % 5 == 4) {
      ASSERT_OK(bench_->Send(entry));
      entry = EntryBuilder();
    }
  }
  ASSERT_OK(bench_->Run());
  EXPECT_EQ(DispatchStatus().progress - before, 150u);
}

// Commands that end in their page, at its end and beyond it.
TEST_P(Wait, ACommandFollowsADebugInItsPage) {
  BenchOptions options = GetParam().options();
  options.command_ring_bytes = std::max(options.command_ring_bytes, 32u * 1024);
  options.issue_ring_bytes = std::max(options.issue_ring_bytes, 32u * 1024);
  Start(options);
  const hw::Coordinate at = bench_->WorkerTile(0);
  const uint32_t xy = hw::NocXy(at.x, at.y);
  for (const uint32_t debugs : {1u, 3u, abi::kMaxDebugCommands}) {
    for (const uint32_t before_end : {0u, 16u, 32u, 48u, 1024u}) {
      const uint32_t page = abi::kDispatchPageBytes - before_end - 16 * debugs;
      const uint32_t sizes[] = {16, page - 48, page - 32, page + 4096};
      for (const uint32_t bytes : sizes) {
        SCOPED_TRACE(bytes);
        const auto linear = Pattern(bytes, bytes + debugs);
        const auto packed = Pattern(std::min(bytes, abi::kDispatchPageBytes), bytes + 1);
        const auto packed_bytes = static_cast<uint16_t>(packed.size());
        bench_->SetBytes(at, kTarget, std::vector<std::byte>(0x5000));
        const uint32_t before = DispatchStatus().progress;
        const Payload commands[] = {WriteLinearCommand(xy, kTarget, bytes).Append(linear),
                                    SetWriteOffsetCommand({0, 0x2800, 0, 0}),
                                    WritePackedCommand(0, 1, packed_bytes, kTarget, 1)
                                        .Value(xy)
                                        .Pad(16)
                                        .Append(packed)
                                        .Pad(16)};
        for (const Payload& command : commands) {
          ASSERT_OK(bench_->SendAndRun(EntryBuilder().Dispatch(Debugged(debugs, command))));
        }
        EXPECT_EQ(bench_->Bytes(at, kTarget, bytes), linear);
        EXPECT_EQ(bench_->Bytes(at, kTarget + 0x2800, packed_bytes), packed);
        EXPECT_EQ(DispatchStatus().progress - before, 3 * (debugs + 1));
      }
    }
  }
}

TEST_P(Wait, ADelayLastsAsLongAsItSays) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("counts instructions");
  for (const uint32_t clocks : {0u, 1u, 1000u, 100'000u, abi::kMaxDelayClocks}) {
    const uint64_t before = bench_->retired(FirmwareBench::kDispatchTile, hw::kBrisc);
    ASSERT_OK(bench_->SendAndRun(EntryBuilder().Dispatch(DelayCommand(clocks))));
    // The hart executes at most an instruction a clock.
    const uint64_t spent = bench_->retired(FirmwareBench::kDispatchTile, hw::kBrisc) - before;
    EXPECT_GE(spent, clocks);
    EXPECT_LE(spent, clocks + 1000);
  }
}

TEST_P(Wait, TheSplitWriteIsTheWholeOne) {
  const auto data = Pattern(300, 8);
  std::vector<std::byte> bytes;
  for (const bool host : {false, true}) {
    Payload write =
        host ? WriteLinearCommand(bench_->block().pcie_xy | abi::kNocXyPcieFlag,
                                  bench_->host_data_address(0) & ~(uint64_t{1} << 60), data.size())
             : WriteLinearCommand(bench_->block().worker_start_xy, kTarget, data.size());
    bytes.assign(write.bytes().begin(), write.bytes().end());
    bytes[0] = static_cast<std::byte>(abi::DispatchId::kWriteLinearH);
    Payload split(LoadAt<abi::WriteLinear>(bytes.data()));
    ASSERT_OK(bench_->SendAndRun(EntryBuilder().Dispatch(split.Append(data))));
  }
  EXPECT_EQ(bench_->Bytes(bench_->WorkerTile(0), kTarget, data.size()), data);
  EXPECT_EQ(std::vector<std::byte>(bench_->host_data().begin(), bench_->host_data().begin() + 300),
            data);
}

TEST_P(Wait, TheSplitRelayIsTheWholeOne) {
  const auto data = Pattern(5000, 9);
  bench_->SetBytes(bench_->WorkerTile(1), kTarget, data);
  const hw::Coordinate from = bench_->WorkerTile(1);
  EntryBuilder whole;
  whole.RelayLinear(hw::NocXy(from.x, from.y), kTarget, data.size());
  std::vector<std::byte> bytes(whole.bytes().begin(), whole.bytes().end());
  bytes[0] = static_cast<std::byte>(abi::PrefetchId::kRelayLinearH);
  ASSERT_OK(bench_->SendAndRun(
      EntryBuilder()
          .Noflush(WriteLinearCommand(bench_->block().worker_start_xy, kTarget, data.size()))
          .Raw(bytes)));
  EXPECT_EQ(bench_->Bytes(bench_->WorkerTile(0), kTarget, data.size()), data);
}

TTFD_INSTANTIATE_VARIANTS(Wait);

}  // namespace
}  // namespace ttfd::testing::firmware_wait_test
