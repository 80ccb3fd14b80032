// Idle costs nothing: every wait of every firmware and of the SDK parks on the model, at -O2 and -Os.
//
// Each case drives one hart into one wait. The bench's Run() returns only when no hart is runnable, so
// a wait that cannot be parked fails as "does not come to rest". Waits for the NoC itself cannot be
// entered here, because the model completes every packet at once; they go through the same function.
#include "runtime/hw/stream.h"
#include "tests/support/firmware_launch.h"
#include "tests/support/firmware_test.h"

namespace ttfd::testing::firmware_park_test {
namespace {

enum class Who { kPrefetch, kDispatch, kDispatchS, kWorkerBrisc, kWorkerNcrisc, kWorkerTrisc1 };

struct Case {
  const char* name;
  Who who;
  uint32_t waypoint;
  void (*drive)(FirmwareBench& bench, BenchLauncher& launcher, bool small_code);
};

void PrintTo(const Case& row, std::ostream* out) { *out << row.name; }

void Send(FirmwareBench& bench, const EntryBuilder& entry) {
  const Status status = bench.Send(entry);
  ASSERT_TRUE(status.ok()) << status.ToString();
}

// As a trace.
void SendBuffer(FirmwareBench& bench, EntryBuilder buffer) {
  buffer.ExecBufEnd();
  const auto pages = static_cast<uint32_t>((buffer.bytes().size() + 1023) / 1024);
  bench.SetDramPages(0x10000, 1024, 0, buffer.bytes());
  const Status status = bench.Send(EntryBuilder().ExecBuf(0x10000, 10, pages), true);
  ASSERT_TRUE(status.ok()) << status.ToString();
}

void Launch(FirmwareBench& bench, BenchLauncher& launcher, const BenchProgram& program) {
  launcher.Load(program);
  EntryBuilder entry;
  launcher.Append(entry);
  Send(bench, entry);
}

const std::vector<abi::CircularBufferConfig> kBuffers = {
    {abi::kCircularBufferAddress, 2, 128, 0}, {abi::kCircularBufferAddress + 1024, 2, 128, 0}};

// First page and number of pages; the compute kernel has only the number.
std::vector<uint32_t> TenPages(uint32_t) { return {0, 10}; }
std::vector<uint32_t> Ten(uint32_t) { return {10}; }

const Case kCases[] = {
    {"PrefetchForASlot", Who::kPrefetch, abi::kWaypointFetch,
     [](FirmwareBench&, BenchLauncher&, bool) {}},
    {"PrefetchInStall", Who::kPrefetch, abi::kWaypointStall,
     [](FirmwareBench& bench, BenchLauncher&, bool) {
       Send(bench, EntryBuilder().Bare(abi::PrefetchId::kStall));
     }},
    {"PrefetchForPages", Who::kPrefetch, abi::kWaypointCredit,
     [](FirmwareBench& bench, BenchLauncher&, bool) {
       EntryBuilder entry;
       for (uint32_t i = 0; i <= bench.block().dispatch_ring_pages; ++i) {
         entry.Dispatch(WaitCommand(abi::kWaitStream, abi::kFirstWorkerStream, 0, 1));
       }
       Send(bench, entry);
     }},
    {"PrefetchForPagesInAStream", Who::kPrefetch, abi::kWaypointCredit,
     [](FirmwareBench& bench, BenchLauncher&, bool) {
       const uint64_t bytes = 4096 * (bench.block().dispatch_ring_pages + 2);
       Send(bench, EntryBuilder()
                       .Dispatch(WaitCommand(abi::kWaitStream, abi::kFirstWorkerStream, 0, 1))
                       .Noflush(WriteLinearCommand(hw::NocXy(1, 2), abi::kBufferAddress, bytes))
                       .RelayLinear(hw::NocXy(1, 3), abi::kBufferAddress, bytes));
     }},
    {"PrefetchForPagesInABuffer", Who::kPrefetch, abi::kWaypointCredit,
     [](FirmwareBench& bench, BenchLauncher&, bool) {
       EntryBuilder buffer;
       buffer.Dispatch(WaitCommand(abi::kWaitStream, abi::kFirstWorkerStream, 0, 1));
       for (uint32_t i = 0; i < 12; ++i) {  // payloads go on in the next block of the command ring
         buffer.Dispatch(WriteLinearCommand(hw::NocXy(1, 2), abi::kBufferAddress, 7000)
                             .Append(Pattern(7000, i)));
       }
       SendBuffer(bench, buffer);
     }},
    {"PrefetchInStallInABuffer", Who::kPrefetch, abi::kWaypointStall,
     [](FirmwareBench& bench, BenchLauncher&, bool) {
       SendBuffer(bench, EntryBuilder().Bare(abi::PrefetchId::kStall));
     }},
    {"PrefetchForPagesOfTheRingbuffer", Who::kPrefetch, abi::kWaypointCredit,
     [](FirmwareBench& bench, BenchLauncher&, bool) {
       const std::vector<abi::RelayRingbufferTarget> pieces(8, {0, bench.block().ringbuffer_bytes});
       const uint64_t bytes = 8 * uint64_t{bench.block().ringbuffer_bytes};
       Send(bench, EntryBuilder()
                       .Dispatch(WaitCommand(abi::kWaitStream, abi::kFirstWorkerStream, 0, 1))
                       .Noflush(WriteLinearCommand(hw::NocXy(1, 2), abi::kBufferAddress, bytes))
                       .RelayRingbuffer(pieces));
     }},
    {"PrefetchForDispatchSPages", Who::kPrefetch, abi::kWaypointCreditS,
     [](FirmwareBench& bench, BenchLauncher&, bool) {
       EntryBuilder entry;
       for (uint32_t i = 0; i <= bench.block().dispatch_s_ring_pages; ++i) {
         entry.DispatchS(SendGoCommand(0, abi::kNoMulticastGo, abi::kFirstWorkerStream, 0));
       }
       Send(bench, entry);
     }},
    {"DispatchForPages", Who::kDispatch, abi::kWaypointIdle,
     [](FirmwareBench&, BenchLauncher&, bool) {}},
    {"DispatchForTheRestOfACommand", Who::kDispatch, abi::kWaypointIdle,
     [](FirmwareBench& bench, BenchLauncher&, bool) {
       Send(bench, EntryBuilder().Dispatch(
                       WriteLinearCommand(hw::NocXy(1, 2), abi::kBufferAddress, 1 << 20)));
     }},
    {"DispatchForCompletionPages", Who::kDispatch, abi::kWaypointCompletion,
     [](FirmwareBench& bench, BenchLauncher&, bool) {
       EntryBuilder entry;
       for (uint32_t i = 0; i <= bench.block().completion_ring_pages; ++i) {
         entry.Dispatch(EventCommand(i));
       }
       Send(bench, entry);
     }},
    {"DispatchForAStream", Who::kDispatch, abi::kWaypointWait,
     [](FirmwareBench& bench, BenchLauncher&, bool) {
       Send(bench, EntryBuilder().Dispatch(WaitCommand(abi::kWaitStream, 63, 0, 1)));
     }},
    {"DispatchForMemory", Who::kDispatch, abi::kWaypointWait,
     [](FirmwareBench& bench, BenchLauncher&, bool) {
       Send(bench, EntryBuilder().Dispatch(
                       WaitCommand(abi::kWaitMemory, 0, abi::kControlBlockAddress + 0x70, 1)));
     }},
    {"DispatchForAllThatAWaitNames", Who::kDispatch, abi::kWaypointWait,
     [](FirmwareBench& bench, BenchLauncher&, bool) {
       Send(bench, EntryBuilder().Dispatch(
                       WaitCommand(abi::kWaitBarrier | abi::kWaitMemory | abi::kWaitStream |
                                       abi::kWaitClearStream | abi::kWaitNotifyPrefetch,
                                   63, abi::kControlBlockAddress + 0x70, 1)));
     }},
    {"DispatchSForPages", Who::kDispatchS, abi::kWaypointIdle,
     [](FirmwareBench&, BenchLauncher&, bool) {}},
    {"DispatchSForNotify", Who::kDispatchS, abi::kWaypointNotify,
     [](FirmwareBench& bench, BenchLauncher&, bool) {
       Send(bench, EntryBuilder().DispatchS(
                       SendGoCommand(0, abi::kNoMulticastGo, abi::kFirstWorkerStream, 0)));
     }},
    {"DispatchSForWorkers", Who::kDispatchS, abi::kWaypointWorkers,
     [](FirmwareBench& bench, BenchLauncher&, bool) {
       Send(bench,
            EntryBuilder()
                .Dispatch(NotifyCommand(1))
                .DispatchS(SendGoCommand(0, abi::kNoMulticastGo, abi::kFirstWorkerStream, 1)));
     }},
    {"WorkerForGo", Who::kWorkerBrisc, abi::kWaypointGo,
     [](FirmwareBench&, BenchLauncher&, bool) {}},
    {"WorkerForGoAfterALaunch", Who::kWorkerBrisc, abi::kWaypointGo,
     [](FirmwareBench& bench, BenchLauncher& launcher, bool) {
       Launch(bench, launcher, {.kernels = {{.name = "empty"}}});
     }},
    {"SubordinateForGo", Who::kWorkerNcrisc, abi::kWaypointGo,
     [](FirmwareBench&, BenchLauncher&, bool) {}},
    {"WorkerForItsSubordinates", Who::kWorkerBrisc, abi::kWaypointSubordinates,
     [](FirmwareBench& bench, BenchLauncher& launcher, bool small_code) {
       Launch(bench, launcher,
              {.kernels = {{small_code ? "pipeline_compute_small" : "pipeline_compute",
                            hw::kTrisc1,
                            {},
                            Ten}},
               .circular_buffers = kBuffers});
     }},
    {"KernelForPagesWithData", Who::kWorkerBrisc, abi::kWaypointCircularBuffer,
     [](FirmwareBench& bench, BenchLauncher& launcher, bool small_code) {
       Launch(bench, launcher,
              {.kernels = {{small_code ? "pipeline_consumer_small" : "pipeline_consumer",
                            hw::kBrisc,
                            {0},
                            TenPages}},
               .circular_buffers = kBuffers});
     }},
    {"KernelForFreePages", Who::kWorkerNcrisc, abi::kWaypointCircularBuffer,
     [](FirmwareBench& bench, BenchLauncher& launcher, bool small_code) {
       Launch(bench, launcher,
              {.kernels = {{small_code ? "pipeline_producer_small" : "pipeline_producer",
                            hw::kNcrisc,
                            {0},
                            TenPages}},
               .circular_buffers = kBuffers});
     }},
    {"KernelOnTriscForPages", Who::kWorkerTrisc1, abi::kWaypointCircularBuffer,
     [](FirmwareBench& bench, BenchLauncher& launcher, bool small_code) {
       Launch(bench, launcher,
              {.kernels = {{small_code ? "pipeline_compute_small" : "pipeline_compute",
                            hw::kTrisc1,
                            {},
                            Ten}},
               .circular_buffers = kBuffers});
     }},
    {"KernelForASemaphore", Who::kWorkerBrisc, abi::kWaypointSemaphore,
     [](FirmwareBench& bench, BenchLauncher& launcher, bool small_code) {
       Launch(bench, launcher,
              {.kernels = {{.name = small_code ? "wait_forever_small" : "wait_forever"}},
               .semaphores = {0}});
     }},
    {"PrefetchStopped", Who::kPrefetch, abi::kWaypointDone,
     [](FirmwareBench& bench, BenchLauncher&, bool) {
       Send(bench, EntryBuilder().Bare(abi::PrefetchId::kTerminate));
     }},
    {"DispatchStopped", Who::kDispatch, abi::kWaypointDone,
     [](FirmwareBench& bench, BenchLauncher&, bool) {
       Send(bench, EntryBuilder().Dispatch(BareDispatchCommand(abi::DispatchId::kTerminate)));
     }},
    {"DispatchSStopped", Who::kDispatchS, abi::kWaypointDone,
     [](FirmwareBench& bench, BenchLauncher&, bool) {
       Send(bench, EntryBuilder().DispatchS(BareDispatchCommand(abi::DispatchId::kTerminate)));
     }},
    {"PrefetchFaulted", Who::kPrefetch, abi::kWaypointRun,
     [](FirmwareBench& bench, BenchLauncher&, bool) {
       Send(bench, EntryBuilder().Bare(abi::PrefetchId::kIllegal));
     }},
};

class Park : public FirmwareTest, public ::testing::WithParamInterface<std::tuple<Case, bool>> {
 protected:
  abi::HartStatus StatusOf(Who who) {
    switch (who) {
      case Who::kPrefetch:
        return PrefetchStatus();
      case Who::kDispatch:
        return DispatchStatus();
      case Who::kDispatchS:
        return DispatchSStatus();
      case Who::kWorkerBrisc:
        return bench_->status(bench_->WorkerTile(0), hw::kBrisc);
      case Who::kWorkerNcrisc:
        return bench_->status(bench_->WorkerTile(0), hw::kNcrisc);
      case Who::kWorkerTrisc1:
        return bench_->status(bench_->WorkerTile(0), hw::kTrisc1);
    }
    return {};
  }
};

TEST_P(Park, TheDeviceComesToRestInThisWait) {
  const auto& [wait, small_code] = GetParam();
  BenchOptions options;
  options.images = small_code ? FirmwareImagesSmall() : FirmwareImages();
  Start(options);
  BenchLauncher launcher(*bench_);
  wait.drive(*bench_, launcher, small_code);
  ASSERT_OK(bench_->Run());
  EXPECT_EQ(StatusOf(wait.who).waypoint, wait.waypoint);
  // And it stays there.
  const auto still = bench_->device().Advance(1000);
  ASSERT_OK(still.status());
  EXPECT_EQ(still->quiescent, bench_->device().info().reports_quiescence);
  EXPECT_EQ(StatusOf(wait.who).waypoint, wait.waypoint);
}

INSTANTIATE_TEST_SUITE_P(Firmware, Park,
                         ::testing::Combine(::testing::ValuesIn(kCases), ::testing::Bool()),
                         [](const auto& chosen) {
                           return std::string(std::get<0>(chosen.param).name) +
                                  (std::get<1>(chosen.param) ? "_Os" : "_O2");
                         });

TEST_F(Park, AKernelThatSpinsIsNotMistakenForAWait) {
  Start({});
  BenchLauncher launcher(*bench_);
  Launch(*bench_, launcher, {.kernels = {{.name = "spin", .common = {abi::kBufferAddress}}}});
  for (int i = 0; i < 3; ++i) {
    const auto result = bench_->device().Advance(10'000);
    ASSERT_OK(result.status());
    EXPECT_FALSE(result->quiescent);
  }
}

}  // namespace
}  // namespace ttfd::testing::firmware_park_test
