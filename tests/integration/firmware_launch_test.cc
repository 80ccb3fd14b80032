// Kernels on workers: from the launch message to the answer.
#include "tests/support/firmware_launch.h"

#include <fmt/format.h>

#include "runtime/abi/engine_balance.h"
#include "runtime/abi/resource_use.h"
#include "runtime/hw/stream.h"
#include "runtime/hw/tensix_isa.h"
#include "tests/support/firmware_test.h"

namespace ttfd::testing::firmware_launch_test {
namespace {

constexpr uint32_t kReport = abi::kBufferAddress;

class Launch : public FirmwareVariantTest {
 protected:
  void SetUp() override {
    FirmwareVariantTest::SetUp();
    if (!HasFatalFailure()) launcher_ = std::make_unique<BenchLauncher>(*bench_);
  }
  void TearDown() override {
    if (broken_) return;
    if (!HasFatalFailure()) {
      EXPECT_EQ(WorkersDone(), launcher_->completed() & hw::kStreamCounterMask);
    }
    FirmwareVariantTest::TearDown();
  }
  uint32_t WorkersDone() {
    return bench_->Word(FirmwareBench::kDispatchTile,
                        hw::StreamRegister(abi::kFirstWorkerStream, hw::kStreamSpaceAvailable));
  }
  std::unique_ptr<BenchLauncher> launcher_;
  bool broken_ = false;  // the device stopped: nothing comes to rest
};

TEST_P(Launch, EveryHartRunsItsKernelWithItsArguments) {
  BenchProgram program;
  const char* const names[] = {"echo_brisc", "echo_ncrisc", "echo_trisc0", "echo_trisc1",
                               "echo_trisc2"};
  for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
    program.kernels.push_back(
        {names[hart], static_cast<hw::Hart>(hart), {kReport, 100 + hart}, [hart](uint32_t worker) {
           return std::vector<uint32_t>{200 + hart, 300 + worker};
         }});
  }
  ASSERT_OK(launcher_->Run(program));
  for (uint32_t worker = 0; worker < bench_->worker_count(); ++worker) {
    for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
      const hw::Coordinate at = bench_->WorkerTile(worker);
      const auto word = [&](uint32_t i) { return bench_->Word(at, kReport + 64 * hart + 4 * i); };
      EXPECT_EQ(word(0), 0xEC40u);
      EXPECT_EQ(word(1), hart);
      EXPECT_EQ(word(2), worker % 2);
      EXPECT_EQ(word(3), worker / 2);
      EXPECT_EQ(word(4), 100 + hart);
      EXPECT_EQ(word(5), 200 + hart);
      EXPECT_EQ(word(6), 300 + worker);
      EXPECT_NE(word(7), 0u);
      const abi::HartStatus status = bench_->status(at, hart);
      EXPECT_EQ(status.progress, 1u);
      EXPECT_EQ(status.waypoint, abi::kWaypointGo);
    }
  }
}

TEST_P(Launch, TheGoWordAndTheEnablesAreClearedAfterARun) {
  ASSERT_OK(launcher_->Run({.kernels = {{.name = "empty"}}}));
  const hw::Coordinate at = bench_->WorkerTile(0);
  EXPECT_EQ(bench_->Word(at, abi::kGoAreaAddress), 0u);
  EXPECT_EQ(bench_->Word(at, abi::kLaunchRingAddress + offsetof(abi::LaunchMessage, enables)), 0u);
}

TEST_P(Launch, AGoWithoutANewMessageIsAnsweredAtOnce) {
  ASSERT_OK(launcher_->Run({.kernels = {{.name = "echo_brisc", .common = {kReport, 0}}}}));
  const hw::Coordinate at = bench_->WorkerTile(0);
  bench_->SetWord(at, kReport, 0);
  const uint32_t done = WorkersDone();
  const uint32_t slot_zero =
      abi::GoWord(0, FirmwareBench::kDispatchTile.x, FirmwareBench::kDispatchTile.y, 0);
  ASSERT_OK(bench_->SendAndRun(
      EntryBuilder()
          .Dispatch(NotifyCommand(1))
          .DispatchS(SendGoCommand(slot_zero, 0, abi::kFirstWorkerStream, done))));
  EXPECT_EQ(WorkersDone(), done + bench_->worker_count());
  EXPECT_EQ(bench_->Word(at, kReport), 0u) << "nothing ran";
  bench_->SetWord(FirmwareBench::kDispatchTile,
                  hw::StreamRegister(abi::kFirstWorkerStream, hw::kStreamSpaceAvailableUpdate),
                  (-bench_->worker_count() & hw::kStreamCounterMask) << hw::kStreamUpdateShift);
  ASSERT_OK(bench_->Run());
}

