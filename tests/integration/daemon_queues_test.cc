// Queues, sub-devices and traces of sessions on the embedded device: the real firmware, driven round by round, so that
// what is on the card at the same time is no matter of luck.
#include <gmock/gmock.h>

#include <cstring>
#include <fstream>

#include "runtime/base/bytes.h"
#include "tests/support/core_fixture.h"
#include "tests/support/core_on_device.h"

namespace ttfd {
namespace {

using ::testing::IsEmpty;

constexpr uint32_t kPage = 1024;
constexpr uint64_t kData = 1, kFlag = 2, kBump = 3, kMeet = 4, kBumps = 5, kMeets = 6,
                   kMeetsToo = 7, kTrace = 8;

std::string Elf(const std::string& name) {
  std::ifstream file(std::string(DISPATCH_KERNELS) + "/" + name + ".elf", std::ios::binary);
  EXPECT_TRUE(file.is_open()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

// Adds `addend` to the first word of page 0 of the buffer, `clocks` after it began.
ArgumentsRequest BumpWords(uint32_t addend, uint32_t clocks = 0) {
  return {0, {0, kPage, addend, clocks}, {0}, 1, {{0, kData, 0}}};
}
LaunchRequest BumpBy(uint32_t addend, uint32_t clocks = 0) {
  LaunchRequest launch = Launch(kBumps);
  launch.arguments.push_back(BumpWords(addend, clocks));
  return launch;
}
std::string Words(uint32_t word) {
  std::string bytes(16, '\0');
  StoreAt(bytes.data(), word);
  return bytes;
}
uint32_t FirstWord(const std::string& bytes) {
  return bytes.size() < 4 ? ~0u : LoadAt<uint32_t>(bytes.data());
}

class DaemonQueues : public ::testing::Test {
 protected:
  void SetUp() override {
    CoreOnDevice made = MakeCoreOnDevice(Options());
    ASSERT_NE(made.core, nullptr);
    device_ = std::move(made.device);
    core = std::move(made.core);
    ASSERT_TRUE(core->Boot().ok());
    client = Connect();
  }
  void TearDown() override {
    client.reset();
    other.reset();
    while (core->RunOnce()) continue;
    const StatusReply status = core->admin().GetStatus();
    for (const MemoryUseReply& use : status.devices[0].memory) {
      EXPECT_EQ(use.used_bytes, 0u) << static_cast<int>(use.kind);
    }
    const Status stopped = core->Stop(SteadyClock().Now() + std::chrono::seconds(10));
    EXPECT_TRUE(stopped.ok()) << StatusMessage(stopped);
  }

  virtual DaemonOptions Options() const { return {}; }

  // Queue 1 is a transfer queue, 2 and 3 have the left and the right half of the workers.
  std::unique_ptr<TestClient> Connect() {
    auto connected = std::make_unique<TestClient>(*core);
    HelloRequest hello;
    hello.min_revision = hello.max_revision = 1;
    EXPECT_TRUE(connected->Open(hello).ok());
    const GridSize grid = connected->session().welcome().devices->front().card.grid;
    AllocateRequest flag = Allocate(kFlag, kPage * grid.x, kPage);
    flag.place = BufferPlace::kL1Interleaved;
    connected->OpenQueue(TransferQueue(1));
    connected->OpenQueue(ComputeQueue(2, {{0, 0, grid.x / 2 - 1, grid.y - 1}}));
    connected->OpenQueue(ComputeQueue(3, {{grid.x / 2, 0, grid.x - 1, grid.y - 1}}));
    connected->Send(Allocate(kData, 64 << 10, kPage), flag, InlineKernel(kBump, Elf("bump_brisc")),
                    InlineKernel(kMeet, Elf("meet_brisc")), OneKernelProgram(kBumps, kBump),
                    OneKernelProgram(kMeets, kMeet, {0, 0, 0, 0}),
                    OneKernelProgram(kMeetsToo, kMeet, {grid.x - 1, 0, grid.x - 1, 0}));
    connected->Run();
    EXPECT_THAT(connected->errors, IsEmpty());
    return connected;
  }

  // Ends when its flag, the first word of its own page, is raised; raises that of a tile first.
  static LaunchRequest Meet(uint64_t program, bool raises = false, uint32_t x = 0, uint32_t y = 0) {
    LaunchRequest launch = Launch(program);
    launch.arguments.push_back({0, {0, x, y, raises ? 1u : 0u}, {}, 0, {{0, kFlag, 0}}});
    return launch;
  }
  std::string FirstError(const TestClient& of) {
    return of.errors.empty() ? "" : of.errors[0].error.message;
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Daemon> core;
  std::unique_ptr<TestClient> client, other;
};

// The kernel ends only if the transfers behind it in time, on another queue, do not wait for it.
TEST_F(DaemonQueues, AnUploadOverlapsAKernel) {
  const std::string bytes = Pattern(32 << 10);
  client->Send(Meet(kMeets));
  client->SendOn(1, {}, InlineWrite(kData, 0, bytes), Read(kData, 0, bytes.size()),
                 InlineWrite(kFlag, 0, Words(1)));
  client->Run();
  EXPECT_EQ(FirstError(*client), "");
  EXPECT_EQ(client->Progress(0), 8u);
  EXPECT_EQ(client->Data(2, 1), bytes);
}

TEST_F(DaemonQueues, AnotherSessionsUploadOverlapsAKernel) {
  other = Connect();
  client->Send(Meet(kMeets));
  const std::string bytes = Pattern(32 << 10);
  other->SendOn(1, {}, InlineWrite(kData, 0, bytes), Read(kData, 0, bytes.size()));
  client->SendOn(1, {}, InlineWrite(kFlag, 0, Words(1)));
  client->Run();
  other->Take();
  EXPECT_EQ(FirstError(*client), "");
  EXPECT_EQ(other->Data(2, 1), bytes);
}

TEST_F(DaemonQueues, KernelsWaitForUploadsAndDownloadsForKernelsOnTheCard) {
  uint64_t uploads = 0;
  for (uint32_t round = 0; round < 40; ++round) {
    const uint64_t write = client->SendOn(1, {{0, 7 + round}}, InlineWrite(kData, 0, Words(round)));
    const uint64_t launch = client->SendOn(0, {{1, write}}, BumpBy(100, round * 50));
    uploads = client->SendOn(1, {{0, launch}}, Read(kData, 0, 16));
  }
  client->Run();
  EXPECT_EQ(FirstError(*client), "");
  EXPECT_EQ(client->Progress(1), uploads);
  for (uint32_t round = 0; round < 40; ++round) {
    EXPECT_EQ(FirstWord(client->Data(2 * (round + 1), 1)), round + 100) << "round " << round;
  }
}

// Each raises the other's flag and waits for its own.
TEST_F(DaemonQueues, TwoSubDevicesRunAtOnce) {
  const GridSize grid = client->session().welcome().devices->front().card.grid;
  client->SendOn(2, {}, Meet(kMeets, true, grid.x - 1, 0));
  client->SendOn(3, {}, Meet(kMeetsToo, true, 0, 0));
  client->Run();
  EXPECT_EQ(FirstError(*client), "");
  EXPECT_EQ(client->Progress(2), 1u);
  EXPECT_EQ(client->Progress(3), 1u);
}

TEST_F(DaemonQueues, AKernelOnItsOwnWorkersHoldsUpNothingThatNeedsOthers) {
  other = Connect();
  const uint32_t last = client->session().welcome().devices->front().card.grid.x - 1;
  const std::string bytes = Pattern(8 << 10);
  client->SendOn(2, {}, InlineWrite(kData, 0, Words(0)), BumpBy(7, 4'000'000));
  core->RunOnce();
  uint64_t theirs = 0;
  for (int i = 0; i < 3; ++i) {
    theirs = other->SendOn(3, {}, InlineWrite(kData, 0, bytes), Meet(kMeetsToo, true, last, 0),
                           Read(kData, 0, bytes.size())) +
             2;
  }
  for (int i = 0; i < 10'000 && other->Progress(3) < theirs; ++i) {
    core->RunOnce();
    other->Take();
    client->Take();
  }
  EXPECT_EQ(other->Progress(3), theirs);
  EXPECT_EQ(other->Data(theirs, 3), bytes);
  EXPECT_LT(client->Progress(2), 2u) << "the kernel has not ended";
  const uint64_t read = client->SendOn(2, {}, Read(kData, 0, 16));
  client->Run();
  EXPECT_EQ(FirstError(*client), "");
  EXPECT_EQ(FirstError(*other), "");
  EXPECT_EQ(FirstWord(client->Data(read, 2)), 7u);
}

TEST_F(DaemonQueues, ATraceIsReplayedPatchedAndReleased) {
  const uint64_t before = core->admin().GetStatus().devices[0].memory[0].used_bytes;
  client->Send(RecordTraceRequest{kTrace, {BumpBy(1), BumpBy(10)}, true},
               RecordTraceRequest{kTrace, {BumpBy(100)}, false}, InlineWrite(kData, 0, Words(0)));
  for (int i = 0; i < 5; ++i) client->Send(ReplayTraceRequest{kTrace, {}});
  const uint64_t plain = client->Send(Read(kData, 0, 16));
  client->Send(ReplayTraceRequest{kTrace, {{1, BumpWords(20)}}}, ReplayTraceRequest{kTrace, {}});
  const uint64_t patched = client->Send(Read(kData, 0, 16), FreeRequest{{kTrace}});
  client->Run();
  EXPECT_EQ(FirstError(*client), "");
  EXPECT_EQ(FirstWord(client->Data(plain)), 555u);
  EXPECT_EQ(FirstWord(client->Data(patched)), 555u + 2 * 121);
  EXPECT_EQ(core->admin().GetStatus().devices[0].stats.launches, 21u);
  EXPECT_EQ(core->admin().GetStatus().devices[0].memory[0].used_bytes, before)
      << "the trace's memory is free";
  const uint64_t late = client->Send(ReplayTraceRequest{kTrace, {}});
  client->Run();
  EXPECT_EQ(client->ErrorOf(late).reason, "UNKNOWN_HANDLE");
}

TEST_F(DaemonQueues, ReplaysRunBesideOrdinaryWorkOfBothSessions) {
  other = Connect();
  client->Send(RecordTraceRequest{kTrace, {BumpBy(1), BumpBy(2)}, false},
               InlineWrite(kData, 0, Words(0)));
  other->Send(InlineWrite(kData, 0, Words(0)));
  const std::string bytes = Pattern(16 << 10);
  for (int i = 0; i < 30; ++i) {
    client->Send(ReplayTraceRequest{kTrace, {}});
    client->SendOn(1, {}, InlineWrite(kData, 16 << 10, bytes), Read(kData, 16 << 10, bytes.size()));
    other->Send(BumpBy(5));
  }
  const uint64_t mine = client->Send(Read(kData, 0, 16));
  const uint64_t theirs = other->Send(Read(kData, 0, 16));
  while (core->RunOnce() || client->Take() || other->Take()) continue;
  EXPECT_EQ(FirstError(*client), "");
  EXPECT_EQ(FirstError(*other), "");
  EXPECT_EQ(FirstWord(client->Data(mine)), 90u);
  EXPECT_EQ(FirstWord(other->Data(theirs)), 150u);
  EXPECT_EQ(client->Data(60, 1), bytes);
}

TEST_F(DaemonQueues, ATraceOfASubDeviceRunsBesideAnotherKernel) {
  client->SendOn(2, {}, RecordTraceRequest{kTrace, {BumpBy(3)}, false},
                 InlineWrite(kData, 0, Words(0)));
  client->Run();
  // The kernel on the right waits for a flag that is raised behind the replays on the left.
  client->SendOn(3, {}, Meet(kMeetsToo));
  client->SendOn(2, {}, ReplayTraceRequest{kTrace, {}}, ReplayTraceRequest{kTrace, {}});
  const GridSize grid = client->session().welcome().devices->front().card.grid;
  client->SendOn(1, {}, InlineWrite(kFlag, uint64_t{grid.x - 1} * kPage, Words(1)));
  client->Run();
  const uint64_t read = client->SendOn(2, {}, Read(kData, 0, 16));
  client->Run();
  EXPECT_EQ(FirstError(*client), "");
  EXPECT_EQ(FirstWord(client->Data(read, 2)), 6u);
}

TEST_F(DaemonQueues, ATraceOutlivesAReset) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE(kResetsEndSessions);
  client->Send(RecordTraceRequest{kTrace, {BumpBy(1), BumpBy(10)}, false},
               InlineWrite(kData, 0, Words(0)), ReplayTraceRequest{kTrace, {{0, BumpWords(2)}}});
  client->Run();
  bool reset = false;
  ASSERT_TRUE(
      core->admin().ResetDevice(0, [&reset](const Status& status) { reset = status.ok(); }).ok());
  client->Run();
  ASSERT_TRUE(reset);
  const uint64_t read = client->Send(ReplayTraceRequest{kTrace, {}}, Read(kData, 0, 16)) + 1;
  client->Run();
  EXPECT_EQ(FirstError(*client), "");
  EXPECT_EQ(FirstWord(client->Data(read)), 24u) << "with the patch it had";
}

class DaemonQueuesFull : public DaemonQueues {
  DaemonOptions Options() const override {
    DaemonOptions options;
    options.card.window = std::chrono::seconds(1);
    return options;
  }
};

// Both replays are on the card behind another's launch, which hangs.
TEST_F(DaemonQueuesFull, AReplayThatRunsAgainDoesNotSeeThePatchesOfALaterOne) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE(kResetsEndSessions);
  other = Connect();
  client->Send(RecordTraceRequest{kTrace, {BumpBy(1), BumpBy(100)}, false},
               InlineWrite(kData, 0, Words(0)), ReplayTraceRequest{kTrace, {{1, BumpWords(200)}}},
               InlineWrite(kData, 0, Words(0)));
  client->Run();
  const uint64_t hung = other->Send(Meet(kMeets));
  client->Send(ReplayTraceRequest{kTrace, {}});
  const uint64_t first = client->Send(Read(kData, 0, 16));
  client->Send(ReplayTraceRequest{kTrace, {{0, BumpWords(20)}, {1, BumpWords(300)}}},
               ReplayTraceRequest{kTrace, {{0, BumpWords(30)}, {0, BumpWords(40)}}});
  const uint64_t second = client->Send(ReplayTraceRequest{kTrace, {}}, Read(kData, 0, 16)) + 1;
  while (core->RunOnce() || client->Take() || other->Take()) continue;
  EXPECT_EQ(other->ErrorOf(hung).reason, "HANG");
  EXPECT_EQ(core->admin().GetStatus().devices[0].stats.resets, 1u);
  EXPECT_EQ(FirstError(*client), "");
  EXPECT_EQ(FirstWord(client->Data(first)), 201u) << "what it had been patched with before";
  EXPECT_EQ(FirstWord(client->Data(second)), 201u + 320 + 2 * 340);
}

TEST_F(DaemonQueues, AReplayThatHangsCostsItsClientOnly) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE(kResetsEndSessions);
  other = Connect();
  client->Send(RecordTraceRequest{kTrace, {Meet(kMeets)}, false}, ReplayTraceRequest{kTrace, {}});
  other->SendOn(1, {}, InlineWrite(kData, 0, Pattern(64)));
  while (core->RunOnce() || client->Take() || other->Take()) continue;
  EXPECT_EQ(client->ErrorOf(9).reason, "HANG");
  const uint64_t read = other->Send(InlineWrite(kData, 0, Pattern(64, 2)), Read(kData, 0, 64)) + 1;
  other->Run();
  EXPECT_EQ(other->Data(read), Pattern(64, 2));
}

}  // namespace
}  // namespace ttfd
