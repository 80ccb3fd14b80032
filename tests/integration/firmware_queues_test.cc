// Two hardware queues on one chip, and sub-devices: disjoint sets of workers with go words and counters of
// their own.
#include "runtime/abi/host_queue.h"
#include "runtime/hw/stream.h"
#include "tests/support/firmware_launch.h"
#include "tests/support/firmware_test.h"

namespace ttfd::testing::firmware_queues_test {
namespace {

constexpr uint32_t kTarget = abi::kBufferAddress;
constexpr uint32_t kQueues = abi::kMaxHardwareQueues;

uint32_t Xy(hw::Coordinate at) { return hw::NocXy(at.x, at.y); }

class Queues : public FirmwareTest, public ::testing::WithParamInterface<Variant> {
 protected:
  void SetUp() override {
    BenchOptions options = GetParam().options();
    options.queues = kQueues;
    options.worker_end = {4, 3};  // eight
    Start(options);
  }
  void TearDown() override {
    if (HasFatalFailure()) return;
    for (uint32_t queue = 0; queue < kQueues; ++queue) {
      const auto at = [&](hw::Coordinate tile, size_t offset) {
        return bench_->counter(tile, offset);
      };
      const auto prefetch = BenchQueue::PrefetchTile(queue),
                 dispatch = BenchQueue::DispatchTile(queue);
      EXPECT_EQ(at(prefetch, offsetof(abi::ControlBlock, dispatch_pages_returned)),
                at(dispatch, offsetof(abi::ControlBlock, dispatch_pages_arrived)));
      EXPECT_EQ(at(prefetch, offsetof(abi::ControlBlock, dispatch_s_pages_returned)),
                at(dispatch, offsetof(abi::ControlBlock, dispatch_s_pages_arrived)));
      for (const uint32_t hart : {hw::kBrisc, hw::kNcrisc}) {
        EXPECT_EQ(bench_->status(dispatch, hart).state, abi::kHartReady);
      }
    }
  }