TEST_P(Launch, DataIsRestoredAndBssZeroBeforeEveryRun) {
  const BenchProgram program = {.kernels = {{.name = "data_restore", .common = {kReport}}}};
  launcher_->Load(program);
  for (uint32_t run = 1; run <= 3; ++run) {
    EntryBuilder entry;
    launcher_->Append(entry);
    ASSERT_OK(bench_->SendAndRun(entry));
    const hw::Coordinate at = bench_->WorkerTile(1);
    EXPECT_EQ(bench_->Word(at, kReport), 42u);
    EXPECT_EQ(bench_->Word(at, kReport + 4), 1u);
    EXPECT_EQ(bench_->Word(at, kReport + 8), run);
  }
}

TEST_P(Launch, ManyLaunchesGoRoundTheSlots) {
  launcher_->Load({.kernels = {{.name = "data_restore", .common = {kReport}}}});
  constexpr uint32_t kRuns = 50;
  for (uint32_t run = 0; run < kRuns; ++run) {
    // Seven messages may wait: the host of the real runtime waits for a stream count, here the entry
    // does.
    EntryBuilder entry;
    if (run >= 7) {
      entry.Dispatch(WaitCommand(abi::kWaitStream, abi::kFirstWorkerStream, 0,
                                 (run - 6) * bench_->worker_count()));
    }
    launcher_->Append(entry);
    ASSERT_OK(bench_->Send(entry));
  }
  ASSERT_OK(bench_->Run());
  EXPECT_EQ(bench_->Word(bench_->WorkerTile(3), kReport + 8), kRuns);
  EXPECT_EQ(bench_->status(bench_->WorkerTile(3), hw::kBrisc).progress, kRuns);
}

TEST_P(Launch, PagesPassThroughThreeHarts) {
  constexpr uint32_t kPage = 128, kPages = 12, kIn = 0x1000, kOut = 0x9000;
  const uint32_t banks = bench_->banks().dram_banks;
  const uint32_t workers = bench_->worker_count();
  const auto dram = [&](uint32_t page) {
    const uint32_t xy = bench_->banks().dram_xy[0][page % banks];
    return hw::Coordinate{hw::NocX(xy), hw::NocY(xy)};
  };
  std::vector<uint32_t> words(kPage / 4 * kPages * workers);
  for (uint32_t i = 0; i < words.size(); ++i) words[i] = i * 7919;
  for (uint32_t page = 0; page < kPages * workers; ++page) {
    bench_->SetBytes(
        dram(page), kIn + page / banks * kPage,
        ByteSpan(reinterpret_cast<const std::byte*>(words.data()) + page * kPage, kPage));
  }
  const auto range = [](uint32_t worker) { return std::vector<uint32_t>{worker * kPages, kPages}; };
  const auto count = [](uint32_t) { return std::vector<uint32_t>{kPages}; };
  BenchProgram program;
  program.kernels = {{"pipeline_producer", hw::kNcrisc, {kIn}, range},
                     {"pipeline_compute", hw::kTrisc1, {}, count},
                     {"pipeline_consumer", hw::kBrisc, {kOut}, range}};
  program.circular_buffers = {{abi::kCircularBufferAddress, 2, kPage, 0},
                              {abi::kCircularBufferAddress + 1024, 3, kPage, 0}};
  for (int run = 0; run < 2; ++run) {  // the second time on counters that are not zero
    ASSERT_OK(launcher_->Run(program));
    for (uint32_t page = 0; page < kPages * workers; ++page) {
      const auto bytes = bench_->Bytes(dram(page), kOut + page / banks * kPage, kPage);
      for (uint32_t i = 0; i < kPage / 4; ++i) {
        ASSERT_EQ(LoadAt<uint32_t>(bytes.data() + 4 * i), 3 * words[page * kPage / 4 + i] + 1);
      }
      bench_->SetBytes(dram(page), kOut + page / banks * kPage, std::vector<std::byte>(kPage));
    }
  }
}

