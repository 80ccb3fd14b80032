// Every stage at which the pipeline can stop is named, with what it waits for. The records are made by
// hand, since the runtime makes none that stop there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/abi/dispatch_commands.h"
#include "runtime/abi/l1_map.h"
#include "runtime/card/stall_diagnosis.h"
#include "tests/support/firmware_bench.h"
#include "tests/support/firmware_test.h"

namespace ttfd::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class DispatchStall : public ::testing::Test {
 protected:
  void SetUp() override {
    auto bench = FirmwareBench::Create(TinyRings());
    ASSERT_TRUE(bench.ok()) << bench.status().ToString();
    bench_ = *std::move(bench);
    const Status booted = bench_->Boot();
    ASSERT_TRUE(booted.ok()) << booted.ToString();
    plan_.block = bench_->block();
    plan_.worker_columns = {1, 2};
    plan_.prefetch_tile = FirmwareBench::kPrefetchTile;
    plan_.dispatch_tile = FirmwareBench::kDispatchTile;
  }

  StallReport DiagnoseAfter(const EntryBuilder& entry) {
    const Status ran = bench_->SendAndRun(entry);
    EXPECT_TRUE(ran.ok()) << ran.ToString();
    QueueState host;
    host.entries_announced = bench_->queue(0).entries_sent();
    host.awaits_completions = true;
    return Diagnose(host);
  }

  StallReport Diagnose(const QueueState& host) {
    return DiagnoseQueue(ReadCard(bench_->device(), std::span(&plan_, 1)), 0, host);
  }

  std::unique_ptr<FirmwareBench> bench_;
  BootPlan plan_;
};

TEST_F(DispatchStall, OfAPrefetcherThatNobodyNotifies) {
  // The dispatcher passed a WAIT that should have said NOTIFY_PREFETCH, and did not.
  EntryBuilder entry;
  entry.Dispatch(WaitCommand(abi::kWaitBarrier)).Bare(abi::PrefetchId::kStall);
  const StallReport report = DiagnoseAfter(entry);
  EXPECT_EQ(report.stage, StalledStage::kPrefetcher) << report.text;
  EXPECT_THAT(report.text,
              HasSubstr("stalled until the dispatcher has notified it 1 times; it has 0 "
                        "times"));
}

TEST_F(DispatchStall, OfADispatchSWithoutANotify) {
  EntryBuilder entry;
  entry.DispatchS(SendGoCommand(abi::GoWord(0, 16, 3, 0), 0, abi::kFirstWorkerStream, 0));
  const StallReport report = DiagnoseAfter(entry);
  EXPECT_EQ(report.stage, StalledStage::kDispatchS) << report.text;
  EXPECT_THAT(report.text, HasSubstr("waits for the dispatcher's NOTIFY"));
}

TEST_F(DispatchStall, OfADispatcherWhoseHostTakesNoCompletions) {
  EntryBuilder entry;
  for (uint32_t event = 1; event <= 3; ++event) entry.Dispatch(EventCommand(event));
  const StallReport report = DiagnoseAfter(entry);
  EXPECT_EQ(report.stage, StalledStage::kDispatcher) << report.text;
  EXPECT_THAT(report.text,
              HasSubstr("room in the completion queue: the host has given back 0 pages"));
}

TEST_F(DispatchStall, OfADispatcherThatWaitsForAnotherQueue) {
  const uint32_t word =
      static_cast<uint32_t>(abi::kControlBlockAddress + offsetof(abi::ControlBlock, last_event));
  EntryBuilder entry;
  entry.Dispatch(WaitCommand(abi::kWaitMemory, 0, word, 7));
  const StallReport report = DiagnoseAfter(entry);
  EXPECT_EQ(report.stage, StalledStage::kDispatcher) << report.text;
  EXPECT_TRUE(report.waits_for_queue);
  EXPECT_THAT(report.text, HasSubstr("an event of another hardware queue: number 7"));
}

TEST_F(DispatchStall, OfWorkersThatDoNotAnswer) {
  EntryBuilder entry;
  entry.Dispatch(WaitCommand(abi::kWaitStream, abi::kFirstWorkerStream, 0, 3));
  const StallReport report = DiagnoseAfter(entry);
  EXPECT_EQ(report.stage, StalledStage::kWorkers) << report.text;
  EXPECT_THAT(report.text, HasSubstr("dispatcher waits for stream 48 to count 3; it shows 0, so 3 "
                                     "workers are not done"));
}

TEST_F(DispatchStall, OfAHostWhoseEntryNeverArrived) {
  // Announced twice, taken once: a slot that was overwritten looks like this.
  EntryBuilder entry;
  entry.Dispatch(WaitCommand(abi::kWaitBarrier));
  ASSERT_TRUE(bench_->SendAndRun(entry).ok());
  QueueState host;
  host.entries_announced = 2;
  const StallReport report = Diagnose(host);
  EXPECT_EQ(report.stage, StalledStage::kHost) << report.text;
  EXPECT_THAT(report.text, HasSubstr("it took 1 of the 2 entries the host announced"));
}

TEST_F(DispatchStall, OfAFault) {
  EntryBuilder entry;
  entry.Dispatch(Payload(std::array<uint32_t, 4>{0x77, 0, 0, 0}));
  const StallReport report = DiagnoseAfter(entry);
  EXPECT_EQ(report.stage, StalledStage::kFault) << report.text;
  EXPECT_THAT(report.text,
              AllOf(HasSubstr("the dispatcher stopped on a fault"), HasSubstr("command 119")));
}

}  // namespace
}  // namespace ttfd::testing