  uint32_t stream(uint32_t queue, uint32_t sub_device) {
    return bench_->Word(
        BenchQueue::DispatchTile(queue),
        hw::StreamRegister(abi::kFirstWorkerStream + sub_device, hw::kStreamSpaceAvailable));
  }
  static uint32_t Go(uint32_t queue, uint32_t sub_device, uint32_t slot) {
    const hw::Coordinate at = BenchQueue::DispatchTile(queue);
    return abi::GoWord(sub_device, at.x, at.y, slot);
  }
  // Which go word a worker listens to.
  void Listen(uint32_t worker, uint32_t sub_device) {
    bench_->SetWord(bench_->WorkerTile(worker), abi::kGoAreaAddress + offsetof(abi::GoArea, index),
                    abi::GoWordIndex(sub_device, 0));
  }
  // Sets the word of a sub-device for dispatch_s of queue 0.
  void Own(uint32_t sub_device, uint32_t word) {
    bench_->SetWord(BenchQueue::DispatchTile(0),
                    abi::kControlBlockAddress + offsetof(abi::ControlBlock, sub_devices) +
                        sub_device * sizeof(abi::SubDevice),
                    word);
  }
  // A go by queue 0, behind so many answers.
  Status SendGo(uint32_t sub_device, uint32_t count) {
    return bench_->SendAndRun(
        EntryBuilder()
            .Dispatch(NotifyCommand(static_cast<uint16_t>(1u << sub_device)))
            .DispatchS(SendGoCommand(Go(0, sub_device, 0), static_cast<uint8_t>(sub_device),
                                     abi::kFirstWorkerStream + sub_device, count)));
  }
  // As workers of queue 0 would.
  Status Answer(uint32_t sub_device, uint32_t count) {
    bench_->SetWord(
        BenchQueue::DispatchTile(0),
        hw::StreamRegister(abi::kFirstWorkerStream + sub_device, hw::kStreamSpaceAvailableUpdate),
        count << hw::kStreamUpdateShift);
    return bench_->Run();
  }
  // Of the first three sub-devices.
  std::vector<uint32_t> Published() {
    const auto counts = LoadAt<abi::GoCounts>(bench_->host_memory().data() + abi::kGoCountsOffset);
    return {counts.answered[0], counts.answered[1], counts.answered[2]};
  }
  uint32_t launches(uint32_t worker) {
    return bench_->status(bench_->WorkerTile(worker), hw::kBrisc).progress;
  }
};

TEST_P(Queues, BothWorkAtTheSameTime) {
  for (uint32_t i = 0; i < 40; ++i) {
    for (uint32_t queue = 0; queue < kQueues; ++queue) {
      const auto data = Pattern(100 + 16 * i, i + 100 * queue);
      ASSERT_OK(bench_->Send(EntryBuilder()
                                 .Dispatch(WriteLinearCommand(Xy(bench_->WorkerTile(queue)),
                                                              kTarget + 0x1000 * i, data.size())
                                               .Append(data))
                                 .Dispatch(EventCommand(i + 1000 * queue)),
                             false, queue));
    }
    ASSERT_OK(bench_->Run());
    for (uint32_t queue = 0; queue < kQueues; ++queue) {
      const auto data = Pattern(100 + 16 * i, i + 100 * queue);
      EXPECT_EQ(bench_->Bytes(bench_->WorkerTile(queue), kTarget + 0x1000 * i, data.size()), data);
      const auto page = bench_->TakeCompletionPage(queue);
      ASSERT_OK(page.status());
      ASSERT_FALSE(page->empty());
      EXPECT_EQ(LoadAt<abi::EventRecord>(page->data()).event, i + 1000 * queue);
    }
  }
}

// Events recorded on one and waited for by the other, both ways, without the host in between.
TEST_P(Queues, OneWaitsForAnEventOfTheOther) {
  const auto last_event = [](uint32_t queue) {
    return abi::kControlBlockAddress + offsetof(abi::ControlBlock, last_event) +
           queue * sizeof(abi::Counter);
  };
  const auto record = [&](uint32_t queue, uint32_t event) {
    Payload id = WritePackedCommand(abi::kPackedNoStride, kQueues, 4,
                                    static_cast<uint32_t>(last_event(queue)));
    for (uint32_t other = 0; other < kQueues; ++other)
      id.Value(Xy(BenchQueue::DispatchTile(other)));
    return id.Pad(16).Value(event);
  };
  const auto write = [&](uint32_t value) {
    return WriteLinearCommand(Xy(bench_->WorkerTile(0)), kTarget, 4).Value(value);
  };
  const auto wait = [&](uint32_t queue, uint32_t event) {
    return WaitCommand(abi::kWaitMemory, 0, static_cast<uint32_t>(last_event(queue)), event);
  };
  for (uint32_t round = 1; round < 20; ++round) {
    // Queue 1 writes only after queue 0, which goes on only after queue 1.
    ASSERT_OK(bench_->SendAndRun(EntryBuilder()
                                     .Dispatch(wait(0, round))
                                     .Dispatch(write(2 * round))
                                     .Dispatch(WaitCommand(abi::kWaitBarrier))
                                     .Dispatch(record(1, round)),
                                 false, 1));
    ASSERT_OK(bench_->SendAndRun(EntryBuilder()
                                     .Dispatch(write(2 * round - 1))
                                     .Dispatch(WaitCommand(abi::kWaitBarrier))
                                     .Dispatch(record(0, round))
                                     .Dispatch(wait(1, round))
                                     .Dispatch(EventCommand(round))));
    EXPECT_EQ(bench_->Word(bench_->WorkerTile(0), kTarget), 2 * round);
    EXPECT_FALSE(bench_->TakeCompletionPage()->empty());
  }
}

// While dispatch_s idles, while it waits for other workers, and with the next go.
TEST_P(Queues, AnsweredGosArePublished) {
  using Counts = std::vector<uint32_t>;
  ASSERT_OK(bench_->SendAndRun(EntryBuilder().DispatchS(SetNumWorkerSemsCommand(3))));
  for (uint32_t worker = 0; worker < 6; ++worker) Listen(worker, worker < 3 ? 1 : 2);
  Own(0, 2 | abi::kPublishGos);
  Own(1, 3 | abi::kPublishGos);
  Own(2, 3);
  ASSERT_OK(SendGo(0, 0));
  EXPECT_EQ(Published(), (Counts{1, 0, 0}));
  ASSERT_OK(SendGo(1, 0));
  ASSERT_OK(SendGo(2, 0));
  EXPECT_EQ(Published(), (Counts{1, 1, 0})) << "the last does not publish";

  for (uint32_t worker = 0; worker < 3; ++worker) Listen(worker, 3);
  ASSERT_OK(SendGo(1, 3));
  EXPECT_EQ(Published(), (Counts{1, 1, 0})) << "no worker has answered";
  ASSERT_OK(Answer(1, 2));
  EXPECT_EQ(Published(), (Counts{1, 1, 0})) << "one has not";
  ASSERT_OK(Answer(1, 1));
  EXPECT_EQ(Published(), (Counts{1, 2, 0})) << "while it waits for commands";

  ASSERT_OK(SendGo(1, 6));
  ASSERT_OK(SendGo(2, 4));  // held: one more than have answered
  EXPECT_EQ(bench_->status(BenchQueue::DispatchTile(0), hw::kNcrisc).waypoint,
            abi::kWaypointWorkers);
  ASSERT_OK(Answer(1, 3));
  EXPECT_EQ(Published(), (Counts{1, 3, 0})) << "while it waits for other workers";
  ASSERT_OK(Answer(2, 1));

  ASSERT_OK(SendGo(1, 9));
  ASSERT_OK(SendGo(1, 12));  // held, and three more are missing
  ASSERT_OK(Answer(1, 3));
  EXPECT_EQ(Published(), (Counts{1, 4, 0})) << "with the next go";
  ASSERT_OK(Answer(1, 3));
  EXPECT_EQ(Published(), (Counts{1, 5, 0}));
  for (uint32_t sub_device = 0; sub_device < 3; ++sub_device) {
    constexpr uint32_t kSent[] = {1, 5, 2};
    EXPECT_EQ(bench_->Word(BenchQueue::DispatchTile(0), abi::kControlBlockAddress +
                                                            offsetof(abi::ControlBlock, gos_sent) +
                                                            4 * sub_device),
              kSent[sub_device]);
  }
}

// Each of them may be answered at any time; until then dispatch_s sleeps.
TEST_P(Queues, UnansweredGosOfAllSubDevices_LetTheDeviceRest) {
  ASSERT_OK(bench_->SendAndRun(EntryBuilder().DispatchS(SetNumWorkerSemsCommand(8))));
  for (uint32_t worker = 0; worker < bench_->worker_count(); ++worker) Listen(worker, 8);
  for (uint32_t sub_device = 0; sub_device < abi::kMaxSubDevices; ++sub_device) {
    Own(sub_device, 1 | abi::kPublishGos);
    ASSERT_OK(SendGo(sub_device, 0));
  }
  ASSERT_OK(SendGo(7, 1));  // held
  EXPECT_EQ(Published(), (std::vector<uint32_t>{0, 0, 0}));
  for (uint32_t sub_device = 0; sub_device < abi::kMaxSubDevices; ++sub_device) {
    ASSERT_OK(Answer(sub_device, 1));
  }
  EXPECT_EQ(Published(), (std::vector<uint32_t>{1, 1, 1}));
}

// It was sent to the previous owner of the number.
TEST_P(Queues, AGoOfAnotherGenerationIsNotTaken) {
  const hw::Coordinate at = bench_->WorkerTile(0);
  const auto send_of = [&](uint32_t generation, uint32_t count) {
    Own(1, 1 | abi::GoWordIndex(0, generation) << abi::kSubDeviceGenerationShift);
    return SendGo(1, count);
  };
  ASSERT_OK(bench_->SendAndRun(EntryBuilder().DispatchS(SetNumWorkerSemsCommand(2))));
  for (uint32_t worker = 1; worker < bench_->worker_count(); ++worker) Listen(worker, 8);
  for (uint32_t listens = 0; listens < abi::kGoGenerations; ++listens) {
    bench_->SetWord(at, abi::kGoAreaAddress + offsetof(abi::GoArea, index),
                    abi::GoWordIndex(1, listens));
    const uint32_t before = stream(0, 1);
    for (uint32_t generation = 0; generation < abi::kGoGenerations; ++generation) {
      const uint32_t word = abi::kGoAreaAddress + 4 * abi::GoWordIndex(1, generation);
      ASSERT_OK(send_of(generation, stream(0, 1)));
      EXPECT_EQ(stream(0, 1), before + (generation < listens ? 0 : 1));
      EXPECT_EQ(bench_->Word(at, word) != 0, generation != listens);
      bench_->SetWord(at, word, 0);
    }
    EXPECT_EQ(launches(0), stream(0, 1));
  }
}

TEST_P(Queues, WorkersAnswerTheQueueThatSentTheGo) {
  BenchLauncher launcher(*bench_);
  launcher.Load({.kernels = {{.name = "empty"}}});
  for (uint32_t round = 0; round < 6; ++round) {
    const uint32_t queue = round % kQueues;
    const uint32_t slot = round % abi::kLaunchSlots;
    Payload write = WritePackedCommand(abi::kPackedMulticast, 1, sizeof(abi::LaunchMessage),
                                       abi::LaunchMessageAddress(slot));
    write.Value(bench_->worker_rectangle()).Value(bench_->worker_count()).Pad(16);
    write.Value(launcher.message());
    ASSERT_OK(bench_->SendAndRun(
        EntryBuilder()
            .Dispatch(write)
            .Dispatch(NotifyCommand(1))
            .DispatchS(SendGoCommand(Go(queue, 0, slot), 0, abi::kFirstWorkerStream,
                                     round / kQueues * bench_->worker_count())),
        false, queue));
    EXPECT_EQ(stream(queue, 0), (round / kQueues + 1) * bench_->worker_count());
    EXPECT_EQ(launches(0), round + 1);
  }
}

// Eight sub-devices of a worker each, with goes by multicast and by unicast, from both queues at once:
// even ones belong to queue 0, odd ones to queue 1.
TEST_P(Queues, EightSubDevicesHaveGoWordsAndCountersOfTheirOwn) {
  constexpr uint32_t kSubDevices = abi::kMaxSubDevices;
  ASSERT_EQ(bench_->worker_count(), kSubDevices);
  std::vector<uint32_t> targets;
  for (uint32_t i = 0; i < kSubDevices; ++i) {
    Listen(i, i);
    targets.push_back(Xy(bench_->WorkerTile(i)));
  }
  for (uint32_t queue = 0; queue < kQueues; ++queue) {
    ASSERT_OK(bench_->SendAndRun(EntryBuilder()
                                     .DispatchS(SetNumWorkerSemsCommand(kSubDevices))
                                     .DispatchS(SetGoTargetsCommand(targets)),
                                 false, queue));
  }
  // No message is there: the worker answers at once. A multicast reaches all, only the named word's
  // listener takes it; so no go is left over in the others' way.
  for (uint32_t round = 0; round < 8; ++round) {
    for (uint32_t sub_device = 0; sub_device < kSubDevices; ++sub_device) {
      const uint32_t queue = sub_device % kQueues;
      const bool multicast = (round + sub_device) % 3 == 0;
      const uint32_t go = Go(queue, sub_device, round % abi::kLaunchSlots);
      EntryBuilder entry;
      entry.Dispatch(NotifyCommand(static_cast<uint16_t>(1u << sub_device)));
      entry.DispatchS(
          SendGoCommand(go, multicast ? static_cast<uint8_t>(sub_device) : abi::kNoMulticastGo,
                        abi::kFirstWorkerStream + sub_device, round, multicast ? 0 : 1,
                        static_cast<uint8_t>(sub_device)));
      ASSERT_OK(bench_->Send(entry, false, queue));
    }
    ASSERT_OK(bench_->Run());
    for (uint32_t sub_device = 0; sub_device < kSubDevices; ++sub_device) {
      EXPECT_EQ(stream(sub_device % kQueues, sub_device), round + 1) << sub_device;
      EXPECT_EQ(stream((sub_device + 1) % kQueues, sub_device), 0u) << sub_device;
      EXPECT_EQ(launches(sub_device), round + 1) << sub_device;
    }
  }
}

// A sub-device that hangs holds up the goes behind it in its queue, and nobody else's.
TEST_P(Queues, ABusySubDeviceHoldsUpItsQueueOnly) {
  for (uint32_t i = 0; i < bench_->worker_count(); ++i) Listen(i, i < 4 ? 0 : 1);
  for (uint32_t queue = 0; queue < kQueues; ++queue) {
    ASSERT_OK(
        bench_->SendAndRun(EntryBuilder().DispatchS(SetNumWorkerSemsCommand(2)), false, queue));
  }
  // Queue 0 waits for four answers that nobody gives.
  ASSERT_OK(bench_->SendAndRun(
      EntryBuilder()
          .Dispatch(NotifyCommand(1))
          .DispatchS(SendGoCommand(Go(0, 0, 0), 0, abi::kFirstWorkerStream, 4))));
  ASSERT_OK(bench_->SendAndRun(
      EntryBuilder()
          .Dispatch(NotifyCommand(2))
          .DispatchS(SendGoCommand(Go(1, 1, 0), 1, abi::kFirstWorkerStream + 1, 0)),
      false, 1));
  EXPECT_EQ(stream(1, 1), 4u);
  EXPECT_EQ(stream(0, 0), 0u);
  EXPECT_EQ(DispatchSStatus().waypoint, abi::kWaypointWorkers);
  EXPECT_EQ(DispatchSStatus().wait_count, 4u);
  bench_->SetWord(FirmwareBench::kDispatchTile,
                  hw::StreamRegister(abi::kFirstWorkerStream, hw::kStreamSpaceAvailableUpdate),
                  4u << hw::kStreamUpdateShift);
  ASSERT_OK(bench_->Run());
  EXPECT_EQ(stream(0, 0), 8u);
}

TTFD_INSTANTIATE_VARIANTS(Queues);

}  // namespace
}  // namespace ttfd::testing::firmware_queues_test