TEST_P(Launch, FormatsOfCircularBuffers_ReachTheKernel) {
  BenchProgram program;
  program.kernels = {{.name = "formats", .common = {kReport, 3}}};
  for (const uint32_t format : {6u, 0u, 1u}) {
    program.circular_buffers.push_back({abi::kCircularBufferAddress, 1, 4096, format});
  }
  ASSERT_OK(launcher_->Run(program));
  const hw::Coordinate at = bench_->WorkerTile(1);
  EXPECT_EQ(bench_->Word(at, kReport), static_cast<uint32_t>(hw::tensix::Format::kFloat16B));
  EXPECT_EQ(bench_->Word(at, kReport + 4), 0xFFu) << "none";
  EXPECT_EQ(bench_->Word(at, kReport + 8), static_cast<uint32_t>(hw::tensix::Format::kFloat32));
}

TEST_P(Launch, ATokenGoesRoundByWritesAndIncrements) {
  constexpr uint32_t kRounds = 5;
  BenchProgram program;
  program.kernels = {{.name = "semaphore_ring", .common = {2, kRounds, kReport, kReport + 64}}};
  program.semaphores = {0};
  ASSERT_OK(launcher_->Run(program));
  EXPECT_EQ(bench_->Word(bench_->WorkerTile(0), kReport), 2 * kRounds);
  EXPECT_EQ(bench_->Word(bench_->WorkerTile(1), kReport), 2 * kRounds - 1);
  EXPECT_EQ(bench_->Word(bench_->WorkerTile(3), kReport), 2 * kRounds - 1);
}

TEST_P(Launch, UnicastGosReachOnlyTheListedTiles) {
  launcher_->Load({.kernels = {{.name = "echo_brisc", .common = {kReport, 0}}}});
  const uint32_t targets[] = {hw::NocXy(1, 2), hw::NocXy(2, 3), hw::NocXy(2, 2)};
  const abi::LaunchMessage message = launcher_->message();
  for (uint32_t worker = 0; worker < bench_->worker_count(); ++worker) {
    bench_->SetBytes(bench_->WorkerTile(worker), abi::kLaunchRingAddress, BytesOf(message));
  }
  ASSERT_OK(
      bench_->SendAndRun(EntryBuilder()
                             .DispatchS(SetGoTargetsCommand(targets))
                             .Dispatch(NotifyCommand(1))
                             .DispatchS(SendGoCommand(launcher_->NextGo(), abi::kNoMulticastGo,
                                                      abi::kFirstWorkerStream, 0, 2, 1))));
  EXPECT_EQ(bench_->Word({1, 2}, kReport), 0u);
  EXPECT_EQ(bench_->Word({2, 3}, kReport), 0xEC40u);
  EXPECT_EQ(bench_->Word({2, 2}, kReport), 0xEC40u);
  EXPECT_EQ(bench_->Word({1, 3}, kReport), 0u);
  EXPECT_EQ(WorkersDone(), 2u);
  ASSERT_OK(bench_->SendAndRun(EntryBuilder().DispatchS(SetNumWorkerSemsCommand(1))));
  EXPECT_EQ(WorkersDone(), 0u) << "the command clears the counters it hands out";
}

TEST_P(Launch, AnotherSubDeviceHasItsOwnGoWordAndStream) {
  launcher_->Load({.kernels = {{.name = "echo_brisc", .common = {kReport, 0}}}});
  const abi::LaunchMessage message = launcher_->message();
  const hw::Coordinate at = bench_->WorkerTile(2);
  bench_->SetBytes(at, abi::LaunchMessageAddress(3), BytesOf(message));
  bench_->SetWord(at, abi::kGoAreaAddress + offsetof(abi::GoArea, index), 2);
  const uint32_t go =
      abi::GoWord(2, FirmwareBench::kDispatchTile.x, FirmwareBench::kDispatchTile.y, 3);
  const uint32_t stream = abi::kFirstWorkerStream + 2;
  ASSERT_OK(bench_->SendAndRun(EntryBuilder()
                                   .DispatchS(SetNumWorkerSemsCommand(3))
                                   .Dispatch(NotifyCommand(4))
                                   .DispatchS(SendGoCommand(go, 2, stream, 0))));
  EXPECT_EQ(bench_->Word(at, kReport), 0xEC40u);
  EXPECT_EQ(bench_->Word(FirmwareBench::kDispatchTile,
                         hw::StreamRegister(stream, hw::kStreamSpaceAvailable)),
            1u);
  bench_->SetWord(at, abi::kGoAreaAddress + offsetof(abi::GoArea, index), 0);
  for (uint32_t worker = 0; worker < bench_->worker_count(); ++worker) {
    bench_->SetWord(bench_->WorkerTile(worker), abi::kGoAreaAddress + 8, 0);
  }
}

TEST_P(Launch, AKernelThatFaultsStopsTheDeviceWithItsPlace) {
  const Status status = launcher_->Run({.kernels = {{.name = "fault"}}});
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  broken_ = true;
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("a simulator library names no place");
  bool names_a_worker = false;  // whichever was first
  for (uint32_t worker = 0; worker < bench_->worker_count(); ++worker) {
    const hw::Coordinate at = bench_->WorkerTile(worker);
    names_a_worker |=
        status.ToString().find(fmt::format("tile ({},{})", at.x, at.y)) != std::string::npos;
  }
  EXPECT_TRUE(names_a_worker) << status.ToString();
}

TEST_P(Launch, AKernelThatWaitsForeverLeavesTheDeviceAtRestAndSaysWhere) {
  ASSERT_OK(
      launcher_->Run({.kernels = {{.name = "wait_forever"}}, .semaphores = {0}, .program_id = 77}));
  const abi::HartStatus status = bench_->status(bench_->WorkerTile(1), hw::kBrisc);
  EXPECT_EQ(status.waypoint, abi::kWaypointSemaphore);
  EXPECT_EQ(status.command, 77u);
  for (uint32_t worker = 0; worker < bench_->worker_count(); ++worker) {
    bench_->SetWord(bench_->WorkerTile(worker),
                    launcher_->message().config_address + launcher_->message().semaphore_offset, 1);
  }
  ASSERT_OK(bench_->Run());
}

TEST_P(Launch, AMessageThatNamesNoKernelIsAFault) {
  launcher_->Load({.kernels = {{.name = "empty"}}});
  abi::LaunchMessage message = launcher_->message();
  message.kernel_address[hw::kBrisc] = 0x40;
  const hw::Coordinate at = bench_->WorkerTile(0);
  bench_->SetBytes(at, abi::kLaunchRingAddress, BytesOf(message));
  bench_->SetWord(at, abi::kGoAreaAddress, launcher_->NextGo());
  ASSERT_OK(bench_->Run());
  const abi::HartStatus status = bench_->status(at, hw::kBrisc);
  EXPECT_EQ(status.state, abi::kHartFaulted);
  EXPECT_EQ(status.fault_code, abi::kFaultBadLaunch);
  EXPECT_EQ(status.fault_detail[1], 0x40u);
}

// Each tile uses another resource. Indices below the counts of the launch message are used, the first that is not
// stops the hart. Callable kernels are tried by client_callable_test.cc.
TEST_P(Launch, AnIndexThatIsNotGiven_IsAFault) {
  constexpr uint32_t kGiven = 2;                      // of each resource
  constexpr uint32_t kFirstMissing[] = {1, 2, 2, 2};  // circular buffer 1 is a gap
  ASSERT_EQ(bench_->worker_count(), abi::kCallable);
  const auto run = [&](const std::function<uint32_t(uint32_t resource)>& index) {
    return launcher_->Run({.kernels = {{.name = "not_given",
                                        .common = {0, 0},
                                        .per_core =
                                            [&](uint32_t worker) {
                                              return std::vector<uint32_t>{worker, index(worker)};
                                            }}},
                           .circular_buffers = {{abi::kCircularBufferAddress, 1, 16, 0}, {}},
                           .semaphores = {0, 0}});
  };
  ASSERT_OK(run([](uint32_t) { return 0; }));
  ASSERT_OK(run([&](uint32_t resource) { return kFirstMissing[resource] - 1; }));
  ASSERT_OK(run([&](uint32_t resource) { return kFirstMissing[resource]; }));
  broken_ = true;
  for (uint32_t resource = 0; resource < abi::kCallable; ++resource) {
    const abi::HartStatus status = bench_->status(bench_->WorkerTile(resource), hw::kBrisc);
    EXPECT_EQ(status.state, abi::kHartFaulted);
    EXPECT_EQ(status.fault_code, abi::kFaultNotGiven);
    EXPECT_EQ(status.fault_detail[0], kFirstMissing[resource]);
    EXPECT_EQ(status.fault_detail[1], resource << 16 | kGiven);
  }
  EXPECT_EQ(WorkersDone(), 2 * bench_->worker_count()) << "no tile answered";
}

// On every tile; tiles whose kernels leave nothing answer.
TEST_P(Launch, KernelsThatLeaveTheEngineInUse_AreAFault) {
  constexpr uint32_t kSrcA = 1, kSrcB = 2, kPost = 4, kGet = 8;
  const auto launch = [&](const char* kernel, uint32_t what) {
    return launcher_->Run({.kernels = {{.name = kernel, .hart = hw::kTrisc0, .common = {what}}}});
  };
  const auto status = [&](uint32_t hart) { return bench_->status(bench_->WorkerTile(1), hart); };
  for (const uint32_t nothing : {0u, kPost | kGet}) {
    ASSERT_OK(launch("leave_in_engine", nothing));
    EXPECT_EQ(status(hw::kBrisc).state, abi::kHartReady);
  }
  ASSERT_OK(launch("leave_in_engine_small", kSrcA | kSrcB | kPost));
  broken_ = true;
  EXPECT_EQ(status(hw::kTrisc0).state, abi::kHartReady);
  EXPECT_EQ(status(hw::kBrisc).state, abi::kHartFaulted);
  EXPECT_EQ(status(hw::kBrisc).fault_code, abi::kFaultEngineInUse);
  EXPECT_EQ(status(hw::kBrisc).fault_detail[0],
            abi::BalanceOfSources(0b11) + abi::BalanceOfSemaphore(7));
  EXPECT_EQ(status(hw::kBrisc).fault_detail[1],
            launcher_->message().kernel_address[hw::kTrisc0] / 16)
      << "TRISC1 ran none";
  EXPECT_EQ(WorkersDone(), 2 * bench_->worker_count()) << "no tile answered";
}

// New code without a kernel: the tile drops its caches and answers. What was known of the old image at the
// address is forgotten with it.
TEST_P(Launch, NewCodeMayBeAnnouncedByItself) {
  const auto progress = [&] { return bench_->status(bench_->WorkerTile(0), hw::kBrisc).progress; };
  ASSERT_OK(launcher_->Run({.kernels = {{.name = "empty"}}}));
  launcher_->CodeIsKnown();
  for (uint32_t i = 0; i < 10; ++i) ASSERT_OK(launcher_->RunLoaded());
  EXPECT_EQ(progress(), 11u);

  launcher_->Load({.kernels = {{.name = "echo_brisc", .common = {kReport, 7}}}, .program_id = 9});
  launcher_->SetEnables(abi::kLaunchNewCode);
  ASSERT_OK(launcher_->RunLoaded());
  EXPECT_EQ(progress(), 12u);
  EXPECT_EQ(bench_->Word(bench_->WorkerTile(0), kReport), 0u) << "no kernel was enabled";
  launcher_->SetEnables(1u << hw::kBrisc);
  ASSERT_OK(launcher_->RunLoaded());
  EXPECT_EQ(bench_->Word(bench_->WorkerTile(0), kReport), 0xEC40u);
  EXPECT_EQ(bench_->Word(bench_->WorkerTile(0), kReport + 16), 7u);
  // And again without preparation, with every slot of the launch ring.
  for (uint32_t i = 0; i < abi::kLaunchSlots; ++i) {
    bench_->SetWord(bench_->WorkerTile(0), kReport, 0);
    ASSERT_OK(launcher_->RunLoaded());
    EXPECT_EQ(bench_->Word(bench_->WorkerTile(0), kReport), 0xEC40u);
  }
  EXPECT_EQ(bench_->status(bench_->WorkerTile(0), hw::kBrisc).command, 9u);
}

TTFD_INSTANTIATE_VARIANTS(Launch);

}  // namespace
}  // namespace ttfd::testing::firmware_launch_test
